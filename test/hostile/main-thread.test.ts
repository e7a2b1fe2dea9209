/**
 * Sends each endpoint its costliest valid body. Everything that is not the engine's work runs on one thread, so no call may hold it for
 * long, and nobody else may wait because of one.
 *
 * The cost is the CPU time of the service's main thread as the kernel counts it, and the least of several calls: another process on the
 * machine changes it far less than a wall clock.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { paymentBatch } from '../../clients/node/make-action.js'
import { type EndpointDescription, SMALL_BODY_BYTES } from '../../src/api/endpoint.js'
import { STEPS } from '../../src/features/challenges/film/steps.js'
import { RETURN_ORIGIN, Visitor } from '../support/capture-page.js'
import { DESCRIPTIONS } from '../support/descriptions.js'
import { plain } from '../support/images.js'
import { startVictim, type Victim } from './service.js'

const MAX_HELD_MS = 20
/** A busy machine slows all calls alike: a call may cost as much as so many health reports, which take 0.5 ms on a quiet one. */
const MAX_REPORTS = 40
const CALLS = 5
/** The default. */
const SANDBOX_RATE = '20/s'
const PHASE_MS = 4000
const ATTACKS_EVERY_MS = 100
/** A bystander's p99 below this is a wait that nobody notices. */
const UNNOTICED_MS = 40

const LONGEST_NAME = 'aа'.repeat(70)
const LONGEST_ID = 'ü'.repeat(128)
const ENROLLED = `${'ü'.repeat(122)}+match`
/** An action of 4 KiB with as many values as fit. */
const WIDE_ACTION = { list: Array.from({ length: 2000 }, () => 1) }
const batch = await paymentBatch({
  currency: 'EUR',
  payees: Array.from({ length: 755 }, () => ({
    name: LONGEST_NAME,
    account: 'DE89370400440532013000',
    amount: '1.00',
  })),
})
const small = await paymentBatch({
  currency: 'EUR',
  payees: [{ name: 'Ada', account: 'DE89', amount: '1.00' }],
})
const consent = {
  type: 'consent',
  title: 'а'.repeat(100),
  text: 'aа '.repeat(700).trim(),
  version: '1',
}
/** A picture of nearly 6 MiB, to which decoders pay no attention after its end. */
const picture = Buffer.concat([await plain(), Buffer.alloc(5_900_000)]).toString('base64')

interface Costly {
  /** Status of the answer: where a rule refuses the body, it does so after all of it was read. Undefined for any but that of a fault. */
  status?: number
  /** Turns of the thread in which the work is done, with other calls in between. Default 1. */
  turns?: number
  /** Added to the path. */
  query?: string
  /** At the production API, where the sandbox refuses it. */
  inProduction?: true
  body?: object
}

const challenge = { user_id: 'a+match', locale: 'en' }
/** The costliest body of endpoints of which more is known than their schema says. */
const KNOWN: Record<string, Costly> = {
  // A body of 8 MB is read, and its picture decoded from base64, in turns of their own.
  enroll: { status: 201, turns: 2, body: { user_id: ENROLLED, image: picture, replace: true } },
  verify: {
    status: 200,
    turns: 2,
    body: { user_id: ENROLLED, image: picture, action: WIDE_ACTION, nonce: 'ü'.repeat(256) },
  },
  delete: { status: 404, body: { user_id: LONGEST_ID } },
  health: { status: 200 },
  rotate_signing: { status: 200, inProduction: true, body: { force: true } },
  get_user: { status: 200 },
  list_audit: { status: 200, query: '?limit=200' },
  create_challenge: { status: 201, turns: 2, body: { ...challenge, ...batch } },
  guide: { status: 200, body: { image: picture.slice(0, 400_000), user_id: ENROLLED } },
  create_capture_session: {
    status: 201,
    body: { user_id: 'a+match', return_url: `${RETURN_ORIGIN}/`, ...batch },
  },
  get_capture_session: { status: 404 },
  get_verification: { status: 404 },
  begin_passkey_registration: { status: 201, body: {} },
  cancel_passkey_recovery: { status: 404 },
  register_passkey: {
    status: 404,
    body: {
      challenge_id: `chl_${'0'.repeat(32)}`,
      nonce: 'a'.repeat(43),
      credential: {
        ...{ id: 'a'.repeat(40), rawId: 'a'.repeat(40), type: 'public-key', clientExtensionResults: {} },
        response: { clientDataJSON: 'a'.repeat(1000), attestationObject: 'a'.repeat(6000) },
      },
    },
  },
  list_passkeys: { status: 200 },
  revoke_passkey: { status: 404 },
  begin_passkey_assertion: { status: 404, body: { action: WIDE_ACTION } },
}

/** Fills the example of an endpoint with the longest texts that its schema allows. */
function longestBody({ body, example = {}, maxBodyBytes = SMALL_BODY_BYTES }: EndpointDescription): object {
  const fields = body as {
    properties?: Record<string, { type?: string; maxLength?: number; pattern?: string }>
  }
  const longest = Object.entries(fields.properties ?? {}).map(([name, { type, maxLength, pattern }]) => {
    const isText = type === 'string' && pattern === undefined && typeof (example[name] ?? '') === 'string'
    return [name, isText ? 'ü'.repeat(maxLength ?? maxBodyBytes / 4) : example[name]]
  })
  return Object.fromEntries(longest)
}

/** The costliest body of each endpoint. */
const COSTLIEST: Record<string, Costly> = Object.fromEntries(
  DESCRIPTIONS.map((one) => [one.id, KNOWN[one.id] ?? (one.body ? { body: longestBody(one) } : {})]),
)
/** Further bodies of endpoints that take actions of several kinds. */
const FURTHER: Array<[string, Costly]> = [
  ['create_challenge', { status: 201, body: { ...challenge, action: consent } }],
  ['create_challenge', { status: 201, body: { ...challenge, action: WIDE_ACTION, locale: undefined } }],
]

interface Answer {
  status: number
  headers: Headers
  text: string
}

async function fetchAll(url: string | URL, init?: RequestInit): Promise<Answer> {
  const response = await fetch(url, init)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describe.runIf(process.platform === 'linux')('the costliest valid body of each endpoint', () => {
  let victim: Victim

  beforeAll(async () => {
    victim = await startVictim(inject('modelsDir'), undefined, {
      COUNTERSIGN_SANDBOX_RATE_LIMIT: SANDBOX_RATE,
      COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_OPENID_LISTEN: '127.0.0.1:0',
    })
    await victim.cli('tenant', 'capture-page', 'hostile', '--return-origin', RETURN_ORIGIN)
    await victim.cli(
      ...['tenant', 'passkeys', 'hostile', '--rp-id', 'bank.example', '--origin', RETURN_ORIGIN],
      ...['--registration', 'backend'],
    )
  })
  afterAll(() => victim?.stop())

  /** CPU time of the main thread since the start, in milliseconds. */
  const mainThreadMs = () =>
    Number(readFileSync(`/proc/${victim.pid}/task/${victim.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6

  function send(id: string, { query = '', inProduction, body }: Omit<Costly, 'status'>) {
    const description = DESCRIPTIONS.find((one) => one.id === id)!
    const path = description.path
      .replace('{user_id}', encodeURIComponent(ENROLLED))
      .replace(/\{[^}]*\}/g, '0'.repeat(36))
    const [url, key] = inProduction ? [victim.url, victim.key] : [victim.sandboxUrl, victim.sandboxKey]
    return fetchAll(new URL(path + query, url), {
      method: description.method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(description.method === 'GET' || !body ? {} : { body: JSON.stringify(body) }),
    })
  }

  /** Sends a call again for as long as the rate refuses it. */
  async function accepted(send: () => Promise<Answer>): Promise<Answer & { costMs: number }> {
    for (;;) {
      const before = mainThreadMs()
      const answer = await send()
      const costMs = mainThreadMs() - before
      if (answer.status !== 429) return { ...answer, costMs }
      await pause(1000 * Number(answer.headers.get('retry-after')))
    }
  }

  /** Measures calls, those that seem to cost too much again. */
  async function expectLight(
    calls: Array<
      [what: string, status: number | undefined, send: () => Promise<Answer>, turns?: number | undefined]
    >,
  ) {
    const wrong: string[] = []
    /** The least CPU time that a call took, of several. */
    const leastMs = async (what: string, status: number | undefined, send: () => Promise<Answer>) => {
      const costs: number[] = []
      while (costs.length < CALLS) {
        const answer = await accepted(send)
        if (status === undefined ? answer.status >= 500 : answer.status !== status)
          wrong.push(`${what}: ${answer.status} ${answer.text.slice(0, 400)}`)
        costs.push(answer.costMs)
      }
      return Math.min(...costs)
    }
    const maxMs = Math.max(
      MAX_HELD_MS,
      MAX_REPORTS * (await leastMs('health', 200, () => send('health', {}))),
    )
    const costs: Array<[string, number]> = []
    for (const [what, status, send, turns = 1] of calls) {
      const turnMs = async () => (await leastMs(what, status, send)) / turns
      const first = await turnMs()
      costs.push([what, first > maxMs ? Math.min(first, await turnMs()) : first])
    }
    console.log(costs.map(([what, ms]) => `${what} ${ms.toFixed(1)} ms`).join(', '))
    expect(wrong).toEqual([])
    expect(costs.filter(([, ms]) => ms > maxMs)).toEqual([])
  }

  it('is known only of endpoints that there are', () => {
    expect(Object.keys(KNOWN).filter((id) => !(id in COSTLIEST))).toEqual([])
  })

  it('holds the main thread for 20 ms at most, or for as long as 40 health reports on a busy machine', async () => {
    await expectLight(
      [...Object.entries(COSTLIEST), ...FURTHER].map(([id, request]) => [
        id,
        request.status,
        () => send(id as string, request),
        request.turns,
      ]),
    )
  })

  it('holds it no longer on the page of a person', async () => {
    const session = async () => {
      const { text } = await accepted(() => send('create_capture_session', COSTLIEST.create_capture_session!))
      const visitor = new Visitor(JSON.parse(text).url)
      await visitor.open()
      return visitor
    }
    const visitor = await session()
    await visitor.agree()
    const page = (step: string, body: object) => async () => {
      const { status, headers, body: answer } = await visitor.post(step, body)
      return { status, headers, text: JSON.stringify(answer) }
    }
    const fresh: Visitor[] = []
    for (let i = 0; i < 2 * CALLS; i++) fresh.push(await session())
    await expectLight([
      // Each of them writes the text of a session for the first time.
      [
        'page',
        200,
        async () => {
          const { status, headers, text } = await (fresh.pop() ?? visitor).open()
          return { status, headers, text }
        },
      ],
      ['consent', 200, page('consent', { agree: true, version: 'а'.repeat(30), sha256: '0'.repeat(64) })],
      ['challenge', 409, page('challenge', { display: '0'.repeat(64) })],
      ['guidance', 200, page('guidance', { image: picture.slice(0, 400_000), step: STEPS[0] })],
    ])
  })

  it('holds it no longer at the OpenID provider', async () => {
    const { client_id: id, client_secret: secret } = await victim.cli(
      ...['openid', 'add', 'hostile', 'portal', '--sandbox', '--redirect-uri', `${RETURN_ORIGIN}/callback`],
    )
    const push = (more: Record<string, string>) => () =>
      fetchAll(`${victim.openidUrl}/sandbox/request`, {
        method: 'POST',
        headers: { Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
        body: new URLSearchParams({
          ...{ client_id: id, response_type: 'code', scope: 'openid', state: 's', nonce: 'n' },
          ...{ redirect_uri: `${RETURN_ORIGIN}/callback`, login_hint: 'a+match' },
          ...{ code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' },
          ...more,
        }),
      })
    const many = Object.fromEntries(Array.from({ length: 6000 }, (_, i) => [`p${i}`, '1']))
    await expectLight([
      ['action', 201, push({ authorization_details: JSON.stringify([consent]) })],
      ['state', 201, push({ state: 'ü'.repeat(9000) })],
      ['parameters', 201, push(many)],
    ])
  })

  it('holds it no longer at the dashboard', async () => {
    const link = await victim.cli('tenant', 'login-link', 'hostile')
    const origin = victim.dashboardUrl
    const signedIn = await fetchAll(`${origin}/api/session`, {
      method: 'POST',
      headers: { Origin: origin, 'Content-Type': 'application/json' },
      body: JSON.stringify({ login_token: link.dashboard_url.split('/').at(-1) }),
    })
    const headers = {
      ...{ Origin: origin, 'Content-Type': 'application/json' },
      Cookie: signedIn.headers.get('set-cookie')!.split(';')[0]!,
      'X-CSRF-Token': JSON.parse(signedIn.text).csrf_token as string,
    }
    const tenant = JSON.parse(signedIn.text).tenant_id
    const at = (path: string, body: object | undefined) => () =>
      fetchAll(`${origin}/api/tenants/${tenant}${path}`, {
        headers,
        ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
      })
    const rules = Array.from({ length: 100 }, (_, i) => ({
      name: `rule-${i}`,
      when: { type: `type_${i}` },
      require: {},
    }))
    const policy = { rules: [...rules, { name: 'else', require: {} }] }
    await expectLight([
      ['audit', 200, at('/audit?limit=1000', undefined)],
      ['requests', 200, at('/requests?environment=sandbox', undefined)],
      [
        'policy',
        200,
        at('/policy/check', { policy: JSON.stringify(policy), action: JSON.stringify({ type: 'type_99' }) }),
      ],
      // The same body as that of an enrollment, in as many turns.
      ['inspect', 422, at('/try/inspect', { image: picture }), 2],
    ])
  })

  /** Milliseconds below which 99 % of a bystander's calls stay while the endpoint gets this body at the rate of its key. */
  async function bystanderP99(body: object): Promise<number> {
    let isOver = false
    const sent: Array<Promise<unknown>> = []
    const attack = (async () => {
      while (!isOver) {
        sent.push(send('create_challenge', { body }))
        await pause(ATTACKS_EVERY_MS)
      }
    })()
    const times: number[] = []
    const end = performance.now() + PHASE_MS
    while (performance.now() < end) {
      const begun = performance.now()
      const response = await fetch(`${victim.url}/health`, {
        headers: { Authorization: `Bearer ${victim.key}` },
      })
      await response.arrayBuffer()
      times.push(performance.now() - begun)
    }
    isOver = true
    await attack
    await Promise.all(sent)
    return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)]!
  }

  it('lets a bystander wait no longer than small calls do', async () => {
    const measure = async () => {
      const control = await bystanderP99({ ...challenge, ...small })
      const attacked = await bystanderP99({ ...challenge, ...batch })
      console.log(
        `a bystander's p99: ${control.toFixed(1)} ms with small calls, ${attacked.toFixed(1)} ms with large ones`,
      )
      return attacked <= Math.max(UNNOTICED_MS, 2 * control)
    }
    expect((await measure()) || (await measure())).toBe(true)
  })
})
