/**
 * What one of several services on one database does for all of them, such as sending webhooks; and whether this machine's clock
 * agrees with the database's. A service that has the database for itself always has the duty.
 */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { SECOND_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'
import type { Store } from '../storage/store.js'

/** One that dies is followed within this time and a beat; one that only stands still, too. */
const LEASE_MS = 2 * SECOND_MS
const BEAT_MS = 500
/**
 * Two machines then differ by four seconds at most: backends by default take a verdict that is dated up to five seconds ahead of
 * them. Whoever sets clocks by NTP is a hundred times closer.
 */
export const CLOCK_BOUND_MS = 2 * SECOND_MS

/** As long as the duty is ours without a break. */
export interface LeadershipTerm {
  id: string
  /** Aborts when another service may have it. */
  signal: AbortSignal
}

export class LeaderLease {
  /** Others may have had it before, and ended in the middle of something. */
  readonly isShared: boolean
  isClockRight = true
  /**
   * Milliseconds that this machine's clock was last seen ahead of the database's, negative where it was behind, and 0 where they
   * differ by less than the question took. Null where the database is on this machine.
   */
  clockAheadMs: number | null = null
  private term: (LeadershipTerm & { end(): void }) | null = null
  /** On the axis of `performance.now()`, which goes on while the process stands still. */
  private endsAtMs = Number.NEGATIVE_INFINITY
  private ending: NodeJS.Timeout | null = null
  private readonly beat = new PeriodicTask(
    BEAT_MS,
    () => this.takeOrKeep(),
    (err) => this.log.debug({ err }, 'the database could not be asked who has the duty'),
  )

  constructor(
    private readonly store: Pick<Store, 'coordinator'>,
    private readonly log: Logger,
  ) {
    this.isShared = store.coordinator !== null
    if (!this.isShared) this.begin(Number.POSITIVE_INFINITY)
  }

  /** Null while another service has it. */
  current(): LeadershipTerm | null {
    if (performance.now() >= this.endsAtMs) this.end()
    return this.term
  }

  async start(): Promise<void> {
    if (!this.isShared) return
    await this.beat.now()
    this.beat.start()
  }

  /** Leaves it to the others at once. Before the store is closed. */
  async stop(): Promise<void> {
    await this.beat.stop()
    const isOurs = this.term !== null
    this.end()
    // A store that cannot be reached has it end by itself.
    if (isOurs) await this.store.coordinator?.acquireLeaderLease(0).catch(() => {})
  }

  private async takeOrKeep(): Promise<void> {
    const startedAtMs = performance.now()
    const before = Date.now()
    // By a clock that is wrong nothing is deleted.
    const forMs = this.isClockRight ? LEASE_MS : 0
    const { isTaken, nowMs } = await this.store.coordinator!.acquireLeaderLease(forMs)
    this.compareClocks(before, nowMs, Date.now())
    if (!isTaken || !this.isClockRight) this.end()
    else this.begin(startedAtMs + forMs)
  }

  /** The database's time was read somewhere between the two of ours. */
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
    if (this.isShared) this.log.info('this service sends the webhooks and keeps house for all from now on')
  }

  private end(): void {
    this.term?.end()
    this.term = null
  }
}
