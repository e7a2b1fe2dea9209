/** Copies the write-ahead log back into the database on a thread of its own, so that no commit waits for it. */
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type Database from 'better-sqlite3'

/** Number of pages of 4 KiB in the log at which it is copied back; SQLite's own default. */
const DUE_PAGES = 1000
/** Number of commits between two looks at the length of the log: a look takes 5 µs, and a verify adds 14 pages. */
const COMMITS_PER_CHECK = 16
/** At this length the writing connection copies the log back at the end of a commit, because the thread is too slow or missing. */
const OVERDUE_PAGES = 4 * DUE_PAGES
/** Each pass copies the pages committed during the one before, which are few after the first. */
const PASSES_BESIDE_COMMITS = 3

/** Lengths in pages. */
interface LogState {
  log: number
  checkpointed: number
}

export class SqliteCheckpointer {
  /** Set during a pass in which nothing may be committed. */
  pause: Promise<unknown> | null = null
  private readonly logState: Database.Statement<[], LogState>
  private worker: Worker | null = null
  /** Set during a round of passes; never rejects. */
  private round: Promise<void> | null = null
  private commits = 0
  /** Length of the log after the last round, or 0 when the log has been restarted since. */
  private seenPages = 0

  constructor(private readonly writer: Database.Database) {
    writer.pragma(`wal_autocheckpoint = ${OVERDUE_PAGES}`)
    this.logState = writer.prepare('PRAGMA wal_checkpoint(NOOP)')
  }

  /** Has to be called after every commit. */
  noteCommit(): void {
    if (++this.commits % COMMITS_PER_CHECK !== 0 || this.round) return
    const { log } = this.readLog()
    if (log < this.seenPages) this.seenPages = 0
    // A reader in another process may keep the log from restarting: then a round is tried again when the log has grown by as much.
    if (log - this.seenPages < DUE_PAGES) return
    this.round = this.copyBack()
  }

  /** Resolves when nothing is being copied, nor will be before the next commit. */
  async idle(): Promise<void> {
    await this.round
  }

  async close(): Promise<void> {
    await this.round
    await this.worker?.terminate()
  }

  private async copyBack(): Promise<void> {
    try {
      for (let pass = 0; pass < PASSES_BESIDE_COMMITS; pass++) {
        if (!(await this.pass()) || this.isCopied()) return
      }
      // The log restarts only when all of it was copied back; under load there is a commit in between every time.
      this.pause = this.pass()
      await this.pause
    } finally {
      this.pause = null
      this.seenPages = this.readLog().log
      this.round = null
    }
  }

  private isCopied(): boolean {
    const { log, checkpointed } = this.readLog()
    return log === checkpointed || log < DUE_PAGES
  }

  private readLog(): LogState {
    try {
      return this.logState.get()!
    } catch {
      // The disk is failing, so nothing can be copied either.
      return { log: 0, checkpointed: 0 }
    }
  }

  /** @returns false when the thread has failed; the next round starts a new one */
  private async pass(): Promise<boolean> {
    try {
      this.worker ??= this.start()
      const { worker } = this
      // The process must stay alive until the pass ends.
      worker.ref()
      worker.postMessage(null)
      await once(worker, 'message')
      worker.unref()
      return true
    } catch {
      return false
    }
  }

  private start(): Worker {
    const filename = createRequire(import.meta.url).resolve('#sqlite-checkpoint-worker')
    // Options of the process may be valid only for its main thread.
    const worker = new Worker(filename, { workerData: this.writer.name, execArgv: [] })
    worker.on('error', () => {
      this.worker = null
    })
    return worker
  }
}
