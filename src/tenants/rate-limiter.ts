/** Token buckets, one for each tenant and environment or each address: `ratePerSecond` sustained, `burst` at once. */

import { type Clock, SECOND_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'

export interface RateContract {
  ratePerSecond: number
  burst: number
}

export interface RateDecision {
  allowed: boolean
  /** Whole requests left now. */
  remaining: number
  /** Seconds until one more request is allowed; 0 when one is. */
  retryAfterSeconds: number
  /** Seconds until the bucket is full again. */
  resetSeconds: number
}

export interface RateLimiter {
  /** Takes one token. @param holder key of the bucket */
  take(holder: string, contract: RateContract): Promise<RateDecision>
  /** Takes further tokens for a request that cost more than one. The bucket may go below zero; the owner then waits until it is refilled. */
  charge(holder: string, contract: RateContract, tokens: number): void
  /** @returns whole requests left now, as far as this process knows; takes no token */
  remaining(holder: string, contract: RateContract): number
}

/** Largest number of buckets: strangers decide how many addresses there are. The bucket that was unused for longest makes room. */
const MAX_BUCKETS = 100_000

interface Bucket {
  tokens: number
  updatedAt: number
}

/** The rate limiter of a single service: buckets are in memory and refill by the clock. */
export class LocalRateLimiter implements RateLimiter {
  private readonly buckets = new Map<string, Bucket>()

  constructor(private readonly clock: Clock) {}

  remaining(holder: string, { ratePerSecond, burst }: RateContract): number {
    const bucket = this.buckets.get(holder)
    if (!bucket) return burst
    const elapsedSeconds = Math.max(0, this.clock.now() - bucket.updatedAt) / SECOND_MS
    return Math.max(0, Math.floor(Math.min(burst, bucket.tokens + elapsedSeconds * ratePerSecond)))
  }

  charge(holder: string, contract: RateContract, tokens: number): void {
    this.filled(holder, contract).tokens -= tokens
  }

  async take(holder: string, contract: RateContract): Promise<RateDecision> {
    const { ratePerSecond, burst } = contract
    const bucket = this.filled(holder, contract)
    const allowed = bucket.tokens >= 1
    if (allowed) bucket.tokens -= 1
    return {
      allowed,
      remaining: Math.max(0, Math.floor(bucket.tokens)),
      retryAfterSeconds: allowed ? 0 : (1 - bucket.tokens) / ratePerSecond,
      resetSeconds: (burst - bucket.tokens) / ratePerSecond,
    }
  }

  /** The bucket, refilled up to now. */
  private filled(holder: string, { ratePerSecond, burst }: RateContract): Bucket {
    const now = this.clock.now()
    const bucket = this.buckets.get(holder) ?? { tokens: burst, updatedAt: now }
    // Moved to the end, so that the first entry is the one unused for longest.
    this.buckets.delete(holder)
    this.buckets.set(holder, bucket)
    if (this.buckets.size > MAX_BUCKETS) this.buckets.delete(this.buckets.keys().next().value!)
    // A clock that was set back must not drain the bucket.
    const elapsedSeconds = Math.max(0, now - bucket.updatedAt) / SECOND_MS
    bucket.tokens = Math.min(burst, bucket.tokens + elapsedSeconds * ratePerSecond)
    bucket.updatedAt = now
    return bucket
  }
}

/** @throws DomainError rate_limited */
export function assertAllowed({ allowed, retryAfterSeconds }: RateDecision): void {
  if (!allowed) throw new DomainError('rate_limited', { retryAfterMs: retryAfterSeconds * SECOND_MS })
}

/** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers): quota, window, remaining requests and seconds to a full bucket. */
export function rateLimitHeaders(contract: RateContract, decision: RateDecision): Record<string, string> {
  const windowSeconds = Math.max(1, Math.ceil(contract.burst / contract.ratePerSecond))
  return {
    'RateLimit-Policy': `"requests";q=${contract.burst};w=${windowSeconds}`,
    RateLimit: `"requests";r=${decision.remaining};t=${Math.ceil(decision.resetSeconds)}`,
  }
}
