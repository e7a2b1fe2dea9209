/**
 * Limits by network the requests that no application or session vouches for, so that strangers do not take production's thread. Each
 * process has a limit of its own, because its thread is what is protected.
 */
import { type Clock, MINUTE_MS, SECOND_MS } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import { LocalRateLimiter, type RateContract } from '../../tenants/rate-limiter.js'
import { networkOf } from '../authentication/wrong-keys.js'
import type { ClientAddresses } from './client-address.js'
import type { IncomingRequest } from './listener.js'

/** Seconds whose requests may come at once. */
const BURST_SECONDS = 10

export class VisitorLimit {
  private readonly limiter: LocalRateLimiter
  private readonly contract: RateContract

  /** @param perMinute requests of one network in a minute; 0 for no limit */
  constructor(
    private readonly perMinute: number,
    private readonly addresses: ClientAddresses,
    clock: Clock,
  ) {
    this.limiter = new LocalRateLimiter(clock)
    const ratePerSecond = (perMinute * SECOND_MS) / MINUTE_MS
    this.contract = { ratePerSecond, burst: Math.max(1, ratePerSecond * BURST_SECONDS) }
  }

  /**
   * Counts a request, before anything is done for it.
   * @returns a function that takes it back, for a request that turned out to be vouched for
   * @throws DomainError rate_limited
   */
  async take(request: Pick<IncomingRequest, 'remoteAddress' | 'headers'>): Promise<() => void> {
    if (this.perMinute === 0) return () => undefined
    const network = networkOf(this.addresses.of(request))
    const { allowed, retryAfterSeconds } = await this.limiter.take(network, this.contract)
    if (!allowed)
      throw new DomainError('rate_limited', {
        message: 'Too many requests came from this network. Try again in a moment.',
        retryAfterMs: retryAfterSeconds * SECOND_MS,
      })
    return () => this.limiter.charge(network, this.contract, -1)
  }
}
