/** Rate limits while somebody sets the clock. */
import { describe, expect, it } from 'vitest'
import { HOUR_MS, SECOND_MS } from '../../src/lib/clock.js'
import { LocalRateLimiter } from '../../src/tenants/rate-limiter.js'
import { serviceOfFile } from '../support/service.js'

const running = await serviceOfFile()

describe('a clock that is set back', () => {
  it('a clock that is set back takes no tokens, and the bucket refills at its rate from then on', async () => {
    const client = await running.production(await running.tenant({ ratePerSecond: 3 }))
    const statuses = async (times: number) => {
      const seen: number[] = []
      for (let i = 0; i < times; i++) seen.push((await client.health()).status)
      return seen
    }
    expect(await statuses(1)).toEqual([200])
    running.clock.advance(-HOUR_MS)
    // Six at once, of which one was used.
    expect(await statuses(6)).toEqual([200, 200, 200, 200, 200, 429])
    running.clock.advance(SECOND_MS)
    expect(await statuses(4)).toEqual([200, 200, 200, 429])
  })

  it('a clock that is set back does not change the remaining requests', async () => {
    const limiter = new LocalRateLimiter(running.clock)
    const contract = { ratePerSecond: 1, burst: 5 }
    await limiter.take('holder', contract)
    running.clock.advance(-HOUR_MS)
    expect(limiter.remaining('holder', contract)).toBe(4)
    expect(await limiter.take('holder', contract)).toMatchObject({ allowed: true, remaining: 3 })
  })
})
