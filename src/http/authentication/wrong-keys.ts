/**
 * Counts wrong API keys by address: an address that sends too many gets 429 for further wrong ones. A valid key is accepted from any
 * address at any time. That a guesser could see a hit does not matter with keys of 256 bits, and refusing valid keys would shut out
 * other callers behind the same proxy.
 */
import { MINUTE_MS, SECOND_MS } from '../../lib/clock.js'
import type { RateContract, RateLimiter } from '../../tenants/rate-limiter.js'

export class WrongKeys {
  private readonly contract: RateContract

  /** @param perMinute number of wrong keys that an address may send in a minute; 0 for no limit */
  constructor(
    private readonly perMinute: number,
    private readonly limiter: RateLimiter,
  ) {
    this.contract = { ratePerSecond: (perMinute * SECOND_MS) / MINUTE_MS, burst: perMinute }
  }

  /** Counts a wrong key from the address. @returns seconds to wait where there were too many, else 0 */
  async wrong(address: string): Promise<number> {
    if (this.perMinute === 0) return 0
    const { retryAfterSeconds } = await this.limiter.take(`wrong key ${networkOf(address)}`, this.contract)
    return retryAfterSeconds
  }
}

/** The address itself, or its /64 network for IPv6: one customer of a provider has all addresses of such a network. */
export function networkOf(address: string): string {
  return address.includes(':') ? address.split(':', 4).join(':') : address
}
