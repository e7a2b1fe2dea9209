/** Writes the wrapped data keys of all users into a file outside of the database. Step 5 of a rotation of the epoch key. */
import { randomBytes } from 'node:crypto'
import { open as openFile, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { wrappingOf } from '../../crypto/epoch-key.js'
import { isOpenedBy } from '../../crypto/sealed-box.js'
import type { ServiceKeys } from '../../crypto/service-keys.js'
import { DAY_MS } from '../../lib/clock.js'
import { moveIntoPlaceAsync } from '../../lib/durable-file-async.js'
import type { Store } from '../../storage/store.js'
import { epochsOf } from '../postgres/exports.js'
import { DataKeyExportError, FORMAT, type Header, originOf, storedDataKeys } from './data-key-file.js'

const PARTIAL = '.partial'

/**
 * Writes the file, which replaces the one before. The file is durable and complete when this resolves.
 * @param epochKey the key under which all data keys are wrapped, and its id; null for a base epoch
 * @returns the number of users
 * @throws DataKeyExportError epoch_under_way where a data key is not wrapped under that key, or another epoch has begun
 */
export async function exportDataKeys(
  { store, keys }: { store: Pick<Store, 'read' | 'shared'>; keys: ServiceKeys },
  epochKey: { id: string; key: Buffer | null },
  file: string,
): Promise<number> {
  await deletePartialExports(file)
  // The random part of the name keeps two concurrent exports apart.
  const partial = `${file}.${randomBytes(8).toString('hex')}${PARTIAL}`
  const handle = await openFile(partial, 'w', 0o600)
  try {
    // The origin is read before the rows: a user enrolled meanwhile may be in the file, and one enrolled before always is.
    const header: Header = {
      format: FORMAT,
      epoch_key: epochKey.id,
      begun_at: Date.now(),
      ...(await originOf(store.read)),
    }
    await handle.write(`${JSON.stringify(header)}\n`)
    let count = 0
    for await (const rows of storedDataKeys(store.read)) {
      const target = wrappingOf(keys, epochKey.key)
      if (!rows.every((row) => isOpenedBy(target, row))) throw rotationInProgress()
      if (rows.length > 0)
        await handle.write(
          `${rows.map(({ id, sealed }) => `${id} ${sealed.toString('base64')}`).join('\n')}\n`,
        )
      count += rows.length
    }
    await handle.write(`${JSON.stringify({ users: count })}\n`)
    await handle.close()
    // A process that stood still must not replace a later file.
    const last = (await epochsOf(store)!.epochs.all()).findLast(({ retiredAt }) => retiredAt === null)
    if (last?.keyId !== epochKey.id) throw rotationInProgress()
    await moveIntoPlaceAsync(partial, file)
    return count
  } finally {
    await handle.close()
    await rm(partial, { force: true })
  }
}

/** Deletes partial exports, at least a day old, that a process left when it was killed while it wrote one. */
async function deletePartialExports(file: string): Promise<void> {
  for (const name of await readdir(dirname(file))) {
    if (!name.startsWith(basename(file)) || !name.endsWith(PARTIAL)) continue
    const partial = join(dirname(file), name)
    const found = await stat(partial).catch(() => null)
    if (found && found.mtimeMs < Date.now() - DAY_MS) await rm(partial, { force: true })
  }
}

function rotationInProgress(): DataKeyExportError {
  return new DataKeyExportError(
    'epoch_under_way',
    'A rotation of the epoch key is in progress. Complete it, which also exports the keys: countersign keys rotate-epoch',
  )
}
