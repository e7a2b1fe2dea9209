import { describe, expect, it } from 'vitest'
import { WrongKeys } from '../../../src/http/authentication/wrong-keys.js'
import { ClientAddresses } from '../../../src/http/listeners/client-address.js'
import { peerAddress } from '../../../src/http/listeners/peer-address.js'
import { MINUTE_MS } from '../../../src/lib/clock.js'
import { generateApiKey } from '../../../src/tenants/api-key.js'
import { LocalRateLimiter } from '../../../src/tenants/rate-limiter.js'
import { type ApiResponse, apiClient, type CallOptions } from '../../support/client.js'
import { serviceOfFile } from '../../support/service.js'

const running = await serviceOfFile({
  COUNTERSIGN_WRONG_KEY_LIMIT: '3',
  COUNTERSIGN_TRUSTED_PROXIES: '127.0.0.0/8',
})

const guess = (options?: CallOptions) =>
  apiClient(running.service.url('sandbox'), generateApiKey('sandbox')).health(options)

describe('an address that guesses keys', () => {
  it('refuses wrong keys of an address that guesses for a while, and accepts every valid key from it', async () => {
    const [known, fresh] = [await running.tenant(), await running.tenant()]
    expect((await known.sandbox.health()).status).toBe(200)
    // Without a key, nothing is guessed.
    for (let i = 0; i < 5; i++) expect((await running.anonymous('sandbox').health()).status).toBe(401)
    const guesses: ApiResponse[] = []
    for (let i = 0; i < 5; i++) guesses.push(await guess())
    expect(guesses.map(({ status }) => status)).toEqual([401, 401, 401, 429, 429])
    expect(guesses[4]!.body).toMatchObject({ error: 'rate_limited', code: 'too_many_wrong_keys' })
    expect(guesses[4]!.headers.get('retry-after')).toBe('20')

    // Also one that has never been seen.
    expect((await fresh.sandbox.health()).status).toBe(200)
    expect((await known.sandbox.health()).status).toBe(200)
    expect((await guess()).status).toBe(429)

    running.clock.advance(MINUTE_MS)
    expect((await guess()).status).toBe(401)
  })

  it('does not count a key of the other environment as a wrong key', async () => {
    running.clock.advance(MINUTE_MS)
    const { key } = await running.production(await running.tenant())
    const astray = apiClient(running.service.url('sandbox'), key)
    for (let i = 0; i < 5; i++) expect((await astray.health()).status).toBe(403)
    expect((await guess()).status).toBe(401)
  })

  it('counts wrong keys for the address that a trusted proxy names, and ignores other X-Forwarded-For headers', async () => {
    running.clock.advance(MINUTE_MS)
    const via = (forwarded: string) =>
      guess({ headers: { 'X-Forwarded-For': forwarded } }).then(({ status }) => status)
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) statuses.push(await via(`192.0.2.${i}, 198.51.100.7`))
    expect(statuses).toEqual([401, 401, 401, 429])
    expect(await via('198.51.100.7, 198.51.100.8')).toBe(401)
  })

  it('counts wrong keys of an IPv6 network of 64 bits together', async () => {
    const wrongKeys = new WrongKeys(1, new LocalRateLimiter(running.clock))
    expect(await wrongKeys.wrong('2001:db8:0:1:0:0:0:1')).toBe(0)
    expect(await wrongKeys.wrong('2001:db8:0:1:ffff:0:0:2')).toBe(60)
    expect(await wrongKeys.wrong('2001:db8:0:2:0:0:0:1')).toBe(0)
    expect(await wrongKeys.wrong('192.0.2.1')).toBe(0)
    expect(await wrongKeys.wrong('192.0.2.2')).toBe(0)
  })

  it('counts wrong keys of an IPv4 address also on a listener for IPv4 and IPv6', async () => {
    const wrongKeys = new WrongKeys(1, new LocalRateLimiter(running.clock))
    const wrong = (address: string) => wrongKeys.wrong(peerAddress(address))
    expect(await wrong('0000:0000:0000:0000:0000:ffff:c000:0201')).toBe(0)
    expect(await wrong('0000:0000:0000:0000:0000:ffff:c000:0202')).toBe(0)
    expect(await wrong('0000:0000:0000:0000:0000:ffff:c000:0201')).toBe(60)
    expect(await wrong('::ffff:192.0.2.2')).toBe(60)
  })

  it('reads X-Forwarded-For from the right, past trusted proxies, up to the first text that is no address', () => {
    const addresses = new ClientAddresses(['10.0.0.0/8', '2001:db8::/32', '192.0.2.9'])
    const of = (remoteAddress: string, forwarded?: string) =>
      addresses.of({ remoteAddress, headers: { 'x-forwarded-for': forwarded } })
    expect(of('203.0.113.1', '198.51.100.1')).toBe('203.0.113.1')
    expect(of('10.1.1.1')).toBe('10.1.1.1')
    expect(of('10.1.1.1', '198.51.100.1')).toBe('198.51.100.1')
    expect(of('10.1.1.1', '1.1.1.1, 198.51.100.1:4711, 192.0.2.9')).toBe('198.51.100.1')
    expect(of('10.1.1.1', '1.1.1.1,unknown')).toBe('10.1.1.1')
    expect(of(peerAddress('2001:db8::1'), '[2001:DB9::1]:80')).toBe(peerAddress('2001:db9::1'))
    expect(of('10.1.1.1', '::ffff:192.0.2.9')).toBe('192.0.2.9')
    expect(
      new ClientAddresses([]).of({ remoteAddress: '10.1.1.1', headers: { 'x-forwarded-for': '1.1.1.1' } }),
    ).toBe('10.1.1.1')
  })

  it('counts no wrong keys where the limit is 0', async () => {
    const wrongKeys = new WrongKeys(0, new LocalRateLimiter(running.clock))
    for (let i = 0; i < 1000; i++) expect(await wrongKeys.wrong('192.0.2.1')).toBe(0)
  })
})
