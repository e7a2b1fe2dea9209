/**
 * A new epoch: its key is made, read by every service, and wraps what is written from then on; then every data key is wrapped anew under
 * it, and the keys of the epochs before are destroyed, and with them the wrapped keys of erased users in whatever copy of the database.
 * Each step can be taken again after a crash, and by several at once.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from './clock.js'
import type { EpochFolder } from './crypto/epoch-folder.js'
import { dataKeyWrapping, wrappingOf } from './crypto/epoch-key.js'
import { isOpenedBy, openedBy, seal } from './crypto/sealed-box.js'
import type { ServiceKeys } from './crypto/service-keys.js'
import { epochKeyOf, missingKey } from './epochs.js'
import { CodedError } from './errors.js'
import {
  type EpochBook,
  type EpochProgress,
  type EpochRecord,
  isUnderWay,
  keylessId,
  type RewrappedRow,
} from './storage/epoch-book.js'
import type { SealedRow } from './storage/records.js'
import { type Store, StoreUnavailableError } from './storage/store.js'
import { writeWrappedKeys } from './wrapped-keys.js'

/** Read at once, and wrapped anew in one statement: a few milliseconds' work, for which calls wait that come meanwhile. */
const BATCH = 100
const POLL_MS = 250

/**
 * `nodes_behind`: some service does not see the folder, or is of a version without epochs. `overtaken`: another has ended this epoch, and
 * begun a later one.
 */
export class EpochError extends CodedError<'nodes_behind' | 'overtaken' | 'no_epochs'> {
  override readonly name = 'EpochError'
}

/** Of a rotation, in this order. */
export type EpochStep = 'announced' | 'activated' | 'fenced' | 'wrapped' | 'exported' | 'settled'

export interface EpochRotationParts {
  store: Pick<Store, 'read' | 'shared'>
  /** Those in use, which `look` changes. */
  keys: ServiceKeys
  folder: EpochFolder
  clock: Clock
  /** Reads the keys as the database and the folder have them now. */
  look: () => Promise<void>
}

export interface RotationOptions {
  /** To begin one without a key, if any: as before the first. */
  isKeyless?: boolean
  /** How long services may take to read the key. */
  patienceMs: number
  /** After each step, whatever is done already is durable. */
  onStep?: (step: EpochStep) => void
  /** Data keys that were looked at. */
  onProgress?: (done: number) => void
  signal?: AbortSignal
}

export class EpochRotation {
  private readonly epochs: EpochBook

  /** @throws EpochError no_epochs */
  constructor(private readonly parts: EpochRotationParts) {
    const { shared } = parts.store
    if (!shared)
      throw new EpochError('no_epochs', 'Epoch keys are for PostgreSQL: backups of SQLite hold no data keys.')
    this.epochs = shared.epochs
  }

  /**
   * Ends what was begun and not ended, else begins a new epoch. @returns it, settled
   * @throws EpochError nodes_behind, overtaken; ConfigError, StoreUnavailableError; whenever it is called again, it goes on from there
   */
  async rotate({
    patienceMs,
    isKeyless = false,
    onStep = () => {},
    onProgress = () => {},
    signal,
  }: RotationOptions): Promise<EpochRecord> {
    const { epochs } = this
    const { clock, folder, look } = this.parts
    const begun = await this.begin(isKeyless)
    const { number } = begun
    onStep('announced')
    if (begun.activatedAt === null) {
      await this.wait('loaded', number, { patienceMs, signal })
      await epochs.activate(number, clock.now())
    }
    onStep('activated')
    await look()
    // A service that cannot be asked to wait, having stood still, is kept out by the fence.
    await this.wait('used', number, { patienceMs, signal })
    await epochs.fence(number)
    onStep('fenced')
    // Not whatever the process takes for the present one: by this key alone it is told what is left to do.
    const epochKey = epochKeyOf(begun, folder)
    if (epochKey === undefined) throw missingKey(begun, folder)
    await this.wrapAll(begun, epochKey, onProgress, signal)
    onStep('wrapped')
    await this.assertLast(begun)
    // Before anything is destroyed: for copies of the database from before.
    await writeWrappedKeys(this.parts, { id: begun.keyId, key: epochKey }, folder.wrappedKeysFile)
    onStep('exported')
    await epochs.settle(number, clock.now())
    onStep('settled')
    return (await epochs.all()).find((one) => one.number === number)!
  }

  /** @returns what is under way already, else a new one */
  private async begin(isKeyless: boolean): Promise<EpochRecord> {
    const { folder, clock } = this.parts
    for (;;) {
      const underWay = (await this.epochs.all()).find(isUnderWay)
      if (underWay) return underWay
      // First: what is announced is there.
      const keyId = isKeyless ? keylessId() : folder.make()
      await this.epochs.announce(keyId, clock.now())
      const records = await this.epochs.all()
      // Another was first.
      if (!records.some((one) => one.keyId === keyId)) folder.destroy(new Set([keyId]))
    }
  }

  private async wait(
    stage: keyof EpochProgress,
    number: number,
    { patienceMs, signal }: { patienceMs: number; signal: AbortSignal | undefined },
  ): Promise<void> {
    for (const untilMs = performance.now() + patienceMs; ; await sleep(POLL_MS, undefined, { signal })) {
      const behind = await this.epochs.behind(stage, number)
      if (behind === 0) return
      if (performance.now() > untilMs)
        throw new EpochError(
          'nodes_behind',
          `${behind} of the services that run have not read the key of epoch ${number} from COUNTERSIGN_EPOCH_KEYS: ` +
            'see that each of them is set to the folder, and sees it. The epoch goes on when it is rotated again.',
        )
    }
  }

  /** Goes through all rows, again where another was at one of them at the same time. That nothing is left is told by the export. */
  private async wrapAll(
    epoch: EpochRecord,
    epochKey: Buffer | null,
    onProgress: (done: number) => void,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { store, keys } = this.parts
    let missed: number
    do {
      await this.assertLast(epoch)
      missed = 0
      let done = 0
      for (let after: string | null = ''; after !== null; ) {
        signal?.throwIfAborted()
        const rows: SealedRow[] = await store.read.sealedRows('subject', after, BATCH)
        const anew = rows.flatMap(wrapsAnew(keys, epochKey))
        if (anew.length > 0) missed += anew.length - (await this.epochs.rewrap(anew, epoch.number))
        done += rows.length
        onProgress(done)
        after = rows.length < BATCH ? null : rows.at(-1)!.id
      }
    } while (missed > 0)
  }

  /** Who has stood still meanwhile must not wrap under a key that was destroyed. @throws EpochError overtaken */
  private async assertLast({ number }: EpochRecord): Promise<void> {
    const last = (await this.epochs.all()).at(-1)!
    if (last.number !== number)
      throw new EpochError('overtaken', `Epoch ${number} is over: epoch ${last.number} has begun meanwhile.`)
  }
}

/** Of a row that is under the epoch's key already, nothing. @throws StoreUnavailableError where a key is not read yet */
function wrapsAnew(keys: ServiceKeys, epochKey: Buffer | null): (row: SealedRow) => RewrappedRow[] {
  const present = wrappingOf(keys, epochKey)
  const isPresent = (key: Buffer) => [present.current, ...present.others].some((one) => one.equals(key))
  const { current, others } = dataKeyWrapping(keys)
  const [former, ...formers] = [current, ...others].filter((key) => !isPresent(key))
  return (row) => {
    // First: most rows are of the epoch before, and a key that does not fit costs more than one that does.
    const dataKey = former ? openedBy({ current: former, others: formers }, row) : null
    if (dataKey) return [{ id: row.id, before: row.sealed, sealed: seal(present.current, dataKey, row.id) }]
    if (isOpenedBy(present, row)) return []
    throw new StoreUnavailableError('a data key is wrapped under keys that were not read yet')
  }
}
