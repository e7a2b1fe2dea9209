/** The Store on SQLite: one connection that writes in groups, and one that reads, both on the calling thread. */
import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { isThere } from '../../config/is-there.js'
import { giveToOwnerOf, makeFolder } from '../../lib/durable-file.js'
import type { Connection, ReadConnection } from '../connection.js'
import type { ServiceNode } from '../coordinator.js'
import { tablesWith } from '../endings.js'
import { storeReader } from '../statements/statements.js'
import {
  type CommitReport,
  type Inspection,
  type OpenOptions,
  SchemaOutdatedError,
  type Scope,
  type Store,
  StoreCorruptError,
  StoreOpenError,
  type StoreReader,
  type StoreTransaction,
  StoreUnavailableError,
} from '../store.js'
import type { Table } from '../table.js'
import { RememberedCallers } from './remembered-callers.js'
import { SqliteCheckpointer } from './sqlite-checkpointer.js'
import { claimDatabase } from './sqlite-claim.js'
import { translateSqlite, unusable } from './sqlite-errors.js'
import { integrityIssues } from './sqlite-integrity.js'
import { removeUnfinished } from './sqlite-leftovers.js'
import { assertOurs, migrate, SCHEMA_VERSION, schemaVersion } from './sqlite-migrations.js'
import { peek } from './sqlite-peek.js'
import { SqlitePresence, sqliteServices } from './sqlite-presence.js'
import { SqliteWriter } from './sqlite-writer.js'

/** Short, because waiting inside SQLite for another process (a command, a backup tool) blocks this thread. */
const BUSY_TIMEOUT_MS = 5
/** How long opening waits for a lock of another process. */
const LOCK_PATIENCE_MS = 5000
/** The page cache, in KiB: the upper levels of the trees and the pages used last. SQLite's default of 2,000 serves some thousand users. */
const CACHE_KIB = 32_768

export class SqliteStore implements Store {
  readonly coordinator = null
  readonly schema = SCHEMA_VERSION
  readonly makesBackups = true
  isCorrupt = false
  readonly read: StoreReader
  readonly shared = null
  private readonly writer: SqliteWriter
  private closed = false

  /** @param checkpointer null for a command, whose commits do it themselves: a thread of its own would not pay */
  private constructor(
    private readonly database: Database.Database,
    private readonly reader: Database.Database,
    private readonly claim: Database.Database | null,
    private readonly checkpointer: SqliteCheckpointer | null,
    readonly presence: SqlitePresence | null,
    readonly tables: readonly Table[],
  ) {
    const committed = storeReader(committedState(database, reader, this.translate), tables)
    const callers = new RememberedCallers(database, committed.apiKeyByHash)
    this.writer = new SqliteWriter(
      database,
      callers.watching(database as Connection),
      checkpointer,
      this.translate,
      tables,
    )
    const apiKeyByHash: StoreReader['apiKeyByHash'] = (hash, now) =>
      callers.find(hash, now).catch((error) => {
        throw this.translate(error)
      })
    this.read = { ...committed, apiKeyByHash }
  }

  /**
   * @param options a migration needs the database for itself, as a service does
   * @throws SchemaOutdatedError for the schema of an earlier version, unless `serving` or `migrating`
   * @throws StoreOpenError when the file is another application's, a newer version's, damaged, out of reach, or served already
   */
  static open(
    file: string,
    { serving = false, migrating = false, tables = [] }: OpenOptions = {},
  ): SqliteStore {
    let writer: Database.Database | undefined
    let claim: Database.Database | null = null
    try {
      makeFolder(dirname(file))
      if (serving || migrating) claim = claimDatabase(file)
      if (serving) removeUnfinished(file)
      const isNew = !existsSync(file)
      // The addon creates the file, so that no empty database is left behind when it does not load.
      writer = new Database(file, { timeout: LOCK_PATIENCE_MS })
      if (isNew) giveToOwnerOf(dirname(file), file)
      // Before the first change, so that a file that is refused stays as it was.
      assertOurs(writer)
      if (!claim) assertCurrent(writer, file)
      writer.pragma('journal_mode = WAL')
      // better-sqlite3 builds WAL with synchronous=NORMAL, which may lose the last commits in a power cut.
      writer.pragma('synchronous = FULL')
      writer.pragma('foreign_keys = ON')
      // Overwrites deleted rows with zeros instead of only unlinking them.
      writer.pragma('secure_delete = ON')
      writer.pragma(`cache_size = -${CACHE_KIB}`)
      migrate(writer, tables)
      writer.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
      const reader = new Database(file, { readonly: true, timeout: BUSY_TIMEOUT_MS })
      return new SqliteStore(
        writer,
        reader,
        claim,
        serving ? new SqliteCheckpointer(writer) : null,
        serving ? new SqlitePresence(file) : null,
        tablesWith(tables),
      )
    } catch (cause) {
      claim?.close()
      writer?.close()
      if (cause instanceof StoreOpenError || cause instanceof SchemaOutdatedError) throw cause
      // When the addon itself does not load, nothing is wrong with the file.
      if (
        cause instanceof Error &&
        !writer &&
        !(cause instanceof Database.SqliteError) &&
        !('syscall' in cause)
      )
        throw cause
      // Statements that are prepared here report their errors as those of calls.
      throw unusable(cause instanceof StoreUnavailableError ? cause.cause : cause, file)
    }
  }

  /** @param _scope without effect: transactions run one after the other */
  transaction<T>(_scope: Scope, work: (tx: StoreTransaction) => Promise<T>, deadlineMs?: number): Promise<T> {
    return this.writer.transaction(work, deadlineMs)
  }

  async isHealthy(): Promise<boolean> {
    // A later success proves nothing: it may have read other pages of the file.
    if (this.isCorrupt) return false
    try {
      await this.read.tenantById('')
      if (this.writer.isFailing) await this.assertWritable(performance.now() + BUSY_TIMEOUT_MS)
      return true
    } catch {
      return false
    }
  }

  async assertWritable(deadlineMs?: number): Promise<void> {
    try {
      // SQLite skips an UPDATE that leaves a row as it was, but writes this page although the value stays the same.
      const version = this.database.pragma('user_version', { simple: true })
      await this.writer.transaction(
        async () => void this.database.pragma(`user_version = ${version}`),
        deadlineMs,
      )
      this.writer.isFailing = false
    } catch (error) {
      const { message } = ((error as Error).cause ?? error) as Error
      throw new StoreUnavailableError(`Cannot write the database ${this.database.name}: ${message}`, {
        cause: error,
      })
    }
  }

  /** Remembers when SQLite reports that the file is damaged. */
  private readonly translate = (error: unknown): unknown => {
    const translated = translateSqlite(error, this.database.name)
    if (translated instanceof StoreCorruptError) this.isCorrupt = true
    return translated
  }

  /** Always false: SQLite is a library in this process, and waiting for its lock ends in an error. */
  hasBeenSilentSince(): boolean {
    return false
  }

  /** Does nothing: SQLite's calls end without help. */
  leave(): void {}

  async services(): Promise<ServiceNode[]> {
    return sqliteServices(this.database.name)
  }

  observeCommits(observer: (report: CommitReport) => void): void {
    this.writer.onCommit = observer
  }

  size(): { database: number; log: number } {
    const bytes = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
    return { database: bytes(this.database.name), log: bytes(`${this.database.name}-wal`) }
  }

  async check(): Promise<string[]> {
    const issues = integrityIssues(this.reader)
    // Foreign keys cannot be checked in damaged tables.
    if (issues.length > 0) return issues
    const broken = this.reader.pragma('foreign_key_check') as Array<{ table: string }>
    return broken.map(({ table }) => `dangling foreign key in ${table}`)
  }

  async close(): Promise<void> {
    if (this.closed) return
    this.closed = true
    await this.writer.close()
    await this.checkpointer?.close()
    this.reader.close()
    this.database.close()
    this.presence?.close()
    this.claim?.close()
  }
}

/** Accepts a file without tables, which is a new database. @throws SchemaOutdatedError */
function assertCurrent(database: Database.Database, file: string): void {
  const found = schemaVersion(database)
  if (found > 0 && found < SCHEMA_VERSION) throw new SchemaOutdatedError(file, found, SCHEMA_VERSION)
}

/** @throws StoreOpenError */
export function inspectSqlite(file: string): Inspection {
  const own = SCHEMA_VERSION
  if (!isThere(file)) return { found: 0, own, masterKeys: [] }
  try {
    return peek(file, (database) => {
      assertOurs(database)
      const found = schemaVersion(database)
      const keys = 'SELECT master_key_id FROM keyring ORDER BY created_at'
      return { found, own, masterKeys: found < own ? [] : database.prepare<[], string>(keys).pluck().all() }
    })
  } catch (cause) {
    throw unusable(cause, file)
  }
}

/**
 * Reads committed state over the writing connection, because the reading connection's cache is empty after every commit. While a
 * transaction is open, the reading connection answers.
 */
function committedState(
  writer: Database.Database,
  reader: Database.Database,
  translate: (error: unknown) => unknown,
): ReadConnection {
  const translating = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw translate(error)
    }
  }
  return {
    prepare: <P extends unknown[], Row>(sql: string) => {
      const [own, other] = translating(() =>
        [writer, reader].map((one) => (one as ReadConnection).prepare<P, Row>(sql)),
      )
      const current = () => (writer.inTransaction ? other! : own!)
      return {
        get: (...parameters: P) => translating(() => current().get(...parameters)),
        all: (...parameters: P) => translating(() => current().all(...parameters)),
      }
    },
  }
}
