/**
 * The newest wrapped keys of all users in a file, as the second file of a SQLite backup has them: what a copy of the database from an
 * epoch that has ended is opened with. Whoever was erased meanwhile is not in it. The file replaces the one before.
 */
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open as openFile, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { wrappingOf } from '../crypto/epoch-key.js'
import { isOpenedBy } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import { DAY_MS, SECOND_MS } from '../lib/clock.js'
import { movePatiently } from '../lib/durable-file-async.js'
import { CodedError } from '../lib/errors.js'
import type { SealedRow } from '../storage/records.js'
import type { Store, StoreReader } from '../storage/store.js'
import type { EpochFolder } from './epoch-folder.js'
import { epochKeyOf } from './epochs.js'

const FORMAT = 'countersign wrapped keys 1'
/** Read at once: calls that come meanwhile wait for it. */
const BATCH = 100
const PARTIAL = '.partial'
/** More than the clocks of two services differ by. */
const CLOCKS_MS = 10 * SECOND_MS

/** The first line, by which a file is told to belong to a database; the last one says how many keys stand between. */
interface Header {
  format: typeof FORMAT
  epoch_key: string
  /** How often the working keys were changed. */
  generation: number
  /** The first tenant, which no database ever loses. */
  tenant: string | null
  /** How far the audit logs had come, which only grows. */
  progress: number
  /** When it was begun, in milliseconds since the Unix epoch. */
  begun_at: number
}

/** The file does not fit the database; the message says why. */
export class DataKeyExportError extends CodedError<
  'not_wrapped_keys' | 'wrong_keys' | 'keys_too_old' | 'epoch_under_way'
> {
  override readonly name = 'WrappedKeysError'
}

/**
 * Of a database in which all data keys are wrapped under the epoch key of that id. @returns how many
 * @throws WrappedKeysError epoch_under_way where they are not, or another epoch has begun
 */
export async function exportDataKeys(
  { store, keys }: { store: Pick<Store, 'read' | 'shared'>; keys: ServiceKeys },
  epochKey: { id: string; key: Buffer | null },
  file: string,
): Promise<number> {
  await removeLeftovers(file)
  // Two may be at it.
  const partial = `${file}.${randomBytes(8).toString('hex')}${PARTIAL}`
  const handle = await openFile(partial, 'w', 0o600)
  try {
    // Asked first: who is enrolled meanwhile may be in the file, and who was before always is.
    const header: Header = {
      ...{ format: FORMAT, epoch_key: epochKey.id, begun_at: Date.now() },
      ...(await originOf(store.read)),
    }
    await handle.write(`${JSON.stringify(header)}\n`)
    let count = 0
    for (let after: string | null = ''; after !== null; ) {
      const rows: SealedRow[] = await store.read.sealedRows('subject', after, BATCH)
      const present = wrappingOf(keys, epochKey.key)
      if (!rows.every((row) => isOpenedBy(present, row))) throw underWay()
      if (rows.length > 0)
        await handle.write(
          `${rows.map(({ id, sealed }) => `${id} ${sealed.toString('base64')}`).join('\n')}\n`,
        )
      count += rows.length
      after = rows.length < BATCH ? null : rows.at(-1)!.id
    }
    await handle.write(`${JSON.stringify({ users: count })}\n`)
    await handle.close()
    // Whoever has stood still replaces no later file.
    const present = (await store.shared!.epochs.all()).findLast(({ retiredAt }) => retiredAt === null)
    if (present?.keyId !== epochKey.id) throw underWay()
    await movePatiently(partial, file)
    return count
  } finally {
    await handle.close()
    await rm(partial, { force: true })
  }
}

/** Of whoever was killed at it. */
async function removeLeftovers(file: string): Promise<void> {
  for (const name of await readdir(dirname(file))) {
    if (!name.startsWith(basename(file)) || !name.endsWith(PARTIAL)) continue
    const leftover = join(dirname(file), name)
    const found = await stat(leftover).catch(() => null)
    if (found && found.mtimeMs < Date.now() - DAY_MS) await rm(leftover, { force: true })
  }
}

function underWay(): DataKeyExportError {
  return new DataKeyExportError(
    'epoch_under_way',
    'A new epoch is under way: end it first, which writes the keys as well: countersign keys rotate-epoch',
  )
}

/**
 * Puts the wrapped keys of a file into a database that was restored, and erases whoever is not among them. To be called again where
 * it was broken off. @returns how many users there are, and how many were erased
 * @throws WrappedKeysError
 */
export async function importDataKeys(
  { store, keys }: { store: Pick<Store, 'read' | 'shared' | 'transaction'>; keys: ServiceKeys },
  folder: EpochFolder,
  file: string,
  now: number,
): Promise<{ users: number; erased: number }> {
  const { epochs } = store.shared!
  const header = await checkedHeader(file)
  await assertFits(header, store.read, file)
  const epochKey = await epochKeyOf({ keyId: header.epoch_key }, folder)
  if (epochKey === undefined)
    throw new DataKeyExportError(
      'wrong_keys',
      `${file} is wrapped under the epoch key ${header.epoch_key}, which ${folder.path} does not hold: use the latest file.`,
    )
  const present = wrappingOf(keys, epochKey)
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
  const entries = lines[Symbol.asyncIterator]()
  await entries.next()
  let next = await nextEntry(entries)
  // A database that took over from the one of the file may have users who came later: nobody erased them.
  const latest = header.begun_at + CLOCKS_MS
  let [users, erased] = [0, 0]
  for (let after: string | null = ''; after !== null; ) {
    const rows: SealedRow[] = await store.read.sealedRows('subject', after, BATCH)
    const anew = []
    const [gone, newer]: [string[], string[]] = [[], []]
    for (const { id, sealed: before } of rows) {
      // Both are in the order of their bytes; who was enrolled after the copy was made is in the file alone.
      while (next && next.id < id) next = await nextEntry(entries)
      if (next?.id !== id) (isOpenedBy(present, { id, sealed: before }) ? newer : gone).push(id)
      else {
        if (!isOpenedBy(present, next)) throw damaged(file)
        if (!before.equals(next.sealed)) anew.push({ id, before, sealed: next.sealed })
        users++
      }
    }
    if (anew.length > 0) await epochs.rewrap(anew, null)
    const blindIndexes = [
      ...(await epochs.blindIndexesOf(gone)),
      ...(await epochs.blindIndexesOf(newer, { createdUntil: latest })),
    ]
    if (blindIndexes.length > 0)
      await store.transaction(async (tx) => {
        for (const blindIndex of blindIndexes) await tx.eraseSubject(blindIndex)
      })
    erased += blindIndexes.length
    users += gone.length + newer.length - blindIndexes.length
    after = rows.length < BATCH ? null : rows.at(-1)!.id
  }
  lines.close()
  await epochs.adopt(header.epoch_key, now)
  return { users, erased }
}

async function nextEntry(entries: AsyncIterator<string>): Promise<SealedRow | null> {
  const { value, done } = await entries.next()
  if (done || value.startsWith('{')) return null
  const [id, sealed] = (value as string).split(' ')
  return { id: id!, sealed: Buffer.from(sealed!, 'base64') }
}

/** Reads all of it, so that nobody is erased by a file that was cut off. @throws WrappedKeysError not_wrapped_keys */
async function checkedHeader(file: string): Promise<Header> {
  let header: Header | null = null
  let users: number | null = null
  let count = 0
  for await (const line of createInterface({ input: createReadStream(file) }))
    if (!header) header = parseLine<Header>(line)
    else if (line.startsWith('{')) users = parseLine<{ users: number }>(line)?.users ?? null
    else count++
  if (header?.format !== FORMAT || users !== count) throw damaged(file)
  return header
}

function damaged(file: string): DataKeyExportError {
  return new DataKeyExportError('not_wrapped_keys', `${file} is no whole file of wrapped keys.`)
}

function parseLine<T>(line: string): T | null {
  try {
    return JSON.parse(line) as T
  } catch {
    return null
  }
}

/** @throws WrappedKeysError wrong_keys, keys_too_old */
async function assertFits(header: Header, read: StoreReader, file: string): Promise<void> {
  const { tenant, generation, progress } = await originOf(read)
  if (header.tenant !== tenant)
    throw new DataKeyExportError('wrong_keys', `${file} holds the keys of another database.`)
  if (header.generation !== generation)
    throw new DataKeyExportError(
      'wrong_keys',
      `${file} and the database lie on two sides of a change of the master key: restore to a time after it.`,
    )
  if (header.progress < progress)
    throw new DataKeyExportError(
      'keys_too_old',
      `${file} is older than the database: users enrolled in between would be lost. Use the latest.`,
    )
}

async function originOf(read: StoreReader): Promise<Pick<Header, 'generation' | 'tenant' | 'progress'>> {
  const tenants = await read.tenants()
  const seals = await Promise.all(tenants.map(({ id }) => read.auditSeal(id)))
  const keyrings = await read.keyrings()
  return {
    tenant: tenants[0]?.id ?? null,
    progress: seals.reduce((sum, seal) => sum + (seal?.sequence ?? 0), 0),
    generation: Math.max(0, ...keyrings.map(({ generation }) => generation)),
  }
}
