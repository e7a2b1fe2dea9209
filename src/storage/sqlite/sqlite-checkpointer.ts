/** Copies the write-ahead log back into the database on a thread of its own, so that no commit stands still for it. */
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type Database from 'better-sqlite3'

/** Of 4 KiB, in the log: so many are copied back at once, SQLite's own measure. */
const DUE_PAGES = 1000
/** Asking for the length of the log takes 5 µs, which is worth saving: a verify adds 14 pages. */
const COMMITS_PER_LOOK = 16
/** Where the thread does not get there, or there is none, the writing connection does it itself at the end of a commit. */
const OVERDUE_PAGES = 4 * DUE_PAGES
/** Each copies what was committed during the one before, which is little after the first. */
const PASSES_BESIDE_COMMITS = 3

/** In pages. */
interface LogState {
  log: number
  checkpointed: number
}

export class SqliteCheckpointer {
  /** Set while a pass is made that nothing may be committed beside. */
  pause: Promise<unknown> | null = null
  private readonly logState: Database.Statement<[], LogState>
  private worker: Worker | null = null
  /** Set while passes are made; never rejects. */
  private round: Promise<void> | null = null
  private commits = 0
  /** The length of the log after the last round, or 0 when it has begun anew since. */
  private seenPages = 0

  constructor(private readonly writer: Database.Database) {
    writer.pragma(`wal_autocheckpoint = ${OVERDUE_PAGES}`)
    this.logState = writer.prepare('PRAGMA wal_checkpoint(NOOP)')
  }

  /** To be told after every commit. */
  noteCommit(): void {
    if (++this.commits % COMMITS_PER_LOOK !== 0 || this.round) return
    const { log } = this.readLog()
    if (log < this.seenPages) this.seenPages = 0
    // A reader of another process may keep the log from beginning anew: then it is tried again when it has grown by as much.
    if (log - this.seenPages < DUE_PAGES) return
    this.round = this.copyBack()
  }

  /** Nothing is being copied, nor will be before the next commit. */
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
      // The log begins anew only when nothing of it is left to copy, and under load a commit comes in between every time.
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
      // On a failing disk, on which nothing can be copied either.
      return { log: 0, checkpointed: 0 }
    }
  }

  /** @returns false when the thread has failed; the next round makes a new one */
  private async pass(): Promise<boolean> {
    try {
      this.worker ??= this.start()
      const { worker } = this
      // Whoever waits for it must not be the last thing that the process does.
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
    // Options of the process may be for its main thread alone.
    const worker = new Worker(filename, { workerData: this.writer.name, execArgv: [] })
    worker.on('error', () => {
      this.worker = null
    })
    return worker
  }
}
