import { describe, expect, it } from 'vitest'
import { paymentBatch } from '../../clients/node/make-action.js'
import { HOUR_MS, SECOND_MS } from '../../src/lib/clock.js'
import { LocalRateLimiter } from '../../src/tenants/rate-limiter.js'
import { expectRefusal } from '../support/answers.js'
import { type ApiClient, type ApiResponse, apiClient } from '../support/client.js'
import { serviceOfFile } from '../support/service.js'

const running = await serviceOfFile()

const productionOf = async (ratePerSecond?: number) =>
  running.production(await running.tenant(ratePerSecond === undefined ? {} : { ratePerSecond }))
/** Statuses of this many requests, one after the other; the clock stands still. */
const ask = async (client: ApiClient, times: number) => {
  const responses: ApiResponse[] = []
  for (let i = 0; i < times; i++) responses.push(await client.health())
  return responses
}
const allowed = async (client: ApiClient, times: number) =>
  (await ask(client, times)).filter(({ status }) => status === 200).length
const policy = (response: ApiResponse) => ({
  limit: response.headers.get('ratelimit'),
  policy: response.headers.get('ratelimit-policy'),
})

describe('a call with a large body', () => {
  /** Asks for the text of a batch, and returns the status and the tokens that are left. */
  async function ask({ sandbox }: { sandbox: ApiClient }, names: number, name = 'Payee') {
    const payees = Array.from({ length: names }, () => ({
      name,
      account: 'DE89370400440532013000',
      amount: '1.00',
    }))
    const batch = await paymentBatch({ currency: 'EUR', payees })
    const { status } = await sandbox.call('POST', '/v1/challenges', {
      user_id: 'batch+match',
      locale: 'en',
      ...batch,
    })
    const [, left] = /r=(\d+)/.exec(policy(await sandbox.health()).limit!)!
    return [status, Number(left)]
  }

  it.each([
    [1, 98],
    [100, 94],
    [1000, 59],
  ])('with %i payees leaves %i tokens of 100', async (names, left) => {
    expect(await ask(await running.tenant(), names)).toEqual([201, left])
  })

  it('costs never more than the burst, so that it succeeds again when the bucket is full', async () => {
    const tenant = await running.tenant()
    const longest = () => ask(tenant, 1000, 'N'.repeat(140))
    expect(await longest()).toEqual([201, 0])
    running.clock.advance(2 * SECOND_MS)
    expect(await longest()).toEqual([201, 0])
  })

  it('costs its tokens also where it is refused', async () => {
    const { sandbox } = await running.tenant()
    await sandbox.call('POST', '/v1/challenges', { user_id: 'x'.repeat(250_000) })
    expect(policy(await sandbox.health()).limit).toContain('r=0')
  })
})

describe('the contract of a production key', () => {
  it('a production key may burst two seconds’ worth of requests, then gets 429 with Retry-After', async () => {
    const client = await productionOf(3)
    const responses = await ask(client, 7)
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 429])
    const refused = responses[6]!
    expect(refused.body).toMatchObject({ error: 'rate_limited', code: 'rate_limited' })
    expect(refused.headers.get('retry-after')).toBe('1')
  })

  it('tokens are refilled at the rate of the contract', async () => {
    const client = await productionOf(3)
    expect(await allowed(client, 10)).toBe(6)
    running.clock.advance(SECOND_MS)
    expect(await allowed(client, 10)).toBe(3)
    running.clock.advance(334)
    expect(await allowed(client, 10)).toBe(1)
    running.clock.advance(3600 * SECOND_MS)
    expect(await allowed(client, 10)).toBe(6)
  })

  it('a contract may allow less than one request a second', async () => {
    const client = await productionOf(0.1)
    const [first, second] = await ask(client, 2)
    expect([first!.status, second!.status]).toEqual([200, 429])
    expect(second!.headers.get('retry-after')).toBe('10')
    running.clock.advance(10 * SECOND_MS)
    expect(await allowed(client, 2)).toBe(1)
  })

  it('the default contract allows 50 requests a second', async () => {
    const client = await productionOf()
    const [response] = await ask(client, 1)
    expect(policy(response!).policy).toBe('"requests";q=100;w=2')
  })

  it('the RateLimit header counts down and RateLimit-Policy names the contract', async () => {
    const client = await productionOf(2)
    const seen = (await ask(client, 5)).map(policy)
    expect(seen.map(({ policy }) => policy)).toEqual(Array(5).fill('"requests";q=4;w=2'))
    expect(seen.map(({ limit }) => limit)).toEqual([
      '"requests";r=3;t=1',
      '"requests";r=2;t=1',
      '"requests";r=1;t=2',
      '"requests";r=0;t=2',
      '"requests";r=0;t=2',
    ])
  })

  it('the rate limit of one tenant does not affect another', async () => {
    const [one, two] = [await productionOf(1), await productionOf(1)]
    expect(await allowed(one, 5)).toBe(2)
    expect(await allowed(two, 5)).toBe(2)
  })

  it('all keys of a tenant share one rate limit', async () => {
    const tenant = await running.tenant({ ratePerSecond: 2 })
    const first = await running.production(tenant)
    const { store, tenancy } = running.service.core
    const record = await tenancy.find(tenant.id)
    const reissue = async () => {
      const key = await store.transaction('installation', (tx) =>
        tenancy.reissueKey(tx, record, 'production', HOUR_MS, null),
      )
      return apiClient(running.service.url('production'), key)
    }
    let newest: ApiClient = first
    let sum = await allowed(first, 10)
    for (let times = 0; times < 5; times++) {
      const next = await reissue()
      sum += (await allowed(newest, 10)) + (await allowed(next, 10))
      newest = next
    }
    expect(sum).toBe(4)
  })

  it('the rate limit holds against parallel requests', async () => {
    const client = await productionOf(2)
    const responses = await Promise.all(Array.from({ length: 20 }, () => client.health()))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(4)
  })

  it('rate-limited requests take no tokens and are not audited', async () => {
    const client = await productionOf(1)
    await ask(client, 2)
    const responses = await Promise.all([
      client.enroll({}),
      client.verify({}),
      client.erase('x'),
      client.rotate(),
    ])
    expect(responses.map(({ status }) => status)).toEqual([429, 429, 429, 429])
    running.clock.advance(SECOND_MS)
    expect(await allowed(client, 3)).toBe(1)
  })

  it('a rate-limited request is refused before its body is read', async () => {
    const client = await productionOf(1)
    await ask(client, 2)
    const response = await client.call('POST', '/v1/enroll', undefined, { raw: '{broken' })
    expect(response.body.code).toBe('rate_limited')
  })

  it('a wrong key gets 401 without rate limit headers', async () => {
    const response = await apiClient(running.service.url('production'), 'svc-prod-x').health()
    expect(response.status).toBe(401)
    expect(policy(response)).toEqual({ limit: null, policy: null })
  })
})

describe('a sandbox key', () => {
  it('the contract does not change the rate limit of a sandbox key', async () => {
    const tenant = await running.tenant()
    const responses = await Promise.all(Array.from({ length: 120 }, () => tenant.sandbox.health()))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(100)
    expect(policy(responses[0]!).policy).toBe('"requests";q=100;w=5')
    running.clock.advance(SECOND_MS)
    expect(await allowed(tenant.sandbox, 25)).toBe(20)
  })

  it('requests of the sandbox do not use up the rate limit of production', async () => {
    const tenant = await running.tenant({ ratePerSecond: 1 })
    const production = await running.production(tenant)
    await ask(tenant.sandbox, 10)
    expect(await allowed(production, 5)).toBe(2)
  })
})

it('a listing of the audit log costs a token for every hundred entries that were read, and affects no other tenant', async () => {
  const { store, audit } = running.service.core
  const small = await running.tenant({ ratePerSecond: 10 })
  const key = await running.production(small)
  const list = (query: string) => key.call('GET', `/v1/audit?${query}`)
  await store.transaction('installation', async (tx) => {
    for (let i = 0; i < 1000; i++)
      await audit.append(tx, small.id, { event: 'verify', actor: 'operator', request_id: null })
  })
  running.clock.advance(60_000)
  // Twenty tokens at once: a page of fifty costs one, and a page of two hundred, with the entry behind it, three.
  expect((await list('limit=50')).headers.get('ratelimit')).toContain('r=19;')
  expect((await list('event=delete')).headers.get('ratelimit')).toContain('r=18;')
  expect((await list('limit=200')).body.data).toHaveLength(200)
  expect((await list('limit=1')).headers.get('ratelimit')).toContain('r=14;')
  for (let page = 0; page < 4; page++) expect((await list('limit=200')).status).toBe(200)
  expect((await list('limit=1')).headers.get('ratelimit')).toContain('r=1;')
  expect((await list('limit=200')).status).toBe(200)
  await expectRefusal(list('limit=1'), 429, 'rate_limited')
  // Two were owed: they come back before anything is allowed.
  running.clock.advance(200)
  expect((await list('limit=1')).status).toBe(429)
  expect((await (await productionOf(10)).call('GET', '/v1/audit')).status).toBe(200)
  running.clock.advance(200)
  expect((await list('limit=1')).status).toBe(200)
})

// At the end: the clock stays an hour behind.
describe('a clock that is set back', () => {
  it('a clock that is set back takes no tokens, and the bucket refills at its rate from then on', async () => {
    const client = await productionOf(3)
    const statuses = async (times: number) => (await ask(client, times)).map(({ status }) => status)
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
