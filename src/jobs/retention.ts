/**
 * Deletes what its window has closed on, once a minute. Not when the clock was just set: what it calls past may be still to
 * come when it is set right again, and a deleted secret or kept response would be missed then.
 */
import type { Logger } from 'pino'
import type { LeaderLease } from '../cluster/leader-lease.js'
import { earliestRequestId } from '../crypto/identifiers.js'
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'
import type { Store } from '../storage/store.js'

/** More than a clock that is slewed moves between two rounds. */
const JUMP_MS = MINUTE_MS
/** How long a clock that was set has to go on undisturbed before it is believed. */
const DOUBT_MS = HOUR_MS

/** Of counted traffic: a little more than the windows that the dashboard shows of each, an hour and a week. */
const MINUTES_KEPT_MS = 2 * HOUR_MS
const HOURS_KEPT_MS = 8 * DAY_MS

/** Erased in one transaction: others wait for so long. */
const SANDBOX_USERS_AT_ONCE = 50
const REQUESTS_AT_ONCE = 250

export class RetentionJob {
  private readonly beat = new PeriodicTask(
    MINUTE_MS,
    () => this.deleteExpired(),
    (err) => this.log.warn({ err }, 'housekeeping failed'),
  )
  private isStopped = false
  private lead: number
  /** On the axis of `uptime`. */
  private doubtUntil = Number.NEGATIVE_INFINITY

  /** @param uptime milliseconds that nobody can set */
  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly log: Logger,
    private readonly leaderLease: Pick<LeaderLease, 'current'>,
    private readonly options: {
      sandboxRetentionMs: number
      /** How long the request log keeps a request. */
      requestLogMs: number
      /** Done before anything is deleted, for as long as `isOn` holds. */
      reportExpired?: (isOn: () => boolean) => Promise<void>
    },
    private readonly uptime = () => performance.now(),
  ) {
    this.lead = clock.now() - uptime()
  }

  start(): void {
    void this.run()
    this.beat.start()
  }

  /** What it is in the middle of is its last transaction. */
  stop(): void {
    this.isStopped = true
    void this.beat.stop()
  }

  /** Never rejects. */
  run(): Promise<void> {
    return this.beat.now()
  }

  /** Batch by batch, so that callers have their turn in between. */
  private async eraseUnusedSandboxUsers(before: number): Promise<void> {
    while (!this.isStopped && this.leaderLease.current()) {
      const erased = await this.store.transaction(async (tx) => {
        const blindIndexes = await tx.unusedSandboxUsers(before, SANDBOX_USERS_AT_ONCE)
        for (const blindIndex of blindIndexes) await tx.eraseSubject(blindIndex)
        return blindIndexes.length
      })
      if (erased < SANDBOX_USERS_AT_ONCE) return
    }
  }

  private async deleteOldRequests(before: string): Promise<void> {
    while (!this.isStopped && this.leaderLease.current()) {
      const deleted = await this.store.transaction((tx) => tx.deleteRequests(before, REQUESTS_AT_ONCE))
      if (deleted < REQUESTS_AT_ONCE) return
    }
  }

  private async deleteExpired(): Promise<void> {
    const now = this.clock.now()
    const uptime = this.uptime()
    const jumpMs = now - uptime - this.lead
    this.lead += jumpMs
    if (Math.abs(jumpMs) > JUMP_MS) {
      this.doubtUntil = uptime + DOUBT_MS
      this.log.warn({ jump_ms: Math.round(jumpMs) }, 'the clock was set: nothing is deleted for an hour')
    }
    if (uptime < this.doubtUntil) return
    await this.options.reportExpired?.(() => !this.isStopped && this.leaderLease.current() !== null)
    const trafficBefore = { minute: now - MINUTES_KEPT_MS, hour: now - HOURS_KEPT_MS }
    // A transaction each: after days without a service much may wait, and callers get their turn in between.
    while (!this.isStopped && this.leaderLease.current()) {
      const isMore = await this.store.transaction((tx) => tx.deleteExpired(now, now - DAY_MS, trafficBefore))
      if (!isMore) break
    }
    await this.deleteOldRequests(earliestRequestId(now - this.options.requestLogMs))
    await this.eraseUnusedSandboxUsers(now - this.options.sandboxRetentionMs)
  }
}
