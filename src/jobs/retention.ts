/**
 * Deletes expired rows once a minute, as the leader. After a jump of the clock nothing is deleted for an hour: rows that look expired
 * may be valid again once the clock is corrected, and a deleted secret or kept response would be missing then.
 */
import type { Logger } from 'pino'
import type { LeaderLease } from '../cluster/leader-lease.js'
import { type Clock, HOUR_MS, MINUTE_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'
import type { Store, StoreTransaction } from '../storage/store.js'

/** Smallest jump of the clock between two rounds that counts; slewing by NTP stays far below it. */
const JUMP_MS = MINUTE_MS
/** How long the clock must run without a jump before rows are deleted again. */
const DOUBT_MS = HOUR_MS

/** Rows of one transaction: other writers wait while it runs. */
const SANDBOX_USERS_AT_ONCE = 50

/**
 * Work of the leader that goes with the deletion of expired rows.
 * @param isOn it stops when this is false
 * @param now milliseconds since the Unix epoch
 */
export type Upkeep = (isOn: () => boolean, now: number) => Promise<void>

export class RetentionJob {
  private readonly task = new PeriodicTask(
    MINUTE_MS,
    () => this.deleteExpired(),
    (err) => this.log.warn({ err }, 'deleting expired rows failed, will retry'),
  )
  private isStopped = false
  /** How many tenants were deleted when nothing was left of them last. */
  private deletedTenants = 0
  /** Milliseconds by which the clock is ahead of `uptime`. */
  private clockOffsetMs: number
  /** Time until which nothing is deleted, on the axis of `uptime`. */
  private doubtUntil = Number.NEGATIVE_INFINITY

  /** @param uptime monotonic clock, in milliseconds */
  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly log: Logger,
    private readonly leaderLease: Pick<LeaderLease, 'current'>,
    private readonly options: {
      sandboxRetentionMs: number
      /** Runs before rows are deleted, in this order. */
      beforeExpiry?: readonly Upkeep[]
      /** Runs after rows were deleted, in this order. */
      afterExpiry?: readonly Upkeep[]
    },
    private readonly uptime = () => performance.now(),
  ) {
    this.clockOffsetMs = clock.now() - uptime()
  }

  start(): void {
    void this.run()
    this.task.start()
  }

  /** Ends after the transaction that is in flight. */
  stop(): void {
    this.isStopped = true
    void this.task.stop()
  }

  /** Deletes expired rows now. Never rejects. */
  run(): Promise<void> {
    return this.task.now()
  }

  /**
   * Erases in batches, each of one tenant, so that calls of the service run in between. Whether a user is still unused is read again within
   * the transaction, during which no call of the tenant can use the user.
   */
  private async eraseUnusedSandboxUsers(before: number): Promise<void> {
    while (!this.isStopped && this.leaderLease.current()) {
      const [longest] = await this.store.read.unusedSandboxUsers(before, 1)
      if (!longest) return
      const { tenantId } = longest
      await this.store.transaction({ tenantId }, async (tx) => {
        for (const unused of await tx.unusedSandboxUsers(before, SANDBOX_USERS_AT_ONCE))
          if (unused.tenantId === tenantId) await tx.eraseSubject(unused.blindIndex)
      })
    }
  }

  /**
   * Looks for rows that deleted tenants have left only after one was deleted: by this version, which leaves none, or by one without a
   * feature, before this service started or since.
   */
  private async deleteLeftByTenants(): Promise<void> {
    const deleted = await this.store.read.countDeletedTenants()
    if (deleted === this.deletedTenants) return
    if (await this.inBatches((tx) => tx.deleteLeftByTenants())) this.deletedTenants = deleted
  }

  /**
   * Deletes in batches, each of which is a transaction, so that calls run in between: after days without a service there may be many rows.
   * @param some deletes a batch, and answers whether more rows may be left
   * @returns whether all were deleted
   */
  private async inBatches(some: (tx: StoreTransaction) => Promise<boolean>): Promise<boolean> {
    while (!this.isStopped && this.leaderLease.current())
      if (!(await this.store.transaction('rows', some))) return true
    return false
  }

  private async deleteExpired(): Promise<void> {
    const now = this.clock.now()
    const uptime = this.uptime()
    const jumpMs = now - uptime - this.clockOffsetMs
    this.clockOffsetMs += jumpMs
    if (Math.abs(jumpMs) > JUMP_MS) {
      this.doubtUntil = uptime + DOUBT_MS
      this.log.warn({ jump_ms: Math.round(jumpMs) }, 'the clock was set: nothing is deleted for an hour')
    }
    if (uptime < this.doubtUntil) return
    const isOn = () => !this.isStopped && this.leaderLease.current() !== null
    const { sandboxRetentionMs, beforeExpiry = [], afterExpiry = [] } = this.options
    for (const work of beforeExpiry) await work(isOn, now)
    await this.inBatches((tx) => tx.deleteExpired(now))
    await this.eraseUnusedSandboxUsers(now - sandboxRetentionMs)
    // One that fails, such as a change of models that cannot go on, holds up no other.
    const errors: unknown[] = []
    for (const work of [() => this.deleteLeftByTenants(), ...afterExpiry])
      if (isOn()) await work(isOn, now).catch((error: unknown) => errors.push(error))
    if (errors.length > 0) throw errors[0]
  }
}
