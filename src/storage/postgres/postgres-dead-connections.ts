/**
 * Finds connections that are lost without a sign: after a network was gone for a while, or an answer on its way, nobody tells. Of one
 * that has been silent for long the server is asked, over a connection made for it, whether it is at work there.
 */
import type { QueryConfig, QueryResult } from 'pg'

const SILENT_MS = 1000
const POLL_MS = 500
/** Longer than between two looks: while one is on its way into nothing, the next one may come through. */
const ANSWER_MS = 2000
/** A process that ends waits no longer for an answer, nor for the other end to hang up. */
const LAST_ANSWER_MS = 2000

/** Over a new connection, which must be made and answered within this time. */
export type QueryApart = (query: QueryConfig, timeoutMs: number) => Promise<QueryResult>

/** What is at work, or has answered so short a time ago that it may be on its way. `idle in transaction` is idle, too. */
const WORKING = `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1::int[]) AND NOT (
  (coalesce(state, '') LIKE 'idle%' OR wait_event_type = 'Client') AND state_change < clock_timestamp() - interval '0.5 s')`

export class DeadConnectionDetector {
  /** When a connection was last found silent. */
  lastSilentMs = Number.NEGATIVE_INFINITY
  private readonly connections = new Set<WatchedConnection>()
  private isLeaving = false
  private hasGivenUp = false
  private readonly timer: NodeJS.Timeout

  constructor(private readonly queryApart: QueryApart) {
    this.timer = setInterval(() => void this.poll(), POLL_MS).unref()
  }

  /** @param drop makes whoever waits for the connection learn that it is lost */
  watch(drop: () => void): WatchedConnection {
    const connection = new WatchedConnection(drop, () => this.connections.delete(connection))
    this.connections.add(connection)
    // Once it is being made.
    if (this.hasGivenUp) setImmediate(drop)
    return connection
  }

  /** The process is to end: from here on a server that says nothing is given up, whatever was to be asked of it. */
  leave(): void {
    this.isLeaving = true
  }

  /** All goodbyes are said; those that are not returned would keep the process. */
  stop(): void {
    clearInterval(this.timer)
    setTimeout(() => this.giveUp(), LAST_ANSWER_MS).unref()
  }

  /** Drops all connections, and those that are begun from now on. */
  private giveUp(): void {
    this.hasGivenUp = true
    for (const { drop } of this.connections) drop()
  }

  /** Never rejects. */
  private async poll(): Promise<void> {
    const silent = [...this.connections].filter((one) => one.silentMs() > SILENT_MS)
    if (silent.length === 0) return
    this.lastSilentMs = performance.now()
    if (this.isLeaving && silent.some((one) => one.silentMs() > LAST_ANSWER_MS)) {
      this.giveUp()
      return
    }
    const heard = new Map(silent.map((one) => [one, one.heard]))
    const pids = silent.map(({ pid }) => pid).filter((pid) => pid !== null)
    try {
      const { rows } = await this.queryApart({ text: WORKING, values: [pids] }, ANSWER_MS)
      const working = new Set(rows.map(({ pid }) => pid))
      // What has come with this answer is to be read first.
      await new Promise(setImmediate)
      for (const one of silent) if (one.heard === heard.get(one) && !working.has(one.pid)) one.drop()
    } catch {
      // The server cannot be reached now: whether the others are lost shows once it can.
    }
  }
}

export class WatchedConnection {
  /** Of the server's process; null while it is being connected. */
  pid: number | null = null
  /** Answers so far. */
  heard = 0
  private unanswered = 0
  private sinceMs = 0

  constructor(
    readonly drop: () => void,
    /** There is nothing to watch any more. */
    readonly forget: () => void,
  ) {}

  /** Something is sent that the server has to answer. @returns what is to be called when it has */
  ask(): () => void {
    if (this.unanswered++ === 0) this.sinceMs = performance.now()
    return this.onAnswer
  }

  /** How long it has owed an answer. */
  silentMs(): number {
    return this.unanswered > 0 ? performance.now() - this.sinceMs : 0
  }

  private readonly onAnswer = (): void => {
    this.unanswered--
    this.heard++
    this.sinceMs = performance.now()
  }
}
