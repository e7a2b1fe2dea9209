/** A SQLite database as source or target of a copy. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { makeFolder, makeForOwnerOfFolder } from '../../../lib/durable-file.js'
import { CodedError } from '../../../lib/errors.js'
import type { Connection } from '../../../storage/connection.js'
import { TABLES, tablesWith } from '../../../storage/endings.js'
import { claimDatabase } from '../../../storage/sqlite/sqlite-claim.js'
import { unusable } from '../../../storage/sqlite/sqlite-errors.js'
import { removeDatabase } from '../../../storage/sqlite/sqlite-leftovers.js'
import {
  assertOurs,
  migrate,
  SCHEMA_VERSION,
  schemaVersion,
} from '../../../storage/sqlite/sqlite-migrations.js'
import { storeReader } from '../../../storage/statements/statements.js'
import { StoreOpenError } from '../../../storage/store.js'
import type { Table } from '../../../storage/table.js'
import {
  assertEmpty,
  assertVersion,
  type CopiedTable,
  type CopySource,
  type CopyTarget,
  StoreCopyError,
} from './copy-store.js'

/** How long a command that writes the file is waited for. */
const LOCK_PATIENCE_MS = 5000

/** No service begins to serve from `file` until it is closed. @throws StoreCopyError; StoreOpenError */
export async function openSqliteSource(file: string): Promise<CopySource> {
  if (!existsSync(file)) throw new StoreCopyError('source_missing', `There is no database at ${file}.`)
  return opening(file, 'source_in_use', async (claim) => {
    const hadLog = existsSync(`${file}-wal`)
    const database = new Database(file, { readonly: true, timeout: LOCK_PATIENCE_MS })
    try {
      assertOurs(database)
      assertVersion(schemaVersion(database), SCHEMA_VERSION, 'source_outdated', file)
      const version = () => database.pragma('data_version', { simple: true })
      // Read before the snapshot is taken: a commit in between counts as a change, and is not missed.
      const before = version()
      database.exec('BEGIN')
      // The first read takes the snapshot.
      database.prepare('SELECT count(*) FROM sqlite_schema').get()
      return {
        ...sideOf(database),
        shared: null,
        async assertUnchanged() {
          database.exec('COMMIT')
          if (version() !== before)
            throw new StoreCopyError(
              'source_changed',
              `A command has written ${file} meanwhile. Nothing was copied: run the same command again.`,
            )
        },
        async close() {
          database.close()
          if (!hadLog) removeEmptyLog(file)
          claim.close()
        },
      }
    } catch (error) {
      database.close()
      throw error
    }
  })
}

/**
 * Begins the transaction of the copy, and creates file and schema where there are none.
 * @throws StoreCopyError target_in_use, target_not_empty, target_outdated; StoreOpenError
 */
export function openSqliteTarget(file: string, tables: readonly Table[] = []): Promise<CopyTarget> {
  makeFolder(dirname(file))
  return opening(file, 'target_in_use', async (claim) => {
    const isNew = !existsSync(file)
    makeForOwnerOfFolder(file)
    const database = new Database(file, { timeout: LOCK_PATIENCE_MS })
    const close = () => {
      const isCopied = !database.inTransaction
      database.close()
      if (isNew && !isCopied) removeDatabase(file)
      claim.close()
    }
    try {
      assertOurs(database)
      const version = schemaVersion(database)
      if (version > 0) assertVersion(version, SCHEMA_VERSION, 'target_outdated', file)
      database.pragma('journal_mode = WAL')
      database.pragma('synchronous = FULL')
      database.pragma('foreign_keys = ON')
      database.exec('BEGIN IMMEDIATE')
      migrate(database, tables)
      const side = sideOf(database)
      await assertEmpty(side.connection, tablesWith(tables))
      return {
        ...side,
        async insert({ name }, columns, rows) {
          const insert = database.prepare(
            `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${columns.map((column) => `@${column}`).join(', ')})`,
          )
          for (const row of rows) insert.run(row)
        },
        async commit() {
          database.exec('COMMIT')
        },
        async close() {
          close()
        },
      }
    } catch (error) {
      close()
      throw error
    }
  })
}

function sideOf(database: Database.Database) {
  const connection = database as Connection
  return {
    connection,
    read: storeReader(connection, TABLES),
    password: null,
    async columns({ name, key }: CopiedTable) {
      const listed = database
        .prepare<[string], string>('SELECT name FROM pragma_table_info(?)')
        .pluck()
        .all(name)
      // SQLite does not list the row number of a table.
      return listed.length > 0 ? [...new Set([...key, ...listed])] : []
    },
  }
}

/** Claims the file as a service does, so that none can serve from it meanwhile. */
async function opening<T>(
  file: string,
  codeIfServed: 'source_in_use' | 'target_in_use',
  open: (claim: Database.Database) => Promise<T>,
): Promise<T> {
  let claim: Database.Database | undefined
  try {
    claim = claimDatabase(file)
    return await open(claim)
  } catch (cause) {
    if (!claim && cause instanceof StoreOpenError)
      throw new StoreCopyError(
        codeIfServed,
        `${file} is in use: another Countersign serves from it. Stop that service first.`,
      )
    claim?.close()
    if (cause instanceof CodedError) throw cause
    throw unusable(cause, file)
  }
}

/** A read-only connection leaves an empty write-ahead log behind; SQLite removes it when a connection that may write is closed. */
function removeEmptyLog(file: string): void {
  try {
    const database = new Database(file, { timeout: 0 })
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
    database.close()
  } catch {
    // The next process that opens the database removes it.
  }
}
