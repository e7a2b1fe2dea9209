import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../src/clock.js'
import { peerAddress } from '../../src/server/peer-address.js'
import { WrongKeys } from '../../src/server/wrong-keys.js'
import { generateApiKey } from '../../src/tenancy/api-key.js'
import { type ApiResponse, apiClient } from '../support/client.js'
import { startService, type TestService } from '../support/service.js'
import { validSignatures } from '../support/trust.js'

let running: TestService
beforeAll(async () => {
  running = await startService({ COUNTERSIGN_WRONG_KEY_LIMIT: '3' })
})
afterAll(() => running?.stop())

const guess = () => apiClient(running.service.url('sandbox'), generateApiKey('sandbox')).health()

describe('an address that guesses keys', () => {
  it('is refused for a while, right guesses and all, but for keys that were good before', async () => {
    const [known, fresh] = [await running.tenant(), await running.tenant()]
    expect((await known.sandbox.health()).status).toBe(200)
    // Without a key, nothing is guessed.
    for (let i = 0; i < 5; i++) expect((await running.anonymous('sandbox').health()).status).toBe(401)
    const guesses: ApiResponse[] = []
    for (let i = 0; i < 5; i++) guesses.push(await guess())
    expect(guesses.map(({ status }) => status)).toEqual([401, 401, 401, 429, 429])
    expect(guesses[4]!.body).toMatchObject({ error: 'rate_limited', code: 'rate_limited' })
    expect(guesses[4]!.headers.get('retry-after')).toBe('20')

    // Told apart from a wrong key by nothing.
    const right = await fresh.sandbox.health()
    expect([right.status, right.body.message]).toEqual([429, guesses[4]!.body.message])
    expect(validSignatures(right, { [fresh.secret.id]: fresh.secret.secret })).toEqual([])
    expect((await known.sandbox.health()).status).toBe(200)

    running.clock.advance(MINUTE_MS)
    expect((await fresh.sandbox.health()).status).toBe(200)
    expect((await guess()).status).toBe(401)
  })

  it('is one network of 64 bits, where addresses are free to choose', () => {
    const wrongKeys = new WrongKeys(1, running.clock)
    expect(wrongKeys.wrong('2001:db8:0:1:0:0:0:1')).toBe(0)
    expect(wrongKeys.wrong('2001:db8:0:1:ffff:0:0:2')).toBe(60)
    expect(wrongKeys.wrong('2001:db8:0:2:0:0:0:1')).toBe(0)
    expect(wrongKeys.wrong('192.0.2.1')).toBe(0)
    expect(wrongKeys.wrong('192.0.2.2')).toBe(0)
  })

  it('is one of IPv4 where a listener takes both, too', () => {
    const wrongKeys = new WrongKeys(1, running.clock)
    const wrong = (address: string) => wrongKeys.wrong(peerAddress(address))
    expect(wrong('0000:0000:0000:0000:0000:ffff:c000:0201')).toBe(0)
    expect(wrong('0000:0000:0000:0000:0000:ffff:c000:0202')).toBe(0)
    expect(wrong('0000:0000:0000:0000:0000:ffff:c000:0201')).toBe(60)
    expect(wrong('::ffff:192.0.2.2')).toBe(60)
  })

  it('is no concern where the limit is off', () => {
    const wrongKeys = new WrongKeys(0, running.clock)
    for (let i = 0; i < 1000; i++) expect(wrongKeys.wrong('192.0.2.1')).toBe(0)
    expect(wrongKeys.right('192.0.2.1', 'key')).toBe(0)
  })
})
