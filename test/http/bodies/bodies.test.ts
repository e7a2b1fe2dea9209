/** What bodies hold of memory, and for how long: attacks on either transport, over listeners of their own. */

import { afterEach, describe, expect, it } from 'vitest'
import { errorHeaders, statusOf } from '../../../src/api/error-response.js'
import { nativeKernels } from '../../../src/biometrics/kernels/kernels.js'
import { BodyBudget, type BodyShare } from '../../../src/http/bodies/body-budget.js'
import type { IncomingRequest, Listener, Reply } from '../../../src/http/listeners/listener.js'
import { listen } from '../../../src/http/listeners/transport.js'
import { DomainError } from '../../../src/lib/domain-error.js'
import { poll } from '../../support/command.js'
import { openSocket, type RawConnection, rawRequest } from '../../support/raw-socket.js'
import { startService } from '../../support/service.js'
import { LIMITS, overTransports } from '../../support/transports.js'

const MIB = 2 ** 20
/** Of uWebSockets.js: what it reads of a socket at once. */
const PIECE_BYTES = 512 * 1024

const listeners: Listener[] = []
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close(1000)
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const refusal = (error: unknown): Reply => {
  if (!(error instanceof DomainError)) throw error
  return { status: statusOf(error), headers: errorHeaders(error), body: error.code }
}

describe('the budget of bodies', () => {
  it('leaves production the half that the sandbox may not take', () => {
    const budget = new BodyBudget(100)
    const [production, sandbox] = [budget.share(1), budget.share(0.5)]
    expect([sandbox.take(50), sandbox.take(1)]).toEqual([true, false])
    expect([production.take(50), production.take(1)]).toEqual([true, false])
    sandbox.give(50)
    expect([production.take(50), sandbox.take(1)]).toEqual([true, false])
    production.give(100)
    expect([budget.heldBytes, budget.peakBytes, sandbox.take(50)]).toEqual([0, 100, true])
  })
})

describe('the budget of one holder', () => {
  it('is half of the whole for one alone, a third for each of two, and leaves room for the next', () => {
    const share = new BodyBudget(120).share(1)
    const bodyOf = (name: string) => {
      const claim = share.claim(name)
      return (bytes: number) => {
        if (!share.take(bytes)) return false
        const isCounted = claim.add(bytes)
        if (!isCounted) share.give(bytes)
        return isCounted
      }
    }
    const greedy = [bodyOf('a'), bodyOf('a')]
    expect([greedy[0]!(50), greedy[1]!(10), greedy[1]!(1)]).toEqual([true, true, false])
    const second = [bodyOf('b'), bodyOf('b')]
    expect([second[0]!(29), second[1]!(1), second[1]!(1)]).toEqual([true, true, false])
    expect(bodyOf('c')(30)).toBe(true)
  })

  it('does not keep anybody from a single body, and ends with its bodies', () => {
    const share = new BodyBudget(100).share(1)
    const only = share.claim('a')
    expect([share.take(100), only.add(100)]).toEqual([true, true])
    only.end()
    share.give(100)
    const [first, second] = [share.claim('a'), share.claim('a')]
    expect([share.take(50), first.add(50)]).toEqual([true, true])
    expect([share.take(10), second.add(10)]).toEqual([true, false])
  })
})

describe('a body that comes slowly', () => {
  /** As a request's body takes memory of its share. */
  function bodyOf(share: BodyShare, gone: string[], name: string, holder?: string) {
    const claim = share.claim(holder)
    let bytes = 0
    claim.await(() => {
      gone.push(name)
      claim.end()
      share.give(bytes)
    })
    return (size: number) => {
      share.makeRoom(size, claim)
      if (!share.take(size)) return false
      if (!claim.add(size)) {
        share.give(size)
        return false
      }
      bytes += size
      return true
    }
  }

  it('gives way to the next one where there is no room, that of whoever holds most first, and not within a second', async () => {
    const share = new BodyBudget(100).share(1)
    const gone: string[] = []
    expect(bodyOf(share, gone, 'polite', 'a')(10)).toBe(true)
    expect(bodyOf(share, gone, 'greedy 1', 'b')(30)).toBe(true)
    expect(bodyOf(share, gone, 'greedy 2', 'b')(15)).toBe(true)
    expect(bodyOf(share, gone, 'large', 'c')(40)).toBe(true)
    const next = bodyOf(share, gone, 'next', 'd')
    expect([next(10), gone]).toEqual([false, []])
    await pause(1100)
    expect([next(5), gone]).toEqual([true, []])
    // Two of one holder, together the most: one goes, and with what is left of them they are that no more.
    expect([next(30), gone]).toEqual([true, ['greedy 1']])
    expect([next(31), gone]).toEqual([true, ['greedy 1', 'large']])
  })

  it('does not give way in vain, nor to whoever holds as much with several', async () => {
    const share = new BodyBudget(100).share(1)
    const gone: string[] = []
    expect(bodyOf(share, gone, 'slow', 'a')(40)).toBe(true)
    const several = [bodyOf(share, gone, 'first', 'b'), bodyOf(share, gone, 'second', 'b')]
    expect(several[0]!(30)).toBe(true)
    await pause(1100)
    // 15 more would need 45 beside them.
    expect([several[1]!(15), gone]).toEqual([true, ['slow']])
    // Not all that others hold is enough.
    expect([several[1]!(30), gone]).toEqual([false, ['slow']])
    expect([bodyOf(share, gone, 'next', 'c')(101), gone]).toEqual([false, ['slow']])
  })

  it('of the sandbox gives way to production, and never the other way round', async () => {
    const budget = new BodyBudget(100)
    const [production, sandbox] = [budget.share(1), budget.share(0.5)]
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
    const listener = await listen(
      {
        address: { host: '127.0.0.1', port: 0 },
        maxBodyBytes: 8 * MIB,
        bodies: budget.share(1),
        limits: LIMITS,
        handler,
      },
      { name },
    )
    listeners.push(listener)
    return `http://127.0.0.1:${listener.address.port}`
  }

  /** Announces 8 MiB, sends `sent` of them, and goes on with a byte now and then. */
  async function trickle(url: string, sent: number): Promise<RawConnection> {
    const connection = await openSocket(url)
    connection.send(rawRequest('POST /', [`Content-Length: ${8 * MIB}`], 'x'.repeat(sent)))
    const timer = setInterval(() => connection.send('x'), 50)
    void connection.closed().then(() => clearInterval(timer))
    return connection
  }

  describe('a body that trickles', () => {
    it('holds no memory after its 504, and its connection closes', async () => {
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
      // In TypeScript, memory is the garbage collector's to free.
      if (nativeKernels.kernels)
        expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(budget.peakBytes / 4)
      await Promise.all(connections.map((each) => each.closed()))
    }, 60_000)

    it('has nothing made of it while nobody asks, and its connection closes soon after it is refused', async () => {
      const budget = new BodyBudget(256 * MIB)
      const url = await serve(budget, async () => {
        await pause(500)
        return { status: 401, headers: {}, body: 'who?' }
      })
      const connections = await Promise.all(Array.from({ length: 10 }, () => trickle(url, 4 * MIB)))
      for (const connection of connections) expect((await connection.response())?.status).toBe(401)
      // What comes with the head, and what has been read before the first of it could be looked at.
      expect(budget.peakBytes).toBeLessThanOrEqual(name === 'node' ? 0 : 10 * 2 * PIECE_BYTES)
      expect(budget.heldBytes).toBe(0)
      const refused = performance.now()
      await Promise.all(connections.map((each) => each.closed()))
      expect(performance.now() - refused).toBeLessThan(5000)
    }, 60_000)
  })

  describe('a body beyond what all may hold together', () => {
    it('is 503 with a time to come back, and the next one passes', async () => {
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
      await poll(
        async () => budget.heldBytes,
        (bytes) => bytes === 2 * MIB,
      )
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
  })

  describe('the bodies of one holder', () => {
    it('are 503 beyond what is left free, while another holder has room', async () => {
      const budget = new BodyBudget(4 * MIB)
      let release = () => {}
      const hold = new Promise<void>((resolve) => {
        release = resolve
      })
      const url = await serve(budget, (request) =>
        request.body(performance.now() + 20_000, undefined, request.headers['x-holder']).then(async () => {
          await hold
          return { status: 200, headers: {}, body: '' }
        }, refusal),
      )
      const post = (holder: string, bytes: number) =>
        fetch(url, { method: 'POST', body: 'x'.repeat(bytes), headers: { 'X-Holder': holder } })
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
  })

  it('a tenant whose bodies trickle leaves room for those of others', async () => {
    const running = await startService({
      COUNTERSIGN_HTTP: name,
      COUNTERSIGN_MAX_BODY_BYTES: String(MIB),
      COUNTERSIGN_BODY_MEMORY_BYTES: String(4 * MIB),
    })
    try {
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
      // The sandbox has 2 MiB, of which a second body beside the first would leave less than they hold.
      await poll(
        async () => refused,
        (count) => count === connections.length - 1,
      )
      const image = 'A'.repeat(MIB / 2)
      const answer = await polite.sandbox.verify({ user_id: 'u+match', image, action: 'x' })
      expect(answer.body.code).toBe('image_unreadable')
      for (const connection of connections) connection.end()
    } finally {
      await running.stop()
    }
  }, 60_000)

  it('tenants together that trickle leave no room, and give way to whoever comes with a body', async () => {
    const running = await startService({
      COUNTERSIGN_HTTP: name,
      COUNTERSIGN_MAX_BODY_BYTES: String(MIB),
      COUNTERSIGN_BODY_MEMORY_BYTES: String(8 * MIB),
      // Without giving way, none of what they hold would be free before the test ends.
      COUNTERSIGN_DEADLINE_MS: '600000',
    })
    try {
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
      // Each with one, of which four fit in the sandbox's half; the others are refused.
      const connections = await Promise.all(greedy.map(({ sandboxKey }) => attack(sandboxKey)))
      await poll(
        async () => answers.length,
        (count) => count >= 6,
      )
      const polite = await running.tenant()
      // Together less than what each of the others holds.
      const image = 'A'.repeat(MIB / 4)
      const verify = () => polite.sandbox.verify({ user_id: 'u+match', image, action: 'x' })
      // Within their first second they are left alone.
      const codes = await poll(
        async () => (await Promise.all([verify(), verify(), verify()])).map(({ body }) => body.code),
        (all) => all.every((code) => code !== 'overloaded'),
      )
      expect(codes).toEqual(['image_unreadable', 'image_unreadable', 'image_unreadable'])
      // A body that gave way has its answer when its sender is seen to be slow.
      await poll(
        async () => answers.length,
        (count) => count > 6,
      )
      expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
        new Set([JSON.stringify({ status: 503, code: 'overloaded' })]),
      )
      for (const connection of connections) connection.end()
    } finally {
      await running.stop()
    }
  }, 60_000)

  it('an answer does not name the version of the parser', async () => {
    const url = await serve(new BodyBudget(MIB), async () => ({ status: 200, headers: {}, body: '' }))
    expect(
      [...(await fetch(url)).headers.keys()].filter((header) => /uwebsockets|server|powered/.test(header)),
    ).toEqual([])
  })
})
