/** A SQLite database as one end of a copy. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { makeFolder, makeForOwnerOfFolder } from '../../lib/durable-file.js'
import { CodedError } from '../../lib/errors.js'
import type { Connection } from '../connection.js'
import { COPIED_TABLES, type CopiedTable, TablePages } from '../copied-tables.js'
import { type CopyOrigin, type CopySource, type CopyTarget, StoreCopyError } from '../copy-side.js'
import { storeReader } from '../statements.js'
import { StoreOpenError } from '../store.js'
import {
  APPLICATION_ID,
  assertOurs,
  migrate,
  SCHEMA_VERSION,
  schemaVersion,
  UNFINISHED_APPLICATION_ID,
} from './sqlite-migrations.js'
import { claimDatabase, obstacleOf } from './sqlite-store.js'

/** A command may be writing beside us. */
const LOCK_PATIENCE_MS = 5000

/** No service begins to serve from `file` until it is closed. @throws StoreCopyError; StoreOpenError */
export async function openSqliteSource(file: string): Promise<CopySource> {
  if (!existsSync(file)) throw new StoreCopyError('source_missing', `There is no database at ${file}.`)
  return opening(file, 'source_in_use', (claim) => {
    const hadLog = existsSync(`${file}-wal`)
    const database = new Database(file, { readonly: true, timeout: LOCK_PATIENCE_MS })
    try {
      assertOurs(database)
      assertVersion(schemaVersion(database), 'source_outdated', file)
      const version = () => database.pragma('data_version', { simple: true })
      // Asked before: what is committed in between is told as a change, and not missed.
      const before = version()
      database.exec('BEGIN')
      // The first look makes what is seen from then on.
      database.prepare('SELECT count(*) FROM sqlite_schema').get()
      return {
        ...sideOf(database),
        epochs: null,
        async assertStill() {
          database.exec('COMMIT')
          if (version() !== before)
            throw new StoreCopyError(
              'source_changed',
              `A command has written ${file} meanwhile. The target stays unfinished: run the same command again.`,
            )
        },
        async close() {
          database.close()
          if (!hadLog) takeLogAway(file)
          claim.close()
        },
      }
    } catch (error) {
      database.close()
      throw error
    }
  })
}

/** Makes the file where there is none, and the schema with `begin`. @throws StoreCopyError; StoreOpenError */
export async function openSqliteTarget(file: string): Promise<CopyTarget> {
  makeFolder(dirname(file))
  return opening(file, 'target_in_use', (claim) => {
    makeForOwnerOfFolder(file)
    const database = new Database(file, { timeout: LOCK_PATIENCE_MS })
    try {
      const isUnfinished = () =>
        database.pragma('application_id', { simple: true }) === UNFINISHED_APPLICATION_ID
      if (!isUnfinished()) assertOurs(database)
      const isNew = schemaVersion(database) === 0
      if (!isNew) assertVersion(schemaVersion(database), 'target_outdated', file)
      database.pragma('journal_mode = WAL')
      database.pragma('synchronous = FULL')
      database.pragma('foreign_keys = ON')
      database.pragma('secure_delete = ON')
      if (isNew) migrate(database)
      const side = sideOf(database)
      return {
        ...side,
        async state() {
          if (isUnfinished()) {
            const { mark } = database.prepare<[], { mark: string }>('SELECT mark FROM unfinished_copy').get()!
            return { kind: 'unfinished', mark }
          }
          const held = await Promise.all(COPIED_TABLES.map((table) => side.tables.hasRows(table)))
          return { kind: held.includes(true) ? 'taken' : 'empty' }
        },
        async begin({ mark, command }: CopyOrigin) {
          database
            .transaction(() => {
              database.exec('CREATE TABLE unfinished_copy (mark TEXT NOT NULL, command TEXT NOT NULL) STRICT')
              database.prepare('INSERT INTO unfinished_copy (mark, command) VALUES (?, ?)').run(mark, command)
              database.pragma(`application_id = ${UNFINISHED_APPLICATION_ID}`)
            })
            .immediate()
        },
        async insert({ name }, columns, rows) {
          const insert = database.prepare(
            `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${columns.map((column) => `@${column}`).join(', ')})`,
          )
          database.transaction(() => {
            for (const row of rows) insert.run(row)
          })()
        },
        async empty() {
          database
            .transaction(() => {
              const guard = database
                .prepare<[], string>("SELECT sql FROM sqlite_schema WHERE name = 'audit_no_delete'")
                .pluck()
                .get()!
              database.exec('DROP TRIGGER audit_no_delete')
              for (const { name } of COPIED_TABLES.toReversed()) database.exec(`DELETE FROM ${name}`)
              database.exec(guard)
            })
            .immediate()
        },
        async finish() {
          database
            .transaction(() => {
              database.exec('DROP TABLE unfinished_copy')
              database.pragma(`application_id = ${APPLICATION_ID}`)
            })
            .immediate()
        },
        async close() {
          database.close()
          claim.close()
        },
      }
    } catch (error) {
      database.close()
      throw error
    }
  })
}

function sideOf(database: Database.Database) {
  return {
    tables: new TablePages(database as Connection),
    read: storeReader(database as Connection),
    password: null,
    async columns({ name, key }: CopiedTable) {
      const listed = database
        .prepare<[string], string>('SELECT name FROM pragma_table_info(?)')
        .pluck()
        .all(name)
      // The number of a row is listed nowhere.
      return [...new Set([...key, ...listed])]
    },
  }
}

/** Under the claim of a service. */
function opening<T>(
  file: string,
  codeIfServed: 'source_in_use' | 'target_in_use',
  open: (claim: Database.Database) => T,
): T {
  let claim: Database.Database | undefined
  try {
    claim = claimDatabase(file)
    return open(claim)
  } catch (cause) {
    if (!claim && cause instanceof StoreOpenError)
      throw new StoreCopyError(
        codeIfServed,
        `${file} is in use: another Countersign serves from it. Stop that one first.`,
      )
    claim?.close()
    if (cause instanceof CodedError) throw cause
    throw new StoreOpenError(`Cannot use the database ${file}: ${obstacleOf(cause as Error, file)}`, {
      cause,
    })
  }
}

function assertVersion(version: number, code: 'source_outdated' | 'target_outdated', file: string): void {
  if (version !== SCHEMA_VERSION)
    throw new StoreCopyError(
      code,
      `${file} has schema ${version}, this Countersign schema ${SCHEMA_VERSION}: bring it up to date with \`countersign migrate\` first.`,
    )
}

/** A reader leaves an empty log behind, which SQLite removes after whoever may write. */
function takeLogAway(file: string): void {
  try {
    const database = new Database(file, { timeout: 0 })
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
    database.close()
  } catch {
    // Whoever opens it next does it.
  }
}
