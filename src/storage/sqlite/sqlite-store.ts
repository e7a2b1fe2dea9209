/** The Store on SQLite: one writing connection with grouped commits, one reading connection, both on the calling thread. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { isThere } from '../../config/is-there.js'
import { giveToOwnerOf, makeFolder, makeForOwnerOfFolder, moveIntoPlace } from '../../lib/durable-file.js'
import type { Connection, Statement } from '../connection.js'
import type { ServiceNode } from '../coordinator.js'
import { storeReader, storeTransaction } from '../statements.js'
import {
  AlreadyExecutedError,
  type CommitReport,
  readerWhoseErrors,
  SchemaOutdatedError,
  type Store,
  StoreCorruptError,
  StoreOpenError,
  type StoreReader,
  type StoreTransaction,
  StoreUnavailableError,
} from '../store.js'
import { removeDatabase, separateKeys } from './sqlite-backup.js'
import { SqliteCheckpointer } from './sqlite-checkpointer.js'
import { integrityIssues, isDamage } from './sqlite-integrity.js'
import { assertOurs, migrate, SCHEMA_VERSION, schemaVersion } from './sqlite-migrations.js'
import { SqlitePresence, sqliteServices } from './sqlite-presence.js'

/** Another process (the CLI, a backup tool) may hold the write lock: waiting inside SQLite would block this thread. */
const BUSY_TIMEOUT_MS = 5
/** Copied in one go, between which others get their turn. */
const BACKUP_PAGES = 100
const LOCK_PATIENCE_MS = 5000
const LOCK_RETRY_MS = 10
const CLAIM_PATIENCE_MS = 200
/** Pages of the tree's upper levels and of what was touched last, in KiB; SQLite's own 2,000 hold those of some thousand users. */
const CACHE_KIB = 32_768

interface Job {
  deadlineMs: number
  work: (tx: StoreTransaction) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

export class SqliteStore implements Store {
  readonly coordinator = null
  readonly schema = SCHEMA_VERSION
  readonly makesBackups = true
  isCorrupt = false
  readonly read: StoreReader
  readonly shared = null
  private readonly tx: StoreTransaction
  private queue: Job[] = []
  /** Set while a group is scheduled or running; `close` waits for it. */
  private flushing: Promise<void> | null = null
  private closed = false
  /** A commit has failed because of the disk or a lock, and `assertWritable` has not seen one succeed since. */
  private isFailing = false
  /** A user was erased and may still stand in the write-ahead log; after a crash nobody remembers, so the first thing is to cut it. */
  private erased = true
  private commitObserver: (report: CommitReport) => void = () => {}

  /** Prepared once: `exec` would compile them anew for every commit. */
  private readonly sql: Record<'begin' | 'savepoint' | 'release' | 'commit', Database.Statement>

  private constructor(
    private readonly writer: Database.Database,
    private readonly reader: Database.Database,
    private readonly claim: Database.Database | null,
    /** Where none is worth its thread, SQLite does it in the commits themselves. */
    private readonly checkpointer: SqliteCheckpointer | null,
    readonly presence: SqlitePresence | null,
  ) {
    this.sql = {
      begin: writer.prepare('BEGIN IMMEDIATE'),
      savepoint: writer.prepare('SAVEPOINT job'),
      release: writer.prepare('RELEASE job'),
      commit: writer.prepare('COMMIT'),
    }
    this.read = readerWhoseErrors(this.translate, storeReader(committedState(writer, reader)))
    this.tx = storeTransaction(writer as Connection, () => {
      this.erased = true
    })
    this.wipeLog()
  }

  /**
   * @param serving by the service, of which there is one a database; commands work beside it
   * @param migrating by the command that changes the schema, which needs the database for itself
   * @throws SchemaOutdatedError for the schema of an earlier version, unless `serving` or `migrating`
   * @throws StoreOpenError when the file is not a database of ours, of a newer version, damaged, out of reach, or served already
   */
  static open(file: string, { serving = false, migrating = false } = {}): SqliteStore {
    let writer: Database.Database | undefined
    let claim: Database.Database | null = null
    try {
      makeFolder(dirname(file))
      if (serving || migrating) claim = claimDatabase(file)
      const isNew = !existsSync(file)
      // The addon makes the file: where it does not load, no empty database is left behind.
      writer = new Database(file, { timeout: LOCK_PATIENCE_MS })
      if (isNew) giveToOwnerOf(dirname(file), file)
      // Before the first change: a file that is refused stays as it was.
      assertOurs(writer)
      if (!claim) assertCurrent(writer, file)
      writer.pragma('journal_mode = WAL')
      // better-sqlite3 builds WAL with synchronous=NORMAL, which may lose the last commits in a power cut.
      writer.pragma('synchronous = FULL')
      writer.pragma('foreign_keys = ON')
      // What is erased is overwritten with zeros, not only unlinked.
      writer.pragma('secure_delete = ON')
      writer.pragma(`cache_size = -${CACHE_KIB}`)
      migrate(writer)
      writer.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
      const reader = new Database(file, { readonly: true, timeout: BUSY_TIMEOUT_MS })
      return new SqliteStore(
        writer,
        reader,
        claim,
        serving ? new SqliteCheckpointer(writer) : null,
        serving ? new SqlitePresence(file) : null,
      )
    } catch (cause) {
      claim?.close()
      writer?.close()
      if (cause instanceof StoreOpenError || cause instanceof SchemaOutdatedError) throw cause
      // The addon itself does not load: nothing is wrong with the file.
      if (
        cause instanceof Error &&
        !writer &&
        !(cause instanceof Database.SqliteError) &&
        !('syscall' in cause)
      )
        throw cause
      throw new StoreOpenError(`Cannot use the database ${file}: ${obstacleOf(cause as Error, file)}`, {
        cause,
      })
    }
  }

  transaction<T>(
    work: (tx: StoreTransaction) => Promise<T>,
    deadlineMs = performance.now() + LOCK_PATIENCE_MS,
  ): Promise<T> {
    if (this.closed) return Promise.reject(new StoreUnavailableError('the store is closed'))
    return new Promise<T>((resolve, reject) => {
      this.queue.push({ work, deadlineMs, resolve: resolve as (value: unknown) => void, reject })
      this.flushing ??= this.flushSoon()
    })
  }

  async isHealthy(): Promise<boolean> {
    // A later success proves nothing: it may have used other pages of the file.
    if (this.isCorrupt) return false
    try {
      await this.read.tenantById('')
      if (this.isFailing) await this.assertWritable(performance.now() + BUSY_TIMEOUT_MS)
      return true
    } catch {
      return false
    }
  }

  async assertWritable(deadlineMs?: number): Promise<void> {
    try {
      // SQLite drops an UPDATE that leaves a row as it was; this it writes, though it changes nothing.
      const version = this.writer.pragma('user_version', { simple: true })
      await this.transaction(async () => void this.writer.pragma(`user_version = ${version}`), deadlineMs)
      this.isFailing = false
    } catch (error) {
      const { message } = ((error as Error).cause ?? error) as Error
      throw new StoreUnavailableError(`Cannot write the database ${this.writer.name}: ${message}`, {
        cause: error,
      })
    }
  }

  /** Remembers that the file is damaged, where SQLite says so. */
  private readonly translate = (error: unknown): unknown => {
    const told = translate(error, this.writer.name)
    if (told instanceof StoreCorruptError) this.isCorrupt = true
    return told
  }

  /** Waits a turn of the event loop, so that everything that this turn brought shares one commit and one fsync. */
  private async flushSoon(): Promise<void> {
    await new Promise(setImmediate)
    while (this.queue.length > 0) {
      const group = this.queue
      this.queue = []
      await this.commit(group)
    }
    this.flushing = null
  }

  private async commit(jobs: Job[]): Promise<void> {
    const settle: Array<() => void> = []
    let group = jobs
    try {
      group = await this.begin(jobs)
      if (group.length === 0) return
      const startedMs = performance.now()
      const isAlone = group.length === 1
      let transactions = 0
      for (const { work, resolve, reject } of group) {
        if (!isAlone) this.sql.savepoint.run()
        try {
          const value = await work(this.tx)
          if (!isAlone) this.sql.release.run()
          transactions++
          settle.push(() => resolve(value))
        } catch (error) {
          // A full disk rolls the whole transaction back by itself: the group fails, and with the reason.
          if (isAlone || !this.writer.inTransaction) throw error
          this.writer.exec('ROLLBACK TO job; RELEASE job')
          settle.push(() => reject(this.translate(error)))
        }
      }
      this.sql.commit.run()
      this.commitObserver({ durationMs: performance.now() - startedMs, transactions })
      if (this.erased) {
        // One that is under way would keep the log from being cut.
        await this.checkpointer?.idle()
        this.wipeLog()
      }
    } catch (error) {
      if (this.writer.inTransaction) this.writer.exec('ROLLBACK')
      const told = this.translate(error)
      if (told instanceof StoreUnavailableError) this.isFailing = true
      for (const { reject } of group) reject(told)
      return
    }
    for (const tell of settle) tell()
    this.checkpointer?.noteCommit()
  }

  /**
   * What was erased still stands in the write-ahead log until that is copied back and cut. A reader of another process may
   * hold it, or the disk be full: the erasure itself is committed, and the next commit tries again.
   */
  private wipeLog(): void {
    try {
      // A log that is held is no error to SQLite.
      const [{ busy }] = this.writer.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: 0 | 1 }]
      this.erased = busy === 1
    } catch {
      // Still to be done.
    }
  }

  /** Waits for the write lock, and tells those whose deadline passes meanwhile; resolves with the others. */
  private async begin(jobs: Job[]): Promise<Job[]> {
    for (let waiting = jobs; waiting.length > 0; ) {
      await this.checkpointer?.pause
      try {
        this.sql.begin.run()
        return waiting
      } catch (error) {
        if (!isBusy(error)) throw error
        waiting = this.refuseLate(waiting, error)
        this.queue = this.refuseLate(this.queue, error)
      }
      await sleep(LOCK_RETRY_MS)
    }
    return []
  }

  /** @returns those whose deadline has not passed */
  private refuseLate(jobs: Job[], error: unknown): Job[] {
    const now = performance.now()
    const late = jobs.filter(({ deadlineMs }) => deadlineMs <= now)
    if (late.length === 0) return jobs
    this.isFailing = true
    for (const { reject } of late) reject(this.translate(error))
    return jobs.filter((job) => !late.includes(job))
  }

  async backup(
    file: string,
    keysFile: string,
    onProgress?: (pages: number, totalPages: number) => void,
  ): Promise<{ subjects: number; keptKeysFile: string | null }> {
    const partial = `${file}.partial`
    const progress = ({ totalPages, remainingPages }: Database.BackupMetadata) => {
      onProgress?.(totalPages - remainingPages, totalPages)
      return BACKUP_PAGES
    }
    removeDatabase(partial)
    try {
      await this.reader.backup(partial, { progress }).catch((error) => {
        throw unwritable(error, file)
      })
      const separated = separateKeys(partial, keysFile)
      moveIntoPlace(partial, file)
      return separated
    } catch (error) {
      throw this.translate(error)
    } finally {
      removeDatabase(partial)
    }
  }

  /** Its waits are those of its lock, which have errors of their own. */
  hasBeenSilentSince(): boolean {
    return false
  }

  async services(): Promise<ServiceNode[]> {
    return sqliteServices(this.writer.name)
  }

  observeCommits(observer: (report: CommitReport) => void): void {
    this.commitObserver = observer
  }

  size(): { database: number; log: number } {
    const bytes = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
    return { database: bytes(this.writer.name), log: bytes(`${this.writer.name}-wal`) }
  }

  async check(): Promise<string[]> {
    const issues = integrityIssues(this.reader)
    // The rows of a damaged table cannot be compared.
    if (issues.length > 0) return issues
    const broken = this.reader.pragma('foreign_key_check') as Array<{ table: string }>
    return broken.map(({ table }) => `dangling foreign key in ${table}`)
  }

  async close(): Promise<void> {
    if (this.closed) return
    this.closed = true
    await this.flushing
    await this.checkpointer?.close()
    this.reader.close()
    this.writer.close()
    this.presence?.close()
    this.claim?.close()
  }
}

/** A file without tables is a new database. @throws SchemaOutdatedError */
function assertCurrent(database: Database.Database, file: string): void {
  const found = schemaVersion(database)
  if (found > 0 && found < SCHEMA_VERSION) throw new SchemaOutdatedError(file, found, SCHEMA_VERSION)
}

/** Only reads. @returns `found` is 0 where there is no database yet @throws StoreOpenError */
export function sqliteSchemas(file: string): { found: number; own: number } {
  if (!isThere(file)) return { found: 0, own: SCHEMA_VERSION }
  let database: Database.Database | undefined
  try {
    database = new Database(file, { readonly: true, fileMustExist: true, timeout: LOCK_PATIENCE_MS })
    assertOurs(database)
    return { found: schemaVersion(database), own: SCHEMA_VERSION }
  } catch (cause) {
    throw new StoreOpenError(`Cannot use the database ${file}: ${obstacleOf(cause as Error, file)}`, {
      cause,
    })
  } finally {
    database?.close()
  }
}

/**
 * An empty database beside it, locked until it is closed or the process ends, however it ends.
 * @throws StoreOpenError where another service has it
 */
export function claimDatabase(file: string): Database.Database {
  // A command that asks whether somebody serves reads this file for a moment.
  makeForOwnerOfFolder(`${file}-serving`)
  const claim = new Database(`${file}-serving`, { timeout: CLAIM_PATIENCE_MS })
  try {
    claim.exec('BEGIN EXCLUSIVE')
    return claim
  } catch (error) {
    claim.close()
    if (!isBusy(error)) throw error
    throw new StoreOpenError(
      `Cannot use the database ${file}: another Countersign serves from it. Stop that one first; commands may run beside it.`,
      { cause: error },
    )
  }
}

/**
 * What is committed, from the connection that committed it: the other one's cache is empty after every commit. While a
 * transaction is open, that one answers.
 */
function committedState(writer: Database.Database, reader: Database.Database): Connection {
  const either = <P extends unknown[], Row>(
    own: Statement<P, Row>,
    other: Statement<P, Row>,
  ): Statement<P, Row> => ({
    get: (...parameters) => (writer.inTransaction ? other : own).get(...parameters),
    all: (...parameters) => (writer.inTransaction ? other : own).all(...parameters),
    run: (...parameters) => other.run(...parameters),
    pluck: () => either(own.pluck(), other.pluck()),
  })
  return {
    prepare: <P extends unknown[], Row>(sql: string) =>
      either<P, Row>((writer as Connection).prepare(sql), (reader as Connection).prepare(sql)),
  }
}

/** SQLite says of a folder in which it can make no log only that the file does not open. */
export function obstacleOf(cause: Error, file: string): string {
  if (isDamage(cause)) return `${cause.message}; docs/operations/runbooks.md#database_corrupt says what to do`
  if (!(cause instanceof Database.SqliteError) || !/^SQLITE_(CANTOPEN|READONLY)/.test(cause.code))
    return cause.message
  const obstacle = [dirname(file), file].find((path) => existsSync(path) && !isWritable(path))
  return obstacle ? `${obstacle} is not writable for this user (${cause.message})` : cause.message
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')
}

const UNAVAILABLE = /^SQLITE_(BUSY|LOCKED|FULL|READONLY|IOERR|CANTOPEN)/

/** Where a file of a backup cannot be made, for want of permission or room. */
function unwritable(error: unknown, file: string): unknown {
  if (!(error instanceof Database.SqliteError) || !UNAVAILABLE.test(error.code)) return error
  return new StoreUnavailableError(`Cannot write ${file}: ${error.message} (${error.code})`, { cause: error })
}

/** SQLite's own errors become ours here; anything else is the caller's and passes through. */
function translate(error: unknown, file: string): unknown {
  if (error instanceof Database.SqliteError && isDamage(error))
    return new StoreCorruptError(`SQLite: ${error.code} ${error.message}`, { cause: error })
  if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_READONLY'))
    return new StoreUnavailableError(`Cannot write ${file}: ${error.message} (${error.code})`, {
      cause: error,
    })
  if (error instanceof Database.SqliteError && UNAVAILABLE.test(error.code))
    return new StoreUnavailableError(`SQLite: ${error.code}`, { cause: error })
  // Of a kept response in the place of one that has not expired.
  if (error instanceof Database.SqliteError && /^NOT NULL .* idempotency\./.test(error.message))
    return new AlreadyExecutedError()
  return error
}
