/** Puts exported data keys into a database that was restored to an earlier time. Each step can be repeated after a crash. */
import { wrappingOf } from '../../crypto/epoch-key.js'
import { isOpenedBy } from '../../crypto/sealed-box.js'
import type { ServiceKeys } from '../../crypto/service-keys.js'
import { SECOND_MS } from '../../lib/clock.js'
import type { Store } from '../../storage/store.js'
import { epochsOf, type RewrappedRow } from '../postgres/exports.js'
import {
  assertFits,
  checkedHeader,
  DataKeyExportError,
  damaged,
  dataKeysIn,
  storedDataKeys,
} from './data-key-file.js'
import type { EpochFolder } from './epoch-folder.js'
import { epochKeyOf } from './epochs.js'

/** More than the clocks of two services differ by. */
const MAX_CLOCK_DIFFERENCE_MS = 10 * SECOND_MS

/**
 * Replaces each user's wrapped key by the file's, and erases users who are not in the file: they were erased after the copy of the
 * database was made. Where the import was interrupted, call it again.
 * @param now time for the epoch record, in milliseconds since the Unix epoch
 * @returns how many users the database has, and how many were erased
 * @throws DataKeyExportError not_wrapped_keys, wrong_keys, keys_too_old
 */
export async function importDataKeys(
  { store, keys }: { store: Pick<Store, 'read' | 'shared' | 'transaction'>; keys: ServiceKeys },
  folder: EpochFolder,
  file: string,
  now: number,
): Promise<{ users: number; erased: number }> {
  const { epochs } = epochsOf(store)!
  const header = await checkedHeader(file)
  await assertFits(header, store.read, file)
  const epochKey = await epochKeyOf({ keyId: header.epoch_key }, folder)
  if (epochKey === undefined)
    throw new DataKeyExportError(
      'wrong_keys',
      `${file} is wrapped under the epoch key ${header.epoch_key}, which ${folder.path} does not hold: use the latest file.`,
    )
  const target = wrappingOf(keys, epochKey)
  const lines = dataKeysIn(file)
  let next = (await lines.next()).value
  // A database that took over from the one of the file may have users who were enrolled later: nobody erased them.
  const createdUntil = header.begun_at + MAX_CLOCK_DIFFERENCE_MS
  let [users, erased] = [0, 0]
  for await (const rows of storedDataKeys(store.read)) {
    const replaced: RewrappedRow[] = []
    const [gone, newer]: [string[], string[]] = [[], []]
    for (const { id, sealed: before } of rows) {
      // File and rows are in the order of the ids' bytes. Users enrolled after the copy was made are only in the file.
      while (next && next.id < id) next = (await lines.next()).value
      if (next?.id !== id) (isOpenedBy(target, { id, sealed: before }) ? newer : gone).push(id)
      else {
        if (!isOpenedBy(target, next)) throw damaged(file)
        if (!before.equals(next.sealed)) replaced.push({ id, before, sealed: next.sealed })
        users++
      }
    }
    if (replaced.length > 0) await epochs.rewrap(replaced, null)
    const blindIndexes = [
      ...(await epochs.blindIndexesOf(gone)),
      ...(await epochs.blindIndexesOf(newer, { createdUntil })),
    ]
    if (blindIndexes.length > 0)
      await store.transaction('installation', async (tx) => {
        for (const blindIndex of blindIndexes) await tx.eraseSubject(blindIndex)
      })
    erased += blindIndexes.length
    users += gone.length + newer.length - blindIndexes.length
  }
  await lines.return(null)
  await epochs.adopt(header.epoch_key, now)
  return { users, erased }
}
