/**
 * A new epoch: its key is made, read by every service, and wraps what is written from then on; then every data key is wrapped anew under
 * it, and the keys of the epochs before are destroyed, and with them the wrapped keys of erased users in whatever copy of the database.
 * Each step can be taken again after a crash, and by several at once.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { databaseTag, dataKeyWrapping, wrappingOf } from '../crypto/epoch-key.js'
import { isOpenedBy, openedBy, seal } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import { type Clock, MINUTE_MS } from '../lib/clock.js'
import { CodedError } from '../lib/errors.js'
import {
  baseEpochId,
  type EpochBook,
  type EpochProgress,
  type EpochRecord,
  isBaseEpoch,
  isUnderWay,
  type RewrappedRow,
} from '../storage/epoch-book.js'
import type { SealedRow } from '../storage/records.js'
import { type Store, StoreUnavailableError } from '../storage/store.js'
import { exportDataKeys } from './data-key-export.js'
import type { EpochFolder } from './epoch-folder.js'
import { epochKeyOf, missingKeyError } from './epochs.js'

/** Read at once, and wrapped anew in one statement: a few milliseconds' work, for which calls wait that come meanwhile. */
const BATCH = 100
const POLL_MS = 250
/** Longer than from a key's making to its announcement. */
const MAKING_MS = MINUTE_MS
/** Longer than a folder may take to show a key to the others. */
const ARRIVAL_MS = 10 * MINUTE_MS

/**
 * `nodes_behind`: some service does not see the folder, or is of a version without epochs. `overtaken`: another has ended this epoch, and
 * begun a later one.
 */
export class EpochError extends CodedError<'nodes_behind' | 'overtaken' | 'no_epochs'> {
  override readonly name = 'EpochError'
}

/** Of a rotation, in this order. */
export type EpochStep = 'announced' | 'activated' | 'fenced' | 'wrapped' | 'exported' | 'completed'

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
  isBaseEpoch?: boolean
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
  async rotate(options: RotationOptions): Promise<EpochRecord> {
    const orphanedKeys = await this.orphanedKeys()
    for (;;) {
      const settled = await this.rotateOnce(options)
      // What was astray, or under way, has only been ended.
      if (orphanedKeys.includes(settled.keyId)) continue
      if (!options.isBaseEpoch || isBaseEpoch(settled.keyId)) return settled
    }
  }

  /**
   * Keys in the folder that were made for this database, and that it does not name: whoever made one was killed before it was announced,
   * or that was told to a server in whose place there is a standby now, which had not received it. Services may have written by it until
   * they saw that. As the key of an epoch it opens that again, and has an end.
   */
  async orphanedKeys(): Promise<string[]> {
    const { folder, keys, clock } = this.parts
    const ids = await folder.ids()
    const named = new Set((await this.epochs.of(ids)).map(({ keyId }) => keyId))
    const unnamed = ids.filter((id) => !named.has(id))
    return folder.madeFor(databaseTag(keys), unnamed, clock.now() - MAKING_MS)
  }

  /** Puts keys that must not be lost back into the folder, where they are known here. @returns which @throws ConfigError where it is not mounted */
  async restoreMissing(): Promise<string[]> {
    const { folder, keys } = this.parts
    const needed = (await this.epochs.all()).filter(
      ({ keyId, retiredAt }) => retiredAt === null && !isBaseEpoch(keyId),
    )
    const missing: string[] = []
    for (const { keyId } of needed)
      if (await folder.restoreMissing(keyId, databaseTag(keys))) missing.push(keyId)
    return missing
  }

  private async rotateOnce({
    patienceMs,
    isBaseEpoch = false,
    onStep = () => {},
    onProgress = () => {},
    signal,
  }: RotationOptions): Promise<EpochRecord> {
    const { epochs } = this
    const { clock, folder, look } = this.parts
    await this.restoreMissing()
    const begun = await this.begin(isBaseEpoch)
    const { number } = begun
    onStep('announced')
    if (begun.activatedAt === null) {
      await this.wait('loaded', number, { patienceMs, signal })
      // Where no service runs, nobody else has.
      if ((await epochKeyOf(begun, folder)) === undefined) throw missingKeyError(begun, folder)
      await epochs.activate(number, clock.now())
      await this.assertLast(begun)
    }
    onStep('activated')
    await look()
    // A service that cannot be asked to wait, having stood still, is kept out by the fence.
    await this.wait('used', number, { patienceMs, signal })
    await epochs.fence(number)
    onStep('fenced')
    // Not whatever the process takes for the present one: by this key alone it is told what is left to do.
    const epochKey = await epochKeyOf(begun, folder)
    if (epochKey === undefined) throw missingKeyError(begun, folder)
    await this.wrapAll(begun, epochKey, onProgress, signal)
    onStep('wrapped')
    await this.assertLast(begun)
    // The folder may have been exchanged meanwhile: what is known here alone ends with this process.
    await this.restoreMissing()
    // Before anything is destroyed: for copies of the database from before.
    await exportDataKeys(this.parts, { id: begun.keyId, key: epochKey }, folder.exportFile)
    onStep('exported')
    // A server that was started anew knows no service until it is heard of.
    await this.wait('used', number, { patienceMs, signal })
    await epochs.complete(number, clock.now())
    onStep('completed')
    return (await epochs.all()).find((one) => one.number === number)!
  }

  /** @returns what is under way already, else a new one */
  private async begin(isBaseEpoch: boolean): Promise<EpochRecord> {
    const { folder, keys, clock } = this.parts
    for (;;) {
      const underWay = (await this.epochs.all()).find(isUnderWay)
      if (underWay && (await this.isLost(underWay))) {
        await this.epochs.withdraw(underWay.number, clock.now())
        continue
      }
      if (underWay) return underWay
      const [stray] = await this.orphanedKeys()
      // First: what is announced is there.
      const keyId = stray ?? (isBaseEpoch ? baseEpochId() : await folder.make(databaseTag(keys)))
      await this.epochs.announce(keyId, clock.now())
      const [announced] = await this.epochs.of([keyId])
      // Another was first.
      if (!announced && !stray) await folder.destroy(new Set([keyId]))
    }
  }

  /** It was announced long ago, and its key has not come: as when that was written below a volume that was not mounted. */
  private async isLost(epoch: EpochRecord): Promise<boolean> {
    if (epoch.activatedAt !== null || epoch.announcedAt + ARRIVAL_MS > this.parts.clock.now()) return false
    return (await epochKeyOf(epoch, this.parts.folder)) === undefined
  }

  private async wait(
    stage: keyof EpochProgress,
    number: number,
    { patienceMs, signal }: { patienceMs: number; signal: AbortSignal | undefined },
  ): Promise<void> {
    for (const untilMs = performance.now() + patienceMs; ; await sleep(POLL_MS, undefined, { signal })) {
      const behind = await this.epochs.behind(stage, number)
      if (behind.length === 0) return
      if (performance.now() > untilMs)
        throw new EpochError(
          'nodes_behind',
          `${behind.join(', ')} cannot read the key of epoch ${number} from COUNTERSIGN_EPOCH_KEYS: see in the log of each why, ` +
            'that it is set to the folder, and that this is the folder of the others. The epoch goes on when it is rotated again.',
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
  private async assertLast({ keyId }: EpochRecord): Promise<void> {
    const last = (await this.epochs.all()).at(-1)
    if (last?.keyId !== keyId || last.retiredAt !== null)
      throw new EpochError(
        'overtaken',
        'This epoch is over: another has ended it, or the database is another.',
      )
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
