/** Wraps the data keys of all users under the key of one epoch, batch by batch, while services write. Step 4 of a rotation. */
import { dataKeyWrapping, wrappingOf } from '../../crypto/epoch-key.js'
import { isOpenedBy, openedBy, seal } from '../../crypto/sealed-box.js'
import type { ServiceKeys } from '../../crypto/service-keys.js'
import type { SealedRow } from '../../storage/records.js'
import { type Store, StoreUnavailableError } from '../../storage/store.js'
import type { EpochBook, EpochRecord, RewrappedRow } from '../postgres/exports.js'
import { storedDataKeys } from './data-key-file.js'

/**
 * Repeats its pass over all rows until no row changed between its read and its write. The export then checks that nothing is left.
 * @param assertLast called before each pass; throws where a later epoch has begun
 * @throws StoreUnavailableError where a row is wrapped under a key that this process has not read yet
 */
export async function rewrapDataKeys(
  { store, keys }: { store: Pick<Store, 'read'>; keys: ServiceKeys },
  { epoch, epochKey, epochs }: { epoch: EpochRecord; epochKey: Buffer | null; epochs: EpochBook },
  assertLast: () => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  let skipped: number
  do {
    await assertLast()
    skipped = 0
    for await (const rows of storedDataKeys(store.read)) {
      signal?.throwIfAborted()
      const rewrapped = rows.flatMap(rewrapper(keys, epochKey))
      if (rewrapped.length > 0) skipped += rewrapped.length - (await epochs.rewrap(rewrapped, epoch.number))
    }
  } while (skipped > 0)
}

/** @returns a function that rewraps a row, and returns an empty list for a row that the epoch's key opens already */
function rewrapper(keys: ServiceKeys, epochKey: Buffer | null): (row: SealedRow) => RewrappedRow[] {
  const target = wrappingOf(keys, epochKey)
  const isTarget = (key: Buffer) => [target.current, ...target.others].some((one) => one.equals(key))
  const { current, others } = dataKeyWrapping(keys)
  const [former, ...formers] = [current, ...others].filter((key) => !isTarget(key))
  return (row) => {
    // The former keys are tried first: most rows are under the epoch before, and a key that does not fit costs more than one that does.
    const dataKey = former ? openedBy({ current: former, others: formers }, row) : null
    if (dataKey) return [{ id: row.id, before: row.sealed, sealed: seal(target.current, dataKey, row.id) }]
    if (isOpenedBy(target, row)) return []
    throw new StoreUnavailableError('a data key is wrapped under keys that were not read yet')
  }
}
