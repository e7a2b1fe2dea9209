/**
 * Backups in two files: a copy of the database without the users' data keys, and a file of those keys. Copies may be kept for any time.
 * Only the latest file of keys is kept: it replaces the one before. So the data of an erased user are lost in every copy, older ones
 * included, as soon as the next backup is made. Keys from before a change of the working keys open only the copies of their time, which no
 * later file does: they are moved aside, and the operator deletes them.
 */
import { copyFileSync, existsSync, renameSync } from 'node:fs'
import Database from 'better-sqlite3'
import { moveIntoPlace } from '../../lib/durable-file.js'
import { CodedError } from '../../lib/errors.js'
import type { Connection } from '../../storage/connection.js'
import { tablesWith } from '../../storage/endings.js'
import { translateSqlite, unwritable } from '../../storage/sqlite/sqlite-errors.js'
import { integrityIssues, isDamage } from '../../storage/sqlite/sqlite-integrity.js'
import { noteBackup, removeDatabase } from '../../storage/sqlite/sqlite-leftovers.js'
import {
  APPLICATION_ID,
  assertKnownSchema,
  BACKUP_APPLICATION_ID,
  migrate,
} from '../../storage/sqlite/sqlite-migrations.js'
import { peek } from '../../storage/sqlite/sqlite-peek.js'
import { storeTransaction } from '../../storage/statements/statements.js'
import { StoreCorruptError, StoreUnavailableError } from '../../storage/store.js'
import type { Table } from '../../storage/table.js'

/** The files cannot be joined; the message says why. */
export class RestoreError extends CodedError<
  'not_a_backup' | 'damaged_backup' | 'keys_required' | 'wrong_keys' | 'keys_too_old'
> {}

/** How long opening the database waits for a lock of another process. */
const LOCK_PATIENCE_MS = 5000
/** Pages that are copied between two turns of the event loop. */
const PAGES_AT_ONCE = 100
/** "CSGK": a file of data keys. */
const KEYS_APPLICATION_ID = 0x4353474b

/**
 * Recognizes the copy and the file of keys that belong together: by the first tenant, which a database never loses, and by the length of
 * the audit logs, which only grows, even when the clock is set back.
 */
const ORIGIN =
  'SELECT (SELECT id FROM tenant ORDER BY created_at, id LIMIT 1) AS tenant, (SELECT total(sequence) FROM audit_seal) AS progress'
/** The generation of the working keys that wrap the users' keys. */
const GENERATION = 'SELECT coalesce(max(generation), 0) FROM keyring'

interface BackupOrder {
  /** The copy, which does not exist yet. */
  file: string
  keysFile: string
  /** All tables, those of features included. */
  tables: readonly Table[]
  onProgress?: (pages: number, totalPages: number) => void
}

interface Origin {
  tenant: string | null
  progress: number
  generation: number
}

/** The files in which a backup is made. Until it ends they hold wrapped keys of users, which no erasure reaches. */
export function unfinishedFiles(file: string, keysFile: string): string[] {
  return [`${file}.partial`, `${keysFile}.partial`]
}

/**
 * Makes a consistent copy while the service runs and, in a separate file, the data keys of all users as of now, which replace those in
 * `keysFile`. An operator who keeps many copies but only one file of keys thus loses the data of erased users in every copy.
 * @returns the number of users, and the file to which keys from before a change of the working keys were moved (`keptKeysFile`, null when
 * there were none)
 */
export async function makeBackup(
  database: string,
  { file, keysFile, tables, onProgress }: BackupOrder,
): Promise<{ subjects: number; keptKeysFile: string | null }> {
  const partial = `${file}.partial`
  const progress = ({ totalPages, remainingPages }: Database.BackupMetadata) => {
    onProgress?.(totalPages - remainingPages, totalPages)
    return PAGES_AT_ONCE
  }
  const note = noteBackup(database, unfinishedFiles(file, keysFile))
  try {
    removeDatabase(partial)
    await copyDatabase(database, partial, { progress }).catch((error) => {
      throw unwritable(error, file)
    })
    const separated = separateKeys(partial, keysFile, tables)
    moveIntoPlace(partial, file)
    return separated
  } catch (error) {
    throw translateSqlite(error, database)
  } finally {
    removeDatabase(partial)
    note.end()
  }
}

/**
 * Copies the database as it is now. SQLite starts a copy over whenever another connection has committed between two steps, unless the copy
 * reads from a transaction that stays open.
 */
async function copyDatabase(file: string, target: string, options: Database.BackupOptions): Promise<void> {
  const source = new Database(file, { readonly: true, timeout: LOCK_PATIENCE_MS })
  try {
    source.exec('BEGIN')
    // The first read takes the snapshot.
    source.prepare('SELECT count(*) FROM sqlite_schema').get()
    await source.backup(target, options)
  } finally {
    source.close()
  }
}

/**
 * Moves the data keys out of a copy of the database into a file of their own, which replaces the one there.
 * @returns the number of keys, and the file to which the existing keys were moved when they are of another generation
 * @throws StoreCorruptError when the copy is damaged; the existing file of keys is then unchanged
 */
function separateKeys(
  copy: string,
  keysFile: string,
  tables: readonly Table[],
): { subjects: number; keptKeysFile: string | null } {
  const partial = `${keysFile}.partial`
  removeDatabase(partial)
  const database = new Database(copy)
  try {
    const [damage] = integrityIssues(database)
    if (damage)
      throw new StoreCorruptError(
        `No backup was made, and the copies and keys from before stay as they are (${damage})`,
      )
    database.pragma('journal_mode = DELETE')
    database.pragma('secure_delete = ON')
    attachNew(database, partial, keysFile)
    database.pragma(`keys.application_id = ${KEYS_APPLICATION_ID}`)
    const separate = database.transaction(() => {
      database.exec(`
        CREATE TABLE keys.origin AS ${ORIGIN}, (${GENERATION}) AS generation;
        CREATE TABLE keys.subject_key (subject_id TEXT PRIMARY KEY, wrapped BLOB NOT NULL) STRICT, WITHOUT ROWID;`)
      const { changes } = database
        .prepare(
          'INSERT INTO keys.subject_key (subject_id, wrapped) SELECT id, wrapped_key FROM subject ORDER BY id',
        )
        .run()
      database.exec("UPDATE subject SET wrapped_key = x''")
      for (const { declared } of tables) if (declared.atBackup) database.exec(declared.atBackup)
      database.pragma(`application_id = ${BACKUP_APPLICATION_ID}`)
      return changes
    })
    const subjects = separate()
    const generation = generationOf(database)
    database.close()
    const keptKeysFile = keepOtherGeneration(keysFile, generation)
    moveIntoPlace(partial, keysFile)
    return { subjects, keptKeysFile }
  } finally {
    database.close()
    removeDatabase(partial)
  }
}

/** @throws StoreUnavailableError when the file cannot be created */
function attachNew(database: Database.Database, partial: string, keysFile: string): void {
  try {
    database.prepare('ATTACH ? AS keys').run(partial)
  } catch (cause) {
    throw new StoreUnavailableError(`Cannot write ${keysFile}: ${(cause as Error).message}`, { cause })
  }
}

/** @returns null when the existing keys are of `generation`, or there are none */
function keepOtherGeneration(keysFile: string, generation: number): string | null {
  const held = generationOfKeys(keysFile)
  if (held === null || held === generation) return null
  const name = keptKeysFile(keysFile, held)
  let kept = name
  for (let i = 2; existsSync(kept); i++) kept = `${name}-${i}`
  renameSync(keysFile, kept)
  return kept
}

function keptKeysFile(keysFile: string, generation: number): string {
  return `${keysFile}.${generation}`
}

/** Null when there is no file of keys. */
function generationOfKeys(keysFile: string): number | null {
  if (!existsSync(keysFile)) return null
  try {
    return peek(keysFile, originOf)?.generation ?? null
  } catch (error) {
    // One that cannot be opened may be the only one that opens earlier copies: it must stay.
    if (error instanceof Database.SqliteError && /^SQLITE_(CANTOPEN|IOERR)/.test(error.code)) throw error
    // The file is no database, so it opens no copy.
    return null
  }
}

/**
 * Joins a copy and the keys in a new file. Users without a key were erased after the copy was made, and are erased here.
 * @param tables those of features
 * @returns the number of users, and of those that were erased
 * @throws RestoreError, with nothing left behind
 */
export async function joinKeys(
  copy: string,
  keysFile: string | null,
  target: string,
  tables: readonly Table[],
): Promise<{ subjects: number; erased: number }> {
  removeDatabase(target)
  copyFileSync(copy, target)
  let database: Database.Database | undefined
  try {
    database = new Database(target)
    const application = applicationOf(database)
    if (application !== APPLICATION_ID && application !== BACKUP_APPLICATION_ID)
      throw new RestoreError('not_a_backup', `${copy} is no backup of Countersign.`)
    const [damage] = integrityIssues(database)
    if (damage) throw damagedBackup(copy, damage)
    assertKnownSchema(database)
    if (application === APPLICATION_ID) {
      // The copy is a plain copy of the database file, which contains the keys.
      migrate(database, tables)
      return { subjects: count(database), erased: 0 }
    }
    if (!keysFile)
      throw new RestoreError('keys_required', `${copy} holds no keys of users; name the file that does.`)
    database.pragma('secure_delete = ON')
    database.pragma('foreign_keys = ON')
    assertFits(database, keysFile)
    database.prepare('ATTACH ? AS keys').run(keysFile)
    database.exec(
      `UPDATE subject SET wrapped_key = coalesce((SELECT wrapped FROM keys.subject_key WHERE subject_id = id), x'')`,
    )
    database.exec('DETACH keys')
    database.pragma(`application_id = ${APPLICATION_ID}`)
    migrate(database, tables)
    database.exec('BEGIN')
    const gone = database
      .prepare<[], Buffer>(`SELECT lookup FROM subject WHERE wrapped_key = x''`)
      .pluck()
      .all()
    const { eraseSubject } = storeTransaction(database as Connection, () => {}, tablesWith(tables))
    for (const blindIndex of gone) await eraseSubject(blindIndex)
    database.exec('COMMIT')
    return { subjects: count(database), erased: gone.length }
  } catch (error) {
    database?.close()
    removeDatabase(target)
    throw isDamage(error) ? damagedBackup(copy, (error as Error).message) : error
  } finally {
    database?.close()
  }
}

function damagedBackup(copy: string, damage: string): RestoreError {
  return new RestoreError('damaged_backup', `${copy} is damaged (${damage}): restore another backup`)
}

/** @throws RestoreError wrong_keys, keys_too_old */
function assertFits(copy: Database.Database, keysFile: string): void {
  const held = peek(keysFile, originOf)
  if (!held) throw new RestoreError('wrong_keys', `${keysFile} is no file of keys.`)
  const wanted = copy.prepare(ORIGIN).get() as Origin
  if (held.tenant !== wanted.tenant)
    throw new RestoreError('wrong_keys', `${keysFile} holds the keys of another database.`)
  const generation = generationOf(copy)
  if (held.generation !== generation) {
    const kept = keptKeysFile(keysFile, generation)
    throw new RestoreError(
      'wrong_keys',
      `${keysFile} and the backup lie on two sides of a change of the master key: name the keys of the backup's time with --keys` +
        (existsSync(kept) ? ` ${kept}.` : '.'),
    )
  }
  if (held.progress < wanted.progress)
    throw new RestoreError(
      'keys_too_old',
      `${keysFile} is older than the backup: users enrolled in between would be lost. Use the latest.`,
    )
}

/** Null where the file is no file of keys. */
function originOf(keys: Database.Database): Origin | null {
  if (applicationOf(keys) !== KEYS_APPLICATION_ID) return null
  return keys.prepare('SELECT * FROM origin').get() as Origin
}

function generationOf(database: Database.Database): number {
  return database.prepare(GENERATION).pluck().get() as number
}

function applicationOf(database: Database.Database): number {
  return database.pragma('application_id', { simple: true }) as number
}

function count(database: Database.Database): number {
  return database.prepare('SELECT count(*) FROM subject').pluck().get() as number
}
