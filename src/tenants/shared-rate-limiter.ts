/**
 * Token buckets that the services of one database share. Each takes tokens out in small lots, so that all together never admit more
 * than the contract; what a service has taken and not used is at most one lot a holder.
 */
import { type Clock, SECOND_MS } from '../lib/clock.js'
import type { Coordinator } from '../storage/coordinator.js'
import { StoreUnavailableError } from '../storage/store.js'
import { LocalRateLimiter, type RateContract, type RateDecision, type RateLimiter } from './rate-limiter.js'

/** As in the service's memory: strangers decide how many buckets of addresses there are. */
const MAX_HOLDERS = 100_000

interface Lot {
  /** Whole tokens at hand; below 0 where some are owed. */
  tokens: number
  /** What the bucket held when it was last asked, and when that was. */
  left: number
  askedAt: number
  /** While one is being fetched: whether there was anything. */
  coming: Promise<boolean> | null
}

export class SharedRateLimiter implements RateLimiter {
  private readonly lots = new Map<string, Lot>()
  private readonly alone: LocalRateLimiter

  constructor(
    private readonly coordinator: Pick<Coordinator, 'leaseTokens'>,
    private readonly clock: Clock,
  ) {
    this.alone = new LocalRateLimiter(clock)
  }

  async take(holder: string, contract: RateContract): Promise<RateDecision> {
    const lot = this.lotOf(holder)
    try {
      // Of those who wait for one lot, the last ones may find it used up: then they wait for another, until the bucket has none.
      while (lot.tokens < 1) {
        lot.coming ??= this.fetch(lot, holder, contract)
        if (!(await lot.coming)) break
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      // Nothing but a health report is answered meanwhile.
      return this.alone.take(holder, contract)
    }
    const allowed = lot.tokens >= 1
    if (allowed) lot.tokens -= 1
    const bucket = this.filled(lot, contract)
    return {
      allowed,
      remaining: Math.max(0, Math.floor(bucket) + lot.tokens),
      retryAfterSeconds: allowed ? 0 : Math.max(0, 1 - lot.tokens - bucket) / contract.ratePerSecond,
      resetSeconds: Math.max(0, contract.burst - bucket - lot.tokens) / contract.ratePerSecond,
    }
  }

  remaining(holder: string, contract: RateContract): number {
    const lot = this.lots.get(holder)
    return lot ? Math.max(0, Math.floor(this.filled(lot, contract)) + lot.tokens) : contract.burst
  }

  /** Takes tokens from the holder's lot. A debt is taken out of the next lots, and so out of the bucket that all services share. */
  charge(holder: string, _contract: RateContract, tokens: number): void {
    this.lotOf(holder).tokens -= tokens
  }

  private lotOf(holder: string): Lot {
    const lot = this.lots.get(holder) ?? { tokens: 0, left: 0, askedAt: 0, coming: null }
    // Moved to the end: the first is the one not used for longest.
    this.lots.delete(holder)
    this.lots.set(holder, lot)
    if (this.lots.size > MAX_HOLDERS) this.lots.delete(this.lots.keys().next().value!)
    return lot
  }

  private async fetch(lot: Lot, holder: string, contract: RateContract): Promise<boolean> {
    try {
      const { granted, left } = await this.coordinator.leaseTokens(holder, contract, lotSize(contract))
      lot.tokens += granted
      lot.left = left
      lot.askedAt = this.clock.now()
      return granted > 0
    } finally {
      lot.coming = null
    }
  }

  /** What the bucket holds by now, if nobody else has taken from it. */
  private filled({ left, askedAt }: Lot, { ratePerSecond, burst }: RateContract): number {
    const seconds = Math.max(0, this.clock.now() - askedAt) / SECOND_MS
    return Math.min(burst, left + seconds * ratePerSecond)
  }
}

/** A twentieth of a second's worth, or a tenth of what may come at once: few questions, and little that lies idle. */
function lotSize({ ratePerSecond, burst }: RateContract): number {
  return Math.max(1, Math.floor(Math.min(burst / 10, ratePerSecond / 20)))
}
