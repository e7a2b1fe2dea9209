/**
 * Detects connections that are lost without a sign, as after a network was gone for a while. When a connection has owed an answer for long,
 * the detector asks the server, over a new connection, whether it is working for it.
 */
import type { QueryConfig, QueryResult } from 'pg'

const SILENT_MS = 1000
const POLL_MS = 500
/** Longer than the interval between two polls: the next poll may come through while this one gets no answer. */
const ANSWER_MS = 2000
/** How long a process that ends waits for an answer, or for the server to close the connection. */
const LAST_ANSWER_MS = 2000

/** Runs a query over a new connection, which must be made and answered within `timeoutMs`. */
export type QueryApart = (query: QueryConfig, timeoutMs: number) => Promise<QueryResult>

/**
 * Pids of server processes that are working, or have answered within 0.5 s, so that the answer may be on its way. `idle in transaction`
 * counts as idle.
 */
const WORKING = `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1::int[]) AND NOT (
  (coalesce(state, '') LIKE 'idle%' OR wait_event_type = 'Client') AND state_change < clock_timestamp() - interval '0.5 s')`

export class DeadConnectionDetector {
  /** When a connection was last found silent, on the axis of `performance.now()`. */
  lastSilentMs = Number.NEGATIVE_INFINITY
  private readonly connections = new Set<WatchedConnection>()
  private isLeaving = false
  private hasGivenUp = false
  private readonly timer: NodeJS.Timeout

  constructor(private readonly queryApart: QueryApart) {
    this.timer = setInterval(() => void this.poll(), POLL_MS).unref()
  }

  /** Watches a connection. @param drop ends the connection, so that the statements that wait for it fail */
  watch(drop: () => void): WatchedConnection {
    const connection = new WatchedConnection(drop, () => this.connections.delete(connection))
    this.connections.add(connection)
    // The connection can be dropped only once it is being made.
    if (this.hasGivenUp) setImmediate(drop)
    return connection
  }

  /** Announces that the process ends: from here on, connections to a server that does not answer are dropped. */
  leave(): void {
    this.isLeaving = true
  }

  /**
   * Ends the detector. Connections that the server does not close would keep the process running, so they are dropped after LAST_ANSWER_MS.
   */
  stop(): void {
    clearInterval(this.timer)
    setTimeout(() => this.giveUp(), LAST_ANSWER_MS).unref()
  }

  /** Drops all connections, and those that are opened from now on. */
  private giveUp(): void {
    this.hasGivenUp = true
    for (const { drop } of this.connections) drop()
  }

  /** Drops silent connections for which the server is not working. Never rejects. */
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
      // Answers on other connections that arrived with this one are read first.
      await new Promise(setImmediate)
      for (const one of silent) if (one.heard === heard.get(one) && !working.has(one.pid)) one.drop()
    } catch {
      // The server cannot be reached now. A later poll finds out whether the connections are lost.
    }
  }
}

export class WatchedConnection {
  /** Process id of the server's process; null until connected. */
  pid: number | null = null
  /** Number of answers so far. */
  heard = 0
  private unanswered = 0
  private sinceMs = 0

  constructor(
    readonly drop: () => void,
    /** Stops watching this connection. */
    readonly forget: () => void,
  ) {}

  /** Notes that a statement was sent. @returns a function to call when its answer has arrived */
  ask(): () => void {
    if (this.unanswered++ === 0) this.sinceMs = performance.now()
    return this.onAnswer
  }

  /** Milliseconds for which the server has owed an answer; 0 when it owes none. */
  silentMs(): number {
    return this.unanswered > 0 ? performance.now() - this.sinceMs : 0
  }

  private readonly onAnswer = (): void => {
    this.unanswered--
    this.heard++
    this.sinceMs = performance.now()
  }
}
