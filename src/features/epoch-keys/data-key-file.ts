/**
 * The file of wrapped data keys, `users.keys`: what a copy of the database from an earlier epoch is opened with, as the second file of a
 * SQLite backup is. It holds no key of an erased user.
 *
 * Lines: a header in JSON; `<subject id> <wrapped key, base64>` for each user, in the order of the ids' bytes; a trailer in JSON with
 * the number of users. A file without its trailer was cut off.
 */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { CodedError } from '../../lib/errors.js'
import type { SealedRow } from '../../storage/records.js'
import type { StoreReader } from '../../storage/store.js'

export const FORMAT = 'countersign wrapped keys 1'
/** Rows of one read. */
const BATCH = 100

/** The first line. It shows whether the file belongs to a database. */
export interface Header {
  format: typeof FORMAT
  /** Id of the epoch key under which the data keys are wrapped. */
  epoch_key: string
  /** How often the working keys were changed. */
  generation: number
  /** Id of the first tenant, which no database ever loses; null for a database without tenants. */
  tenant: string | null
  /** Sum of the lengths of all audit logs, which only grows. */
  progress: number
  /** Time at which the export began, in milliseconds since the Unix epoch. */
  begun_at: number
}

/** The file does not fit the database; the message says why. */
export class DataKeyExportError extends CodedError<
  'not_wrapped_keys' | 'wrong_keys' | 'keys_too_old' | 'epoch_under_way'
> {}

/** The fields of the header by which a database is recognized. */
export async function originOf(
  read: StoreReader,
): Promise<Pick<Header, 'generation' | 'tenant' | 'progress'>> {
  const tenants = await read.tenants()
  const seals = await Promise.all(tenants.map(({ id }) => read.auditSeal(id)))
  const keyrings = await read.keyrings()
  return {
    tenant: tenants[0]?.id ?? null,
    progress: seals.reduce((sum, seal) => sum + (seal?.sequence ?? 0), 0),
    generation: Math.max(0, ...keyrings.map(({ generation }) => generation)),
  }
}

/** Reads the whole file before anything is done with it: nobody is erased because of a file that was cut off. @throws DataKeyExportError not_wrapped_keys */
export async function checkedHeader(file: string): Promise<Header> {
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

/** @throws DataKeyExportError wrong_keys, keys_too_old */
export async function assertFits(header: Header, read: StoreReader, file: string): Promise<void> {
  const { tenant, generation, progress } = await originOf(read)
  if (header.tenant !== tenant)
    throw new DataKeyExportError('wrong_keys', `${file} holds the keys of another database.`)
  if (header.generation !== generation)
    throw new DataKeyExportError(
      'wrong_keys',
      `The master key was changed between ${file} and the state of the database: restore to a time after the change.`,
    )
  if (header.progress < progress)
    throw new DataKeyExportError(
      'keys_too_old',
      `${file} is older than the database: users enrolled in between would be lost. Use the latest file.`,
    )
}

/** Reads the users' wrapped keys one after the other, in the order of the file. */
export async function* dataKeysIn(file: string): AsyncGenerator<SealedRow, null> {
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (line.startsWith('{')) continue
    const [id, sealed] = line.split(' ')
    yield { id: id!, sealed: Buffer.from(sealed!, 'base64') }
  }
  return null
}

/** Reads the wrapped data keys of all users from the database, in batches: calls of the service wait while one is read. */
export async function* storedDataKeys(read: Pick<StoreReader, 'sealedRows'>): AsyncGenerator<SealedRow[]> {
  for (let after: string | null = ''; after !== null; ) {
    const rows: SealedRow[] = await read.sealedRows('subject', after, BATCH)
    yield rows
    after = rows.length < BATCH ? null : rows.at(-1)!.id
  }
}

export function damaged(file: string): DataKeyExportError {
  return new DataKeyExportError('not_wrapped_keys', `${file} is not a complete file of wrapped keys.`)
}

function parseLine<T>(line: string): T | null {
  try {
    return JSON.parse(line) as T
  } catch {
    return null
  }
}
