/**
 * Slows the guessing of API keys. An address that sends too many wrong keys is refused for a while, even when the next key is
 * right: whoever goes on guessing is not told of a hit. A key that was accepted once before is accepted all the same, so that one
 * customer behind a shared proxy cannot shut out the others.
 */
import { type Clock, MINUTE_MS, SECOND_MS } from '../clock.js'
import { type RateContract, RateLimiter } from '../tenancy/rate-limiter.js'

/** The most keys that are remembered as accepted; the longest-known is forgotten first. */
const MOST_KEYS = 100_000

export class WrongKeys {
  private readonly contract: RateContract
  private readonly allowance: RateLimiter
  private readonly goodKeys = new Set<string>()

  /** @param perMinute wrong keys that an address may send a minute; 0 for any number */
  constructor(
    private readonly perMinute: number,
    clock: Clock,
  ) {
    this.contract = { ratePerSecond: (perMinute * SECOND_MS) / MINUTE_MS, burst: perMinute }
    this.allowance = new RateLimiter(clock)
  }

  /** A wrong key came from the address. @returns seconds to wait where there were too many, else 0 */
  wrong(address: string): number {
    if (this.perMinute === 0) return 0
    return this.allowance.take(networkOf(address), this.contract).retryAfterSeconds
  }

  /** A valid key came from the address. @returns seconds to wait where the address has sent too many wrong ones and must not learn that this one is right, else 0 */
  right(address: string, keyId: string): number {
    if (this.perMinute === 0 || this.goodKeys.has(keyId)) return 0
    if (this.allowance.remaining(networkOf(address), this.contract) < 1)
      return this.allowance.take(networkOf(address), this.contract).retryAfterSeconds
    this.goodKeys.add(keyId)
    // A set keeps the order of entry, so the first is the longest-known.
    if (this.goodKeys.size > MOST_KEYS) this.goodKeys.delete(this.goodKeys.values().next().value!)
    return 0
  }
}

/** An IPv6 network of 64 bits is one customer of a provider; its addresses are free to choose. */
export function networkOf(address: string): string {
  return address.includes(':') ? address.split(':', 4).join(':') : address
}
