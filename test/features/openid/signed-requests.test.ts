/** Tests of how long a signed request counts, and of its use by one sign-in. */
import { describe, expect, it } from 'vitest'
import { SignedRequests } from '../../../src/features/openid/signed-requests.js'
import { StateAdapter } from '../../../src/features/openid/state-adapter.js'
import { HOUR_MS, ManualClock, MINUTE_MS, SECOND_MS } from '../../../src/lib/clock.js'
import { storeOfProject } from '../../support/stores.js'

const NOW = Date.UTC(2026, 5, 1)
const clock = new ManualClock(NOW)
const stores = storeOfProject()
const parts = () =>
  ({
    ...{ store: stores.store, clock, keys: { secrets: { current: Buffer.alloc(32, 1), others: [] } } },
    ...{ clients: { find: async () => null }, vault: null },
  }) as never
const requests = (environment: 'production' | 'sandbox' = 'production') =>
  new SignedRequests(parts(), environment)
const at = (ms: number) => ms / SECOND_MS
const refused = (text: string) =>
  expect.objectContaining({
    error: 'invalid_request_object',
    error_description: expect.stringContaining(text),
  })
/** A request as an application would send it. Its signature was checked before. */
const jwt = (name: string, signature = 'AA') =>
  `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.${Buffer.from(JSON.stringify({ name })).toString('base64url')}.${signature}`

describe('a signed request', () => {
  it('counts for an hour, and two minutes for the clocks', () => {
    const fresh = (exp: unknown, iat?: unknown) => () => requests().assertFresh({ exp, iat })
    const most = NOW + HOUR_MS + 2 * MINUTE_MS
    expect(fresh(at(most))).not.toThrow()
    expect(fresh(at(most + SECOND_MS))).toThrow(refused('more than an hour ahead'))
    // An old `iat` says nothing next to an `exp`.
    expect(fresh(at(NOW), at(NOW - HOUR_MS))).not.toThrow()
    for (const exp of [undefined, '9999999999']) expect(fresh(exp)).toThrow(refused('neither exp nor iat'))
  })

  it('counts for ten minutes from its beginning where it has no end', () => {
    const fresh = (iat: unknown) => () => requests().assertFresh({ iat })
    for (const time of [NOW, NOW + 2 * MINUTE_MS, NOW - 10 * MINUTE_MS + SECOND_MS])
      expect(fresh(at(time))).not.toThrow()
    for (const time of [NOW + 2 * MINUTE_MS + SECOND_MS, NOW - 10 * MINUTE_MS])
      expect(fresh(at(time))).toThrow(refused('last 10 minutes'))
    expect(fresh('now')).toThrow(refused('neither'))
  })

  it('is used by one interaction, however its signature is spelled', async () => {
    expect(await requests().interactionOf(jwt('one'))).toBeUndefined()
    await requests().use(jwt('one'), 'uid-1')
    expect(await requests().interactionOf(jwt('one', 'AB'))).toBe('uid-1')
    for (const again of [jwt('one'), jwt('one', 'AB')])
      await expect(requests().use(again, 'uid-2')).rejects.toEqual(refused('used before'))
    await requests().use(jwt('two'), 'uid-2')
    expect(await requests().interactionOf(jwt('one'))).toBe('uid-1')
    await requests('sandbox').use(jwt('one'), 'uid-3')
  })

  it('is remembered for longer than it counts', async () => {
    await requests().use(jwt('one'), 'uid-1')
    clock.advance(HOUR_MS + 4 * MINUTE_MS - 1)
    await expect(requests().use(jwt('one'), 'uid-2')).rejects.toEqual(refused('used before'))
    clock.advance(1)
    await expect(requests().use(jwt('one'), 'uid-2')).resolves.toBeUndefined()
    expect(await new StateAdapter(parts(), 'production SignedRequest').find(jwt('one'))).toBeUndefined()
  })
})
