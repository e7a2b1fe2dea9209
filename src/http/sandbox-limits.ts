/**
 * Limits how much the sandbox writes, so that it cannot fill the disk that production writes to: each tenant may write a number of
 * records a day, and none while the disk has less free space than its reserve. Each call counts as one record.
 */
import { statfs } from 'node:fs/promises'
import type { EndpointDescription } from '../api/endpoint.js'
import { type Clock, DAY_MS, SECOND_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { RateLimiter } from '../tenants/rate-limiter.js'

/** Interval between two checks of the free space: at 20 calls a second a tenant writes well below a megabyte in it. */
const DISK_CHECK_MS = SECOND_MS
const RETRY_MS = 60 * SECOND_MS
interface SandboxLimitParts {
  clock: Clock
  rateLimiter: RateLimiter
  config: { sandboxRecordsPerDay: number; sandboxDiskReserveBytes: number }
  /** The folder of the database file; null where the database is on a server of its own. */
  folder: string | null
}

export class SandboxLimits {
  private freeBytes: Promise<number> | null = null
  private checkedAtMs = Number.NEGATIVE_INFINITY

  constructor(private readonly parts: SandboxLimitParts) {}

  /**
   * Counts a call that may write, before it is executed. An erasure is never refused.
   * @throws DomainError sandbox_daily_quota_reached, sandbox_storage_low
   */
  async admit(
    { method, alwaysKeeps = false }: Pick<EndpointDescription, 'method' | 'alwaysKeeps'>,
    { tenantId, isKept }: { tenantId: string; isKept: boolean },
  ): Promise<void> {
    if (method !== 'POST' || !(isKept || alwaysKeeps)) return
    await this.assertDiskHasRoom()
    const { sandboxRecordsPerDay: burst } = this.parts.config
    const contract = { ratePerSecond: (burst * SECOND_MS) / DAY_MS, burst }
    const decision = await this.parts.rateLimiter.take(`${tenantId} sandbox-records`, contract)
    if (!decision.allowed)
      throw new DomainError('sandbox_daily_quota_reached', {
        message: `The sandbox of this tenant has kept ${burst} records within a day, which is its limit.`,
        retryAfterMs: decision.retryAfterSeconds * SECOND_MS,
      })
  }

  private async assertDiskHasRoom(): Promise<void> {
    const { folder, config } = this.parts
    if (folder === null || config.sandboxDiskReserveBytes === 0) return
    const now = performance.now()
    if (now - this.checkedAtMs >= DISK_CHECK_MS) {
      this.checkedAtMs = now
      this.freeBytes = statfs(folder).then(({ bavail, bsize }) => bavail * bsize)
    }
    if ((await this.freeBytes!) < config.sandboxDiskReserveBytes)
      throw new DomainError('sandbox_storage_low', { retryAfterMs: RETRY_MS })
  }
}
