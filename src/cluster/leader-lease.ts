/**
 * The leader lease: one of several services on a database deletes expired rows, verifies the audit logs and does the jobs of features for
 * all of them. It also compares this machine's clock with the database's.
 *
 * 1. Every 500 ms each service asks the database for the lease (one UPDATE, by the database's clock). The lease is granted for 2 s to
 *    its present holder, or to anyone once it has ended.
 * 2. The holder counts the 2 s from before it asked, on `performance.now()`: its term is over no later than the lease is.
 * 3. Before each write that only a leader may do, the writer asks `current()`. A process that stood still finds that its term is over.
 * 4. A leader that stops gives the lease back at once; one that was killed is followed within 2.5 s.
 *
 * A service on SQLite has the database for itself and is always the leader.
 */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { SECOND_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'
import type { Store } from '../storage/store.js'

const LEASE_MS = 2 * SECOND_MS
const RENEWAL_MS = 500
/**
 * Largest difference between this machine's clock and the database's. Two machines then differ by four seconds at most: backends by
 * default accept a verdict that is dated up to five seconds ahead. NTP keeps clocks a hundred times closer.
 */
export const CLOCK_BOUND_MS = 2 * SECOND_MS

/** One uninterrupted period of leadership. */
export interface LeadershipTerm {
  id: string
  /** Aborts when another service may have the lease. */
  signal: AbortSignal
}

export class LeaderLease {
  /** True where other services may have led before and crashed half-way. */
  readonly isShared: boolean
  isClockRight = true
  /**
   * Milliseconds by which this machine's clock was ahead of the database's when they were last compared, negative where it was behind,
   * and 0 where they differ by less than the round trip. Null where the database is on this machine.
   */
  clockAheadMs: number | null = null
  private term: (LeadershipTerm & { end(): void }) | null = null
  /** On the axis of `performance.now()`, which goes on while the process stands still. */
  private endsAtMs = Number.NEGATIVE_INFINITY
  private ending: NodeJS.Timeout | null = null
  private readonly renewal = new PeriodicTask(
    RENEWAL_MS,
    () => this.acquireOrRenew(),
    (err) => this.log.debug({ err }, 'leader lease could not be read'),
  )

  constructor(
    private readonly store: Pick<Store, 'coordinator'>,
    private readonly log: Logger,
  ) {
    this.isShared = store.coordinator !== null
    if (!this.isShared) this.begin(Number.POSITIVE_INFINITY)
  }

  /** @returns the present term of this service, or null while another service may lead */
  current(): LeadershipTerm | null {
    if (performance.now() >= this.endsAtMs) this.end()
    return this.term
  }

  async start(): Promise<void> {
    if (!this.isShared) return
    await this.renewal.now()
    this.renewal.start()
  }

  /** Gives the lease back. To be called before the store is closed. */
  async stop(): Promise<void> {
    await this.renewal.stop()
    const isOurs = this.term !== null
    this.end()
    // Where the store cannot be reached, the lease ends after 2 s.
    if (isOurs) await this.store.coordinator?.acquireLeaderLease(0).catch(() => {})
  }

  private async acquireOrRenew(): Promise<void> {
    const startedAtMs = performance.now()
    const before = Date.now()
    // A service with a wrong clock must not lead: it would delete rows that have not expired.
    const forMs = this.isClockRight ? LEASE_MS : 0
    const { isTaken, nowMs } = await this.store.coordinator!.acquireLeaderLease(forMs)
    this.compareClocks(before, nowMs, Date.now())
    if (!isTaken || !this.isClockRight) this.end()
    else this.begin(startedAtMs + forMs)
  }

  /** @param nowMs the database's time, which was read between `before` and `after` */
  private compareClocks(before: number, nowMs: number, after: number): void {
    const aheadMs = Math.max(before - nowMs, 0) - Math.max(nowMs - after, 0)
    this.clockAheadMs = aheadMs
    const isRight = Math.abs(aheadMs) <= CLOCK_BOUND_MS
    if (isRight === this.isClockRight) return
    this.isClockRight = isRight
    const details = { ahead_ms: Math.round(aheadMs), bound_ms: CLOCK_BOUND_MS }
    if (isRight) this.log.info(details, "this machine's clock agrees with the database's again")
    else
      this.log.error(
        details,
        "this machine's clock differs from the database's: not ready to serve until one of them is set right",
      )
  }

  private begin(endsAtMs: number): void {
    this.endsAtMs = endsAtMs
    if (this.ending) clearTimeout(this.ending)
    if (Number.isFinite(endsAtMs))
      this.ending = setTimeout(() => this.current(), Math.max(endsAtMs - performance.now(), 0)).unref()
    if (this.term) return
    const term = new AbortController()
    this.term = { id: randomUUID(), signal: term.signal, end: () => term.abort() }
    if (this.isShared)
      this.log.info('acquired the leader lease: deleting expired rows and doing the jobs of features')
  }

  private end(): void {
    this.term?.end()
    this.term = null
  }
}
