/**
 * Counts wrong API keys by address: whoever sends too many gets 429 for further ones. A valid key is heard from any address at any
 * time: with 256 bits of key, that a guesser would be told of a hit helps nobody, and behind a shared proxy the others would be
 * shut out.
 */
import { MINUTE_MS, SECOND_MS } from '../../lib/clock.js'
import type { RateContract, RateLimiter } from '../../tenants/rate-limiter.js'

export class WrongKeys {
  private readonly contract: RateContract

  /** @param perMinute wrong keys that an address may send a minute; 0 for any number */
  constructor(
    private readonly perMinute: number,
    private readonly limiter: RateLimiter,
  ) {
    this.contract = { ratePerSecond: (perMinute * SECOND_MS) / MINUTE_MS, burst: perMinute }
  }

  /** A wrong key came from the address. @returns seconds to wait where there were too many, else 0 */
  async wrong(address: string): Promise<number> {
    if (this.perMinute === 0) return 0
    const { retryAfterSeconds } = await this.limiter.take(`wrong key ${networkOf(address)}`, this.contract)
    return retryAfterSeconds
  }
}

/** An IPv6 network of 64 bits is one customer of a provider; its addresses are free to choose. */
export function networkOf(address: string): string {
  return address.includes(':') ? address.split(':', 4).join(':') : address
}
