/**
 * Token buckets that the services of one database share. Each service leases tokens from a bucket in small batches, so that all services
 * together never admit more than the contract. A service holds at most one unused batch of each bucket.
 */
import { type Clock, SECOND_MS } from '../lib/clock.js'
import type { Coordinator } from '../storage/coordinator.js'
import { StoreUnavailableError } from '../storage/store.js'
import { LocalRateLimiter, type RateContract, type RateDecision, type RateLimiter } from './rate-limiter.js'

/** Largest number of leases, as of buckets in memory: strangers decide how many addresses there are. */
const MAX_LEASES = 100_000

/** Tokens that this service has leased from one bucket. */
interface Lease {
  /** Whole unused tokens; below 0 after a charge that is not yet paid. */
  tokens: number
  /** Tokens that the bucket held at the last lease, and the time of it in milliseconds since the Unix epoch. */
  left: number
  askedAt: number
  /** Resolves when the batch that is being leased has arrived, with whether it held a token; null where none is. */
  arriving: Promise<boolean> | null
}

export class SharedRateLimiter implements RateLimiter {
  private readonly leases = new Map<string, Lease>()
  private readonly local: LocalRateLimiter

  constructor(
    private readonly coordinator: Pick<Coordinator, 'leaseTokens'>,
    private readonly clock: Clock,
  ) {
    this.local = new LocalRateLimiter(clock)
  }

  async take(holder: string, contract: RateContract): Promise<RateDecision> {
    const lease = this.leaseOf(holder)
    try {
      // Calls that wait for one batch may find it used up by earlier ones. They wait for the next, until the bucket is empty.
      while (lease.tokens < 1) {
        lease.arriving ??= this.fetch(lease, holder, contract)
        if (!(await lease.arriving)) break
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      // While the database does not answer, only health reports are answered.
      return this.local.take(holder, contract)
    }
    const allowed = lease.tokens >= 1
    if (allowed) lease.tokens -= 1
    const bucket = this.filled(lease, contract)
    return {
      allowed,
      remaining: Math.max(0, Math.floor(bucket) + lease.tokens),
      retryAfterSeconds: allowed ? 0 : Math.max(0, 1 - lease.tokens - bucket) / contract.ratePerSecond,
      resetSeconds: Math.max(0, contract.burst - bucket - lease.tokens) / contract.ratePerSecond,
    }
  }

  remaining(holder: string, contract: RateContract): number {
    const lease = this.leases.get(holder)
    return lease ? Math.max(0, Math.floor(this.filled(lease, contract)) + lease.tokens) : contract.burst
  }

  /** Takes tokens from the lease. A debt is paid by the next batches, and so by the bucket that all services share. */
  charge(holder: string, _contract: RateContract, tokens: number): void {
    this.leaseOf(holder).tokens -= tokens
  }

  private leaseOf(holder: string): Lease {
    const lease = this.leases.get(holder) ?? { tokens: 0, left: 0, askedAt: 0, arriving: null }
    // Moved to the end, so that the first entry is the one unused for longest.
    this.leases.delete(holder)
    this.leases.set(holder, lease)
    if (this.leases.size > MAX_LEASES) this.leases.delete(this.leases.keys().next().value!)
    return lease
  }

  private async fetch(lease: Lease, holder: string, contract: RateContract): Promise<boolean> {
    try {
      const { granted, left } = await this.coordinator.leaseTokens(holder, contract, batchSize(contract))
      lease.tokens += granted
      lease.left = left
      lease.askedAt = this.clock.now()
      return granted > 0
    } finally {
      lease.arriving = null
    }
  }

  /** @returns tokens that the bucket holds now, if no other service has taken any */
  private filled({ left, askedAt }: Lease, { ratePerSecond, burst }: RateContract): number {
    const seconds = Math.max(0, this.clock.now() - askedAt) / SECOND_MS
    return Math.min(burst, left + seconds * ratePerSecond)
  }
}

/** Tokens of one batch: those of 50 ms, or a tenth of the burst, whichever is less. Larger batches would lie idle, smaller ones cost more queries. */
function batchSize({ ratePerSecond, burst }: RateContract): number {
  return Math.max(1, Math.floor(Math.min(burst / 10, ratePerSecond / 20)))
}
