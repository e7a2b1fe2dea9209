/**
 * Takes over new working keys while the service runs: within a second of their change, long before the old ones are forgotten. On a
 * database of several services, writes nothing by keys that are no longer the database's.
 */
import type { Logger } from 'pino'
import type { Config } from '../config/config.js'
import { loadMasterKey, readableKeyIds } from '../crypto/master-key.js'
import type { EpochFolder } from '../keys/epoch-folder.js'
import { KEY_WATCH_MS } from '../keys/master-key-rotation.js'
import { PeriodicTask } from '../lib/periodic-task.js'
import type { KeyringRecord } from '../storage/records.js'
import { StoreCorruptError, StoreUnavailableError } from '../storage/store.js'
import { type Core, epochFolder, findKeys, takeOverEpochs } from './core.js'

/** Consecutive failures for one line of the log: the first is logged and then each sixtieth. */
const LOGGED_EVERY = 60

export class KeyWatch {
  private readonly beat = new PeriodicTask(
    KEY_WATCH_MS,
    () => this.takeOver(),
    (err) => {
      // A database that is away for a moment says nothing of the keys.
      const isAway = err instanceof StoreUnavailableError && !(err instanceof StoreCorruptError)
      if (!(err instanceof StoreUnavailableError)) this.isCurrent = false
      // An outage is one line a minute, and not one a second.
      if (this.failures++ % LOGGED_EVERY === 0)
        this.log.error(
          { err, failures: this.failures },
          isAway
            ? 'the database does not answer, and the service looks at its keys again once it does'
            : 'the keys cannot be read, and no call is answered until they can',
        )
    },
  )
  private seen: string | null = null
  /** In a row. */
  private failures = 0
  private toldAwaited: string | null = null
  private masterKey: Buffer
  /** Of epoch keys: it knows those that are needed, and forgets the others. */
  readonly folder: EpochFolder | null
  /** Whether the keys are the database's, as far as the last look tells. */
  isCurrent = true

  constructor(
    private readonly core: Pick<Core, 'store' | 'keys' | 'masterKey'>,
    private readonly config: Config,
    private readonly log: Logger,
  ) {
    this.masterKey = core.masterKey
    this.folder = epochFolder(config)
  }

  /** @throws ConfigError when the keys were changed since the ledger was opened, and the master key opens them no longer */
  async start(): Promise<void> {
    await this.takeOver()
    this.beat.start()
  }

  stop(): void {
    void this.beat.stop()
  }

  /** Never rejects. */
  look(): Promise<void> {
    return this.beat.now()
  }

  private async takeOver(): Promise<void> {
    const { store, keys } = this.core
    store.presence?.showMasterKeys(await readableKeyIds(this.config, this.masterKey))
    // Asked first: keys that are newer than it are refused until the next look, and older ones never pass.
    const revision = await store.shared?.keysRevision()
    const now = fingerprint(await store.read.keyrings())
    if (now !== this.seen) {
      const keyring = await this.load()
      if (keyring) keys.replaceKeyring(keyring)
      if (this.seen !== null) this.log.info({ phase: keys.phase }, 'the working keys were changed')
      this.seen = now
    }
    const awaited = await takeOverEpochs(store, keys, this.folder)
    if (awaited !== null && awaited !== this.toldAwaited)
      this.log.warn({ reason: awaited }, 'the key of the next epoch cannot be read: it begins once it can')
    this.toldAwaited = awaited
    if (revision !== undefined) store.shared!.requireKeys(revision, () => void this.look())
    this.isCurrent = true
    if (this.failures > 0) this.log.info({ failures: this.failures }, 'the keys can be read again')
    this.failures = 0
  }

  /** The master key may have been replaced in its file; where it comes from outside, the service was restarted with the new one. */
  private async load() {
    try {
      return await findKeys(this.core.store.read, this.masterKey)
    } catch {
      const masterKey = loadMasterKey(this.config)
      const keys = await findKeys(this.core.store.read, masterKey)
      this.masterKey = masterKey
      return keys
    }
  }
}

function fingerprint(keyrings: KeyringRecord[]): string {
  return keyrings
    .map(({ masterKeyId, sealed, generation }) => `${masterKeyId}:${generation}:${sealed.toString('base64')}`)
    .join(' ')
}
