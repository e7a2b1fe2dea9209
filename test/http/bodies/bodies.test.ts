/** The memory that bodies hold, and for how long: attacks on either transport, over listeners made for the test. */

import { describe, expect, it } from 'vitest'
import { errorHeaders, statusOf } from '../../../src/api/error-response.js'
import { nativeKernels } from '../../../src/biometrics/kernels/kernels.js'
import { BodyBudget, type BodyQuota } from '../../../src/http/bodies/body-budget.js'
import type { IncomingRequest, Reply } from '../../../src/http/listeners/listener.js'
import { DomainError } from '../../../src/lib/domain-error.js'
import { poll, until } from '../../support/command.js'
import { openSocket, type RawConnection, rawRequest } from '../../support/raw-socket.js'
import { serviceOfTest } from '../../support/service.js'
import { listenForTest, overTransports } from '../../support/transports.js'

const MIB = 2 ** 20
/** Bytes that uWebSockets.js reads from a socket at once. */
const PIECE_BYTES = 512 * 1024

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const refusal = (error: unknown): Reply => {
  if (!(error instanceof DomainError)) throw error
  return { status: statusOf(error), headers: errorHeaders(error), body: error.code }
}

it('the budget of bodies leaves production the half that the sandbox may not hold', () => {
  const budget = new BodyBudget(100)
  const quotas = [budget.quota(1), budget.quota(0.5)] as const
  const [production, sandbox] = [quotas[0].open(), quotas[1].open()]
  expect([sandbox.take(50), sandbox.take(1)]).toEqual([true, false])
  expect([production.take(50), production.take(1)]).toEqual([true, false])
  sandbox.release()
  expect([production.take(50), sandbox.take(1)]).toEqual([true, false])
  production.release()
  expect([budget.heldBytes, budget.peakBytes, sandbox.take(50)]).toEqual([0, 100, true])
})

describe('the budget of one tenant', () => {
  it('bounds a tenant with several bodies at half of the quota and two such tenants at a third each, so that a third tenant has room', () => {
    const quota = new BodyBudget(120).quota(1)
    const bodyOf = (name: string) => {
      const body = quota.open()
      body.assign(name)
      return (bytes: number) => body.take(bytes)
    }
    const greedy = [bodyOf('a'), bodyOf('a')]
    expect([greedy[0]!(50), greedy[1]!(10), greedy[1]!(1)]).toEqual([true, true, false])
    const second = [bodyOf('b'), bodyOf('b')]
    expect([second[0]!(29), second[1]!(1), second[1]!(1)]).toEqual([true, true, false])
    expect(bodyOf('c')(30)).toBe(true)
  })

  it('lets a tenant with a single body use the whole quota, and forgets the tenant with its last body', () => {
    const quota = new BodyBudget(100).quota(1)
    const only = quota.open()
    expect([only.assign('a'), only.take(100)]).toEqual([true, true])
    only.release()
    const [first, second] = [quota.open(), quota.open()]
    expect([first.assign('a'), second.assign('a')]).toEqual([true, true])
    expect([first.take(50), second.take(10)]).toEqual([true, false])
  })
})

describe('a body that arrives slowly', () => {
  /** Takes memory as the body of a request does, and notes in `gone` that it was evicted. */
  function bodyOf(quota: BodyQuota, gone: string[], name: string, owner?: string) {
    const body = quota.open()
    body.assign(owner)
    body.await(() => {
      gone.push(name)
      body.release()
    })
    return (size: number) => body.take(size)
  }

  it('is evicted for the next body where there is no room, largest tenant first, and never within its first second', async () => {
    const quota = new BodyBudget(100).quota(1)
    const gone: string[] = []
    expect(bodyOf(quota, gone, 'polite', 'a')(10)).toBe(true)
    expect(bodyOf(quota, gone, 'greedy 1', 'b')(30)).toBe(true)
    expect(bodyOf(quota, gone, 'greedy 2', 'b')(15)).toBe(true)
    expect(bodyOf(quota, gone, 'large', 'c')(40)).toBe(true)
    const next = bodyOf(quota, gone, 'next', 'd')
    expect([next(10), gone]).toEqual([false, []])
    await pause(1100)
    expect([next(5), gone]).toEqual([true, []])
    // The two bodies of `b` hold most together. When one is evicted, the other is no longer the largest.
    expect([next(30), gone]).toEqual([true, ['greedy 1']])
    expect([next(31), gone]).toEqual([true, ['greedy 1', 'large']])
  })

  it('is not evicted where that makes too little room, nor for a tenant with several bodies that holds as much', async () => {
    const quota = new BodyBudget(100).quota(1)
    const gone: string[] = []
    expect(bodyOf(quota, gone, 'slow', 'a')(40)).toBe(true)
    const several = [bodyOf(quota, gone, 'first', 'b'), bodyOf(quota, gone, 'second', 'b')]
    expect(several[0]!(30)).toBe(true)
    await pause(1100)
    // The tenant then holds 45, so that another 45 must stay free.
    expect([several[1]!(15), gone]).toEqual([true, ['slow']])
    // All that the others hold would not be enough.
    expect([several[1]!(30), gone]).toEqual([false, ['slow']])
    expect([bodyOf(quota, gone, 'next', 'c')(101), gone]).toEqual([false, ['slow']])
  })

  it('is evicted from the sandbox for production, and never from production for the sandbox', async () => {
    const budget = new BodyBudget(100)
    const [production, sandbox] = [budget.quota(1), budget.quota(0.5)]
    const gone: string[] = []
    expect(bodyOf(production, gone, 'production', 'a')(60)).toBe(true)
    expect(bodyOf(sandbox, gone, 'sandbox', 'a')(40)).toBe(true)
    await pause(1100)
    expect([bodyOf(sandbox, gone, 'next of the sandbox', 'b')(45), gone]).toEqual([false, []])
    expect([bodyOf(production, gone, 'next', 'b')(20), gone]).toEqual([true, ['sandbox']])
  })
})

overTransports((name) => {
  async function serve(budget: BodyBudget, handler: (request: IncomingRequest) => Promise<Reply>) {
    const listener = await listenForTest(name, { maxBodyBytes: 8 * MIB, bodies: budget.quota(1), handler })
    return `http://127.0.0.1:${listener.address.port}`
  }

  /** Announces 8 MiB, sends `sent` of them, and goes on with a byte now and then. */
  async function trickle(url: string, sent: number): Promise<RawConnection> {
    const connection = await openSocket(url)
    connection.send(rawRequest('POST /', [`Content-Length: ${8 * MIB}`], 'x'.repeat(sent)))
    const timer = setInterval(() => connection.send('x'), 250)
    void connection.closed().then(() => clearInterval(timer))
    return connection
  }

  describe('a body that trickles', () => {
    it('holds no memory after its 504, and its connection is closed', async () => {
      const budget = new BodyBudget(256 * MIB)
      const url = await serve(budget, (request) =>
        request.body(performance.now() + 3000).then(() => ({ status: 200, headers: {}, body: '' }), refusal),
      )
      const before = process.memoryUsage().arrayBuffers
      const connections = await Promise.all(Array.from({ length: 60 }, () => trickle(url, 1 * MIB)))
      const statuses = await Promise.all(connections.map(async (each) => (await each.response())?.status))
      expect(new Set(statuses)).toEqual(new Set([504]))
      expect(budget.peakBytes).toBeGreaterThan(30 * MIB)
      expect(budget.heldBytes).toBe(0)
      // Without the native kernels, the garbage collector frees the memory some time later.
      if (nativeKernels.kernels)
        expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(budget.peakBytes / 4)
      await Promise.all(connections.map((each) => each.closed()))
    }, 60_000)

    it('takes no memory while no handler asks for it, and its connection is closed soon after the refusal', async () => {
      const budget = new BodyBudget(256 * MIB)
      const url = await serve(budget, async () => {
        await pause(500)
        return { status: 401, headers: {}, body: 'who?' }
      })
      const connections = await Promise.all(Array.from({ length: 10 }, () => trickle(url, 4 * MIB)))
      for (const connection of connections) expect((await connection.response())?.status).toBe(401)
      // uWebSockets.js hands over what came with the head and what it had read before it could be paused.
      expect(budget.peakBytes).toBeLessThanOrEqual(name === 'node' ? 0 : 10 * 2 * PIECE_BYTES)
      expect(budget.heldBytes).toBe(0)
      const refused = performance.now()
      await Promise.all(connections.map((each) => each.closed()))
      expect(performance.now() - refused).toBeLessThan(5000)
    }, 60_000)
  })

  it('a body beyond the total is answered 503 with Retry-After, and the next one is served', async () => {
    const budget = new BodyBudget(3 * MIB)
    let hold = pause(0)
    const url = await serve(budget, (request) =>
      request.body(performance.now() + 20_000).then(async (body) => {
        const { length } = body
        await hold
        return { status: 200, headers: {}, body: String(length) }
      }, refusal),
    )
    const post = (bytes: number) => fetch(url, { method: 'POST', body: 'x'.repeat(bytes) })
    let release = () => {}
    hold = new Promise<void>((resolve) => {
      release = resolve
    })
    const first = post(2 * MIB)
    await until(() => budget.heldBytes === 2 * MIB)
    const second = await post(2 * MIB)
    expect([second.status, await second.text(), second.headers.get('retry-after')]).toEqual([
      503,
      'overloaded',
      '1',
    ])
    release()
    expect(await (await first).text()).toBe(String(2 * MIB))
    expect(budget.heldBytes).toBe(0)
    expect(await (await post(2 * MIB)).text()).toBe(String(2 * MIB))
  }, 60_000)

  it('several bodies of one tenant are answered 503 beyond what stays free, while another tenant has room', async () => {
    const budget = new BodyBudget(4 * MIB)
    let release = () => {}
    const hold = new Promise<void>((resolve) => {
      release = resolve
    })
    const url = await serve(budget, (request) =>
      request.body(performance.now() + 20_000, undefined, request.headers['x-owner']).then(async () => {
        await hold
        return { status: 200, headers: {}, body: '' }
      }, refusal),
    )
    const post = (owner: string, bytes: number) =>
      fetch(url, { method: 'POST', body: 'x'.repeat(bytes), headers: { 'X-Owner': owner } })
    const held = (bytes: number) =>
      poll(
        async () => budget.heldBytes,
        (current) => current === bytes,
      )
    const under = [post('a', MIB)]
    await held(MIB)
    under.push(post('a', MIB))
    await held(2 * MIB)
    expect((await post('a', MIB)).status).toBe(503)
    await held(2 * MIB)
    under.push(post('b', MIB))
    await held(3 * MIB)
    release()
    for (const answer of under) expect((await answer).status).toBe(200)
    expect(budget.heldBytes).toBe(0)
  }, 60_000)

  it('keeps room for other tenants while one tenant trickles many bodies', async () => {
    const running = await serviceOfTest({
      COUNTERSIGN_HTTP: name,
      COUNTERSIGN_MAX_BODY_BYTES: String(MIB),
      COUNTERSIGN_BODY_MEMORY_BYTES: String(4 * MIB),
    })
    const [greedy, polite] = [await running.tenant(), await running.tenant()]
    const head = [
      `Authorization: Bearer ${greedy.sandboxKey}`,
      'Content-Type: application/json',
      `Content-Length: ${MIB}`,
    ]
    const url = running.service.url('sandbox')
    const connections = await Promise.all(Array.from({ length: 6 }, () => openSocket(url)))
    let refused = 0
    for (const connection of connections) {
      connection.send(rawRequest('POST /v1/verify', head, 'x'.repeat(MIB - 1)))
      void connection.response().then((answer) => {
        if (answer?.status === 503) refused++
      })
    }
    // The sandbox has 2 MiB: a second body of the tenant would leave less free than the two hold.
    await until(() => refused === connections.length - 1)
    const image = 'A'.repeat(MIB / 2)
    const answer = await polite.sandbox.verify({ user_id: 'u+match', image, action: 'x' })
    expect(answer.body.code).toBe('image_unreadable')
    for (const connection of connections) connection.end()
  }, 60_000)

  it('evicts bodies that several tenants trickle together, so that another tenant is served', async () => {
    const running = await serviceOfTest({
      COUNTERSIGN_HTTP: name,
      COUNTERSIGN_MAX_BODY_BYTES: String(MIB),
      COUNTERSIGN_BODY_MEMORY_BYTES: String(8 * MIB),
      // Without eviction, none of what they hold would be free before the test ends.
      COUNTERSIGN_DEADLINE_MS: '600000',
    })
    const greedy = await Promise.all(Array.from({ length: 10 }, () => running.tenant()))
    const url = running.service.url('sandbox')
    const answers: Array<{ status: number; code: unknown }> = []
    const attack = async (key: string) => {
      const connection = await openSocket(url)
      const head = [`Authorization: Bearer ${key}`, 'Content-Type: application/json']
      const part = 'x'.repeat(MIB - 2000)
      connection.send(rawRequest('POST /v1/verify', [...head, `Content-Length: ${MIB}`], part))
      const timer = setInterval(() => connection.send('x'), 100)
      void connection.closed().then(() => clearInterval(timer))
      void connection.response().then((answer) => {
        if (answer) answers.push({ status: answer.status, code: answer.body.code })
      })
      return connection
    }
    // Each tenant sends one body. Four of them fit in the sandbox's half; the others are refused.
    const connections = await Promise.all(greedy.map(({ sandboxKey }) => attack(sandboxKey)))
    await until(() => answers.length >= 6)
    const polite = await running.tenant()
    // The three bodies together are smaller than what each of the other tenants holds.
    const image = 'A'.repeat(MIB / 4)
    const verify = () => polite.sandbox.verify({ user_id: 'u+match', image, action: 'x' })
    // The slow bodies are not evicted within their first second. A tenant that asked all the time would meet his rate.
    await new Promise((resolve) => setTimeout(resolve, 1000))
    const codes = await poll(
      async () => (await Promise.all([verify(), verify(), verify()])).map(({ body }) => body.code),
      (all) => all.every((code) => code !== 'overloaded'),
      100,
    )
    expect(codes).toEqual(['image_unreadable', 'image_unreadable', 'image_unreadable'])
    // An evicted body is answered when its sender is seen to be slow.
    await until(() => answers.length > 6)
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify({ status: 503, code: 'overloaded' })]),
    )
    for (const connection of connections) connection.end()
  }, 60_000)

  it('does not name the HTTP server or its version in an answer', async () => {
    const url = await serve(new BodyBudget(MIB), async () => ({ status: 200, headers: {}, body: '' }))
    expect(
      [...(await fetch(url)).headers.keys()].filter((header) => /uwebsockets|server|powered/.test(header)),
    ).toEqual([])
  })
})
