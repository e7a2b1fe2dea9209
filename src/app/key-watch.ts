/**
 * Replaces the working keys of a running service within a second of their change, long before the old ones are deleted. Where several
 * services share a database, writes that use outdated keys are refused.
 */
import type { Logger } from 'pino'
import type { Core } from '../admin/core.js'
import type { Config } from '../config/config.js'
import { loadMasterKey, readableKeyIds } from '../crypto/master-key.js'
import { findKeys } from '../keys/find-keys.js'
import { KEY_WATCH_MS } from '../keys/master-key-rotation.js'
import { PeriodicTask } from '../lib/periodic-task.js'
import type { KeyringRecord } from '../storage/records.js'
import { StoreCorruptError, StoreUnavailableError } from '../storage/store.js'

/** While failures repeat, the first and then each sixtieth is logged: one line a minute. */
const LOGGED_EVERY = 60

export class KeyWatch {
  private readonly beat = new PeriodicTask(
    KEY_WATCH_MS,
    () => this.takeOver(),
    (err) => {
      // A database that does not answer for a moment says nothing about the keys.
      const isAway = err instanceof StoreUnavailableError && !(err instanceof StoreCorruptError)
      if (!(err instanceof StoreUnavailableError)) this.isCurrent = false
      if (this.failures++ % LOGGED_EVERY === 0)
        this.log.error(
          { err, failures: this.failures },
          isAway
            ? 'the database does not answer; the keys are read again when it does'
            : 'the keys cannot be read; no call is answered until they can',
        )
    },
  )
  private seen: string | null = null
  /** Number of failures in a row. */
  private failures = 0
  private masterKey: Buffer
  /** Keys of features, which are taken over after the working keys that open them. */
  further: ReadonlyArray<() => Promise<void>> = []
  /** Whether the last look found the keys in use to be those of the database. */
  isCurrent = true

  constructor(
    private readonly core: Pick<Core, 'store' | 'keys' | 'masterKey'>,
    private readonly config: Config,
    private readonly log: Logger,
  ) {
    this.masterKey = core.masterKey
  }

  /** @throws ConfigError when the keys were changed since the core was opened, and the master key no longer opens them */
  async start(): Promise<void> {
    await this.takeOver()
    this.beat.start()
  }

  stop(): void {
    void this.beat.stop()
  }

  /** Compares the keys now. Never rejects. */
  look(): Promise<void> {
    return this.beat.now()
  }

  private async takeOver(): Promise<void> {
    const { store, keys } = this.core
    store.presence?.showMasterKeys(await readableKeyIds(this.config, this.masterKey))
    // Read the revision before the keys: a revision that is too old only delays writes until the next look, one that is too new would let outdated keys write.
    const revision = await store.shared?.keysRevision()
    const now = fingerprint(await store.read.keyrings())
    if (now !== this.seen) {
      const keyring = await this.load()
      // The epoch keys stay: they lie outside of the keyring.
      if (keyring) Object.assign(keys, keyring, { epochs: keys.epochs })
      if (this.seen !== null) this.log.info({ phase: keys.phase }, 'the working keys were changed')
      this.seen = now
    }
    for (const takeOver of this.further) await takeOver()
    if (revision !== undefined) store.shared!.requireKeys(revision, () => void this.look())
    this.isCurrent = true
    if (this.failures > 0) this.log.info({ failures: this.failures }, 'the keys can be read again')
    this.failures = 0
  }

  /** Reads the keys, with the master key that its file holds now if the present one does not open them. A key from elsewhere needs a restart. */
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
