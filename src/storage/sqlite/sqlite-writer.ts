/**
 * Group commit on SQLite: transactions that arrive in one turn of the event loop, or while a commit is under way, share one commit
 * and one fsync. There is one writing connection, on the calling thread.
 *
 * A job is the work of one caller. Its states:
 *
 *     queued -> waiting for the write lock -> running -> done -> committed: resolves
 *                  |                             |        |
 *                  | deadline has passed         | throws | COMMIT fails, or the disk is full
 *                  v                             v        v
 *               rejected                   rolled back   rolled back with the whole group
 *                                          job rejects    all of its jobs reject
 *
 * Steps of a group, and what is durable after each:
 *
 * 1. `BEGIN IMMEDIATE`. Another process (a command, a backup tool) may hold the lock: tried every LOCK_RETRY_MS, and jobs whose
 *    deadline passes meanwhile reject. Nothing is durable.
 * 2. Each job runs to its end before the next one begins, in a savepoint of its own. A group of one needs no savepoint. Nothing is durable.
 * 3. `COMMIT` writes the frames to the write-ahead log and syncs it (`synchronous = FULL`). Afterwards all jobs of the group are durable;
 *    before, none is. A kill or a power cut within this step leaves all or none: SQLite ignores frames without a commit mark.
 * 4. When a job erased a user, the log is copied back and cut, so that the log does not keep the user's data either. A kill before this step
 *    leaves them in the log; `wipeLog` runs at the next start.
 * 5. The callers are resolved. A kill between 3 and 5 leaves durable effects whose callers got no answer: they ask again with the same
 *    idempotency key, and get the kept response.
 *
 * SQLite recovers the file when it is next opened.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import type { Connection } from '../connection.js'
import { storeTransaction } from '../statements/statements.js'
import { type CommitReport, type StoreTransaction, StoreUnavailableError } from '../store.js'
import type { Table } from '../table.js'
import type { SqliteCheckpointer } from './sqlite-checkpointer.js'
import { isBusy } from './sqlite-errors.js'

/** How long a job waits for the write lock when its caller sets no deadline. */
const LOCK_PATIENCE_MS = 5000
const LOCK_RETRY_MS = 10

interface Job {
  /** On the axis of `performance.now()`. */
  deadlineMs: number
  work: (tx: StoreTransaction) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

export class SqliteWriter {
  /** Whether a commit has failed because of the disk or a lock; the owner resets it once a write succeeds. */
  isFailing = false
  onCommit: (report: CommitReport) => void = () => {}
  private readonly tx: StoreTransaction
  private queue: Job[] = []
  /** Set while a group is scheduled or running; `close` waits for it. */
  private flushing: Promise<void> | null = null
  private closed = false
  /** Whether the write-ahead log may still hold an erased user. True at the start, because a crash may have come before the wipe. */
  private mustWipeLog = true

  /** Prepared once: `exec` would compile them for every commit. */
  private readonly sql: Record<'begin' | 'savepoint' | 'release' | 'commit', Database.Statement>

  /**
   * @param statements the same connection, by which jobs read and write
   * @param checkpointer null to let SQLite checkpoint within its commits
   * @param translate makes an error of the store from one of SQLite
   * @param tables all, those of features included
   */
  constructor(
    private readonly database: Database.Database,
    statements: Connection,
    private readonly checkpointer: SqliteCheckpointer | null,
    private readonly translate: (error: unknown) => unknown,
    tables: readonly Table[],
  ) {
    this.sql = {
      begin: database.prepare('BEGIN IMMEDIATE'),
      savepoint: database.prepare('SAVEPOINT job'),
      release: database.prepare('RELEASE job'),
      commit: database.prepare('COMMIT'),
    }
    this.tx = storeTransaction(
      statements,
      () => {
        this.mustWipeLog = true
      },
      tables,
    )
    this.wipeLog()
  }

  /** Queues a job. @throws StoreUnavailableError and what `work` throws, as a rejection */
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

  /** Refuses new jobs, and waits for those that are queued. */
  async close(): Promise<void> {
    this.closed = true
    await this.flushing
  }

  /** Waits one turn of the event loop, so that all jobs of the present turn share one commit and one fsync. */
  private async flushSoon(): Promise<void> {
    await new Promise(setImmediate)
    while (this.queue.length > 0) {
      const group = this.queue
      this.queue = []
      await this.commit(group)
    }
    this.flushing = null
  }

  /** Takes a group through the steps above. Never rejects: each job gets its own result. */
  private async commit(jobs: Job[]): Promise<void> {
    let group = jobs
    try {
      group = await this.begin(jobs)
      if (group.length === 0) return
      const startedMs = performance.now()
      const { notifications, transactions } = await this.run(group)
      this.sql.commit.run()
      this.onCommit({ durationMs: performance.now() - startedMs, transactions })
      if (this.mustWipeLog) {
        // A checkpoint that is under way would keep the log from being cut.
        await this.checkpointer?.idle()
        this.wipeLog()
      }
      for (const notify of notifications) notify()
    } catch (error) {
      if (this.database.inTransaction) this.database.exec('ROLLBACK')
      const translated = this.translate(error)
      if (translated instanceof StoreUnavailableError) this.isFailing = true
      for (const { reject } of group) reject(translated)
      return
    }
    this.checkpointer?.noteCommit()
  }

  /**
   * Step 2.
   * @returns a function for each job that gives its caller the result, to be called after the commit
   * @throws the error that fails the whole group
   */
  private async run(group: Job[]): Promise<{ notifications: Array<() => void>; transactions: number }> {
    const notifications: Array<() => void> = []
    const isOnlyJob = group.length === 1
    let transactions = 0
    for (const { work, resolve, reject } of group) {
      if (!isOnlyJob) this.sql.savepoint.run()
      try {
        const value = await work(this.tx)
        if (!isOnlyJob) this.sql.release.run()
        transactions++
        notifications.push(() => resolve(value))
      } catch (error) {
        // On a full disk SQLite rolls the whole transaction back: then the group fails, for that reason.
        if (isOnlyJob || !this.database.inTransaction) throw error
        this.database.exec('ROLLBACK TO job; RELEASE job')
        notifications.push(() => reject(this.translate(error)))
      }
    }
    return { notifications, transactions }
  }

  /**
   * Copies the write-ahead log back and cuts it (step 4). A reader in another process may hold the log, or the disk may be full: the
   * erasure itself is committed, and the next commit tries again.
   */
  private wipeLog(): void {
    try {
      // SQLite reports a log that is held as busy, without an error.
      const [{ busy }] = this.database.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: 0 | 1 }]
      this.mustWipeLog = busy === 1
    } catch {
      // The next commit tries again.
    }
  }

  /** Step 1. @returns the jobs whose deadline had not passed when the lock was taken */
  private async begin(jobs: Job[]): Promise<Job[]> {
    for (let waiting = jobs; waiting.length > 0; ) {
      await this.checkpointer?.pause
      try {
        this.sql.begin.run()
        return waiting
      } catch (error) {
        if (!isBusy(error)) throw error
        waiting = this.rejectExpired(waiting, error)
        this.queue = this.rejectExpired(this.queue, error)
      }
      await sleep(LOCK_RETRY_MS)
    }
    return []
  }

  /** @returns the jobs whose deadline has not passed */
  private rejectExpired(jobs: Job[], error: unknown): Job[] {
    const now = performance.now()
    const expired = jobs.filter(({ deadlineMs }) => deadlineMs <= now)
    if (expired.length === 0) return jobs
    this.isFailing = true
    for (const { reject } of expired) reject(this.translate(error))
    return jobs.filter((job) => !expired.includes(job))
  }
}
