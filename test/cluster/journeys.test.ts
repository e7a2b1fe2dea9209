/** Journeys that begin at one of two services and end at the other, and concurrent calls of both that take effect once. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { ACTION, allowReturn, askForSession, Visitor } from '../support/capture-page.js'
import { answerTo } from '../support/challenges.js'
import { type ApiClient, type ApiResponse, apiClient } from '../support/client.js'
import { poll } from '../support/command.js'
import { base64, face } from '../support/faces.js'
import { plain } from '../support/images.js'
import { operationsOf } from '../support/operations.js'
import { OPERATOR_HASH, OPERATOR_PASSWORD } from '../support/operator.js'
import { overPostgres } from '../support/postgres.js'
import { Balancer } from './balancer.js'
import { type Cluster, type ClusterTenant, makeTenant, startCluster } from './nodes.js'

const ATTEMPTS = 4
/** A minute. */
const WRONG_KEYS = 20

/** Asks again where the service was held up for so long that it trusts its hold on what is shared no more, as callers do. */
function patient(client: ApiClient): ApiClient {
  const methods = Object.entries(client).map(([name, ask]) => [
    name,
    (...given: unknown[]) =>
      poll(
        () => (ask as (...given: unknown[]) => Promise<ApiResponse>)(...given),
        ({ body }) => body?.code !== 'store_unavailable',
      ),
  ])
  return Object.fromEntries(methods)
}

overPostgres(() => {
  let cluster: Cluster
  let tenant: ClusterTenant
  /** Before the dashboards, and before the capture pages. */
  let dashboards: Balancer
  let pages: Balancer
  let ada: string
  let adaToday: string
  let joan: string
  let blank: string
  let users = 0
  const newUser = (suffix = '') => `user-${++users}${suffix}`

  beforeAll(async () => {
    ada = base64(await face('ada'))
    adaToday = base64(await face('adaElsewhere'))
    joan = base64(await face('joan'))
    blank = base64(await plain())
    const listeners = { admin: [] as Array<{ port: number }>, capture: [] as Array<{ port: number }> }
    dashboards = await Balancer.start(listeners.admin)
    pages = await Balancer.start(listeners.capture)
    cluster = await startCluster(2, {
      COUNTERSIGN_ADMIN_URL: dashboards.url,
      COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_CAPTURE_URL: pages.url,
      COUNTERSIGN_OPERATOR_PASSWORD: OPERATOR_HASH,
      COUNTERSIGN_LOCKOUT_ATTEMPTS: String(ATTEMPTS),
      COUNTERSIGN_REPLAY_POLICY: 'reject',
      COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s',
      COUNTERSIGN_WRONG_KEY_LIMIT: String(WRONG_KEYS),
      // A busy machine takes its time with twenty frames.
      COUNTERSIGN_DEADLINE_MS: '60000',
    })
    for (const { addresses } of cluster.nodes) {
      listeners.admin.push(addresses.admin)
      listeners.capture.push(addresses.capture!)
    }
  })
  afterAll(async () => {
    await cluster?.stop()
    dashboards?.close()
    pages?.close()
  })
  beforeEach(async () => {
    const made = await makeTenant(cluster)
    tenant = { ...made, production: made.production.map(patient), sandbox: made.sandbox.map(patient) }
  })

  const core = (node: number) => cluster.nodes[node]!.core
  const record = () => core(0).tenancy.find(tenant.id)
  const events = async (event: string) =>
    (await core(1).store.read.auditEntries(tenant.id, 0, 10_000))
      .map(({ entry }) => JSON.parse(entry))
      .filter((entry) => entry.event === event)
  const both = <T>(clients: ApiClient[], ask: (client: ApiClient, node: number) => Promise<T>) =>
    Promise.all(clients.map(ask))

  it('an idempotency key that reaches two services concurrently is executed once and answered alike', async () => {
    for (let round = 0; round < 5; round++) {
      const once = { headers: { 'X-Svc-Idempotency-Key': `key-${round}` } }
      const user_id = newUser()
      const enroll = (client: ApiClient) => client.enroll({ user_id, image: ada, replace: true }, once)
      const first = await both(tenant.production, enroll)
      for (const { status, body } of first)
        if (status !== 201) expect([status, body.code]).toEqual([409, 'idempotency_in_progress'])
      const [one, other] = await both(tenant.production, enroll)
      expect([one!.status, one!.text]).toEqual([201, other!.text])
      expect(await events('enroll')).toHaveLength(round + 1)
    }
  })

  it('an idempotency key with another payload is refused by both services, concurrently too', async () => {
    const once = { headers: { 'X-Svc-Idempotency-Key': 'of-another' } }
    await tenant.sandbox[0]!.enroll({ user_id: newUser(), image: blank }, once)
    const other = { user_id: newUser(), image: blank }
    for (let round = 0; round < 5; round++)
      for (const { status, body } of await both(tenant.sandbox, (client) => client.enroll(other, once)))
        expect([status, body.code]).toEqual([422, 'idempotency_key_reused'])
  })

  it('a capture that reaches two services concurrently is approved by only one', async () => {
    for (let round = 0; round < 5; round++) {
      const user_id = newUser()
      await tenant.production[0]!.enroll({ user_id, image: ada })
      const answers = await both(tenant.production, (client) =>
        client.verify({ user_id, image: adaToday, action: 'x' }),
      )
      const verdicts = answers.map(({ body }) => body.reason ?? body.verdict)
      expect(verdicts.sort()).toEqual(['approved', 'replayed_capture'])
    }
  })

  async function challenged(node: number) {
    const user_id = newUser('+match')
    const { body } = await tenant.sandbox[node]!.call('POST', '/v1/challenges', { user_id, action: ACTION })
    return { user_id, action: ACTION, challenge: answerTo(body, blank) }
  }

  it('a challenge from one service is answered once at the other', async () => {
    const answer = await challenged(0)
    const { status, body } = await tenant.sandbox[1]!.verify(answer)
    expect([status, body.verdict]).toEqual([200, 'approved'])
    expect((await tenant.sandbox[0]!.verify(answer)).body.code).toBe('challenge_used')
  })

  it('a challenge that is answered at two services concurrently counts at only one', async () => {
    for (let round = 0; round < 3; round++) {
      const answer = await challenged(round % 2)
      const answers = await both(tenant.sandbox, (client) => client.verify(answer))
      expect(answers.map(({ body }) => body.code ?? body.verdict).sort()).toEqual([
        'approved',
        'challenge_used',
      ])
    }
  })

  describe('a session of the capture page', () => {
    async function session(fields: Record<string, unknown> = {}) {
      await allowReturn({ service: cluster.nodes[0]! }, tenant)
      const { status, body } = await askForSession(tenant.sandbox[0]!, {
        user_id: newUser('+match'),
        ...fields,
      })
      expect([status, body.url?.startsWith(`${pages.url}/capture/`)]).toEqual([201, true])
      return { id: body.session_id as string, url: body.url as string }
    }
    const look = async (node: number, id: string) =>
      (await tenant.sandbox[node]!.call('GET', `/v1/capture-sessions/${id}`)).body

    it('a capture session alternates between services with every step, to the verdict', async () => {
      const { id, url } = await session()
      const visitor = new Visitor(url)
      expect((await visitor.open()).status).toBe(200)
      expect((await visitor.agree()).status).toBe(200)
      expect((await visitor.status()).status).toBe(200)
      expect((await visitor.capture(blank)).body.state).toBe('over')
      for (const node of [0, 1])
        expect(await look(node, id)).toMatchObject({
          status: 'completed',
          attempts: 1,
          result: { status: 200, body: { verdict: 'approved' } },
        })
    })

    it('a capture session that is handed to a phone ends there, at either service', async () => {
      const { id, url } = await session()
      const visitor = new Visitor(url)
      await visitor.open()
      const phone = new Visitor((await visitor.post('phone')).body.url)
      expect((await phone.open()).status).toBe(200)
      await phone.agree()
      expect((await phone.capture(blank)).body.state).toBe('over')
      for (const { body } of [await visitor.status(), await visitor.status()]) expect(body.state).toBe('over')
      expect(await look(1, id)).toMatchObject({ status: 'completed', attempts: 1 })
    })

    it('a capture session belongs to the first browser, whichever service it reached', async () => {
      const { url } = await session()
      const opened = await Promise.all([1, 2, 3, 4].map(() => new Visitor(url).open()))
      expect(opened.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403])
    })

    it('a capture session has the same number of attempts over two services as over one', async () => {
      const user_id = newUser('+no_match')
      await tenant.sandbox[0]!.enroll({ user_id, image: blank })
      const { id, url } = await session({ user_id })
      const visitor = new Visitor(url)
      await visitor.enter()
      for (let i = 0; i < 5; i++) {
        const { body } = await visitor.post('challenge')
        if (body.state !== 'challenge') continue
        const { frames } = answerTo({ challenge_id: '', nonce: '', steps: body.challenge.steps }, blank)
        await Promise.all([visitor.post('frames', { frames }), visitor.post('frames', { frames })])
      }
      const { attempts, status } = await look(1, id)
      expect([attempts, status]).toEqual([3, 'completed'])
    })
  })

  describe('the dashboard', () => {
    interface Browser {
      call(method: string, path: string, body?: unknown): Promise<ApiResponse>
    }
    /** Every request goes to another node than the one before. */
    async function signIn(credentials: Record<string, string>): Promise<Browser> {
      const client = apiClient(`${dashboards.url}/v1`)
      const origin = { Origin: dashboards.url }
      const signedIn = await client.call('POST', '/api/session', credentials, { headers: origin })
      expect(signedIn.status).toBe(201)
      const headers = {
        ...origin,
        Cookie: signedIn.headers.get('set-cookie')!.split(';')[0]!,
        'X-CSRF-Token': signedIn.body.csrf_token,
      }
      return { call: (method, path, body) => client.call(method, `/api${path}`, body, { headers }) }
    }
    let operator: Browser
    beforeAll(async () => {
      operator = await signIn({ password: OPERATOR_PASSWORD })
    })
    const twice = async (ask: () => Promise<ApiResponse>) => [await ask(), await ask()]

    it('the dashboard of each service shows changes of tenants and webhooks at once', async () => {
      const made = await operator.call('POST', '/tenants', { name: newUser() })
      const path = `/tenants/${made.body.tenant.id}`
      for (const { status } of await twice(() => operator.call('GET', path))) expect(status).toBe(200)
      const webhook = { url: 'https://bank.example/hook', environment: 'sandbox', events: [] }
      const { body: added } = await operator.call('POST', `${path}/webhooks`, webhook)
      for (const { body } of await twice(() => operator.call('GET', `${path}/webhooks`)))
        expect(body.webhooks).toMatchObject([{ id: added.id }])
      const { body: tested } = await operator.call('POST', `${path}/webhooks/test`, { webhook: added.id })
      for (const { body } of await twice(() => operator.call('GET', `${path}/webhooks/deliveries`)))
        expect(body.deliveries).toMatchObject([{ id: tested.delivery }])
      await operator.call('POST', `${path}/webhooks/remove`, { webhook: added.id })
      for (const { body } of await twice(() => operator.call('GET', `${path}/webhooks`)))
        expect(body.webhooks).toEqual([])
      const { name } = made.body.tenant
      expect((await operator.call('DELETE', path, { name })).body.status).toBe('deleted')
      for (const node of [0, 1]) {
        const client = apiClient(cluster.nodes[node]!.url('sandbox'), made.body.sandbox_key)
        expect((await client.health()).status).toBe(401)
      }
    })

    it('a key reissued at one dashboard is accepted by both services, and the one before refused by both', async () => {
      const keys = `/tenants/${tenant.id}/keys`
      const reissue = (grace_seconds: number) =>
        operator.call('POST', `${keys}/reissue`, { type: 'sandbox', grace_seconds })
      const { key } = (await reissue(600)).body
      for (const [node, old] of tenant.sandbox.entries()) {
        const client = apiClient(cluster.nodes[node]!.url('sandbox'), key)
        expect([(await client.health()).status, (await old.health()).status]).toEqual([200, 200])
      }
      await reissue(0)
      for (const old of tenant.sandbox) expect((await old.health()).status).toBe(401)
    })

    it('one service unlocks a user whom the other has locked out', async () => {
      const user_id = newUser()
      await tenant.production[0]!.enroll({ user_id, image: ada })
      for (let i = 0; i < ATTEMPTS; i++)
        await tenant.production[0]!.verify({ user_id, image: joan, action: `${i}` })
      const find = () =>
        operator.call('POST', `/tenants/${tenant.id}/users/find`, { environment: 'production', user_id })
      for (const { body } of await twice(find)) expect(body.user.lockout.status).toBe('locked_out')
      const unlocked = await operator.call('POST', `/tenants/${tenant.id}/users/unlock`, { user_id })
      expect(unlocked.status).toBe(200)
      for (const answer of await twice(find)) expect(answer.body.user.lockout.status).toBe('none')
      const { body: verified } = await tenant.production[0]!.verify({ user_id, image: adaToday, action: 'x' })
      expect(verified.verdict).toBe('approved')
    })

    it('operators, their roles and their removal hold at both services', async () => {
      const name = `${newUser()}@example.com`
      const { password } = (await operator.call('POST', '/operators', { name, role: 'viewer' })).body
      const own = await signIn({ name, password })
      const change = () => own.call('POST', '/tenants', { name: newUser() })
      for (const { body } of await twice(change)) expect(body.code).toBe('not_permitted')
      await operator.call('POST', '/operators/role', { name, role: 'admin' })
      for (const { status } of await twice(change)) expect(status).toBe(201)
      // The last one with a name could not be removed there.
      await operationsOf(cluster.nodes[1]!).operators.remove(name, COMMAND_LINE)
      for (const { status } of await twice(change)) expect(status).toBe(401)
    })
  })

  describe('limits', () => {
    it('the rate limit of a tenant holds for both services together', async () => {
      const contract = { ratePerSecond: 1, fmr: null, requireLiveness: null, replaceVerdictMinutes: null }
      const { burst } = await operationsOf(cluster.nodes[0]!).tenants.setContract(
        await record(),
        COMMAND_LINE,
        contract,
      )
      const startedMs = performance.now()
      const asked = Array.from({ length: 4 * burst + 20 }, (_, i) =>
        tenant.production[i % 2]!.erase(newUser()),
      )
      const admitted = (await Promise.all(asked)).filter(({ status }) => status !== 429).length
      const seconds = (performance.now() - startedMs) / 1000
      expect(admitted).toBeGreaterThan(0)
      expect(admitted).toBeLessThanOrEqual(burst + Math.ceil(seconds))
    })

    it('the limit of wrong API keys holds for both services together', async () => {
      const strangers = cluster.nodes.map((node) =>
        apiClient(node.url('sandbox'), `csk_sandbox_${'x'.repeat(43)}`),
      )
      const startedMs = performance.now()
      const answers = await Promise.all(
        Array.from({ length: 6 * WRONG_KEYS }, (_, i) => strangers[i % 2]!.health()),
      )
      const heard = answers.filter(({ status }) => status === 401).length
      expect(heard).toBeGreaterThan(0)
      expect(heard).toBeLessThanOrEqual(
        WRONG_KEYS + Math.ceil(((performance.now() - startedMs) / 60_000) * WRONG_KEYS),
      )
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(answers.length - heard)
    })

    it('the limit of password guesses holds for both services together', async () => {
      const client = apiClient(`${dashboards.url}/v1`)
      const guess = () =>
        client.call('POST', '/api/session', { password: 'a guess' }, { headers: { Origin: dashboards.url } })
      const startedMs = performance.now()
      const answers = await Promise.all(Array.from({ length: 24 }, guess))
      const tried = answers.filter(({ status }) => status !== 429).length
      expect(tried).toBeLessThanOrEqual(10 + Math.ceil((performance.now() - startedMs) / 10_000))
    })
  })

  it('an audit log that two services write has no gap, and each service shows all of it', async () => {
    await Promise.all(Array.from({ length: 60 }, (_, i) => tenant.production[i % 2]!.erase(newUser())))
    expect(await events('delete')).toHaveLength(60)
    for (const node of [0, 1]) {
      const { audit, store } = core(node)
      expect((await audit.verify(store.read, tenant.id)).brokenAt).toBeNull()
    }
  })
})
