/** Attacks on the sign-in to the dashboard, each with its own service: who is admitted, who is refused, and what the logs record. */

import { writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { accountWriter } from '../../src/admin/accounts/account-statements.js'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { loadOperatorPassword, type OperatorPassword } from '../../src/dashboard/sign-in/operator-password.js'
import { Sessions } from '../../src/dashboard/sign-in/sessions.js'
import { SignIn } from '../../src/dashboard/sign-in/sign-in.js'
import { LocalRateLimiter } from '../../src/tenants/rate-limiter.js'
import { loginToken, request, signIn } from '../support/dashboard.js'
import { operationsOf } from '../support/operations.js'
import { OPERATOR_HASH, OPERATOR_PASSWORD } from '../support/operator.js'
import { forgetHashes } from '../support/quick-scrypt.mjs'
import { startService, type TestService } from '../support/service.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { entriesOf as entries } from './console.js'

const MINUTE_MS = 60_000
const ends: Array<() => unknown> = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function start(env: Record<string, string> = {}): Promise<TestService> {
  const running = await startService(env)
  ends.push(() => running.stop())
  return running
}

const post = (running: TestService, credentials: object, headers: Record<string, string> = {}) =>
  request(running, 'POST', '/session', credentials, { Origin: running.service.adminUrl, ...headers })

describe('the audit log', () => {
  it('records a tenant’s sign-in by link, and the link, only in the tenant’s log', async () => {
    const running = await start()
    const [own, other] = [await running.tenant(), await running.tenant()]
    const operator = await signIn(running, { password: OPERATOR_PASSWORD })
    const before = (await entries(running, other.id)).length
    const made = await operator.call('POST', `/tenants/${own.id}/login-link`)
    const token = made.body.login_link.split('/').at(-1)
    expect((await post(running, { login_token: token })).status).toBe(201)
    expect((await entries(running, own.id)).slice(-2)).toMatchObject([
      { event: 'login_link_made', actor: 'dashboard:operator', request_id: expect.any(String) },
      { event: 'signed_in', actor: 'dashboard:tenant', request_id: expect.any(String) },
    ])
    expect(await entries(running, other.id)).toHaveLength(before)
    expect(JSON.stringify(await entries(running, own.id))).not.toContain(token)
    // A used link admits nobody, but the attempt is recorded.
    expect((await post(running, { login_token: token })).status).toBe(401)
    expect((await entries(running, own.id)).at(-1)).toMatchObject({ event: 'sign_in_failed', count: 1 })
  })

  it('records every operator’s sign-in in every log', async () => {
    const running = await start()
    // More tenants than are recorded at once.
    const tenants = []
    for (let i = 0; i < 21; i++) tenants.push(await running.tenant())
    const { operators } = running.operations
    const { password } = await operators.add('kim@example.com', 'viewer', COMMAND_LINE)
    await signIn(running, { password: OPERATOR_PASSWORD })
    await signIn(running, { name: 'kim@example.com', password })
    const { store, audit } = running.service.core
    for (const { id } of tenants) {
      expect((await entries(running, id)).slice(-2)).toMatchObject([
        { event: 'signed_in', actor: 'dashboard:operator' },
        { event: 'signed_in', actor: 'dashboard:kim@example.com' },
      ])
      expect((await audit.verify(store.read, id)).brokenAt).toBeNull()
    }
  })

  it('records refused sign-ins at once, and many by their number, so that strangers cannot fill it', async () => {
    const running = await start()
    const { id } = await running.tenant()
    const recorded = async () =>
      (await entries(running, id)).filter(({ event }) => event === 'sign_in_failed')
    const secret = 'hunter2 in the wrong field'
    for (let tries = 0; tries < 10; tries++)
      expect((await post(running, { name: secret, password: 'wrong' })).status).toBe(401)
    expect(await recorded()).toMatchObject([{ actor: 'dashboard', status: 401, count: 1 }])
    running.clock.advance(11 * MINUTE_MS)
    expect((await post(running, { password: 'wrong' })).status).toBe(401)
    expect(await recorded()).toMatchObject([{ count: 1 }, { count: 10 }])
    expect((await post(running, { login_token: 'guessed' })).status).toBe(401)
    // A sign-in after guesses is recorded.
    await signIn(running, { password: OPERATOR_PASSWORD })
    expect((await entries(running, id)).slice(-2)).toMatchObject([
      { event: 'sign_in_failed', count: 1 },
      { event: 'signed_in', actor: 'dashboard:operator' },
    ])
    const lines = running
      .logText()
      .split('\n')
      .filter((line) => line.includes('sign-in to the dashboard'))
    expect(lines).toHaveLength(12)
    expect(JSON.parse(lines[0]!)).toMatchObject({ address: '127.0.0.1', request_id: expect.any(String) })
    expect(running.logText() + JSON.stringify(await recorded())).not.toContain(secret)
  })
})

describe('guesses at the operator’s password', () => {
  it('slow down only their own network behind a trusted proxy', async () => {
    const running = await start({ COUNTERSIGN_TRUSTED_PROXIES: '127.0.0.1' })
    const from = (address: string) => ({ 'X-Forwarded-For': address })
    const guess = (address: string) => post(running, { password: 'wrong' }, from(address))
    for (let tries = 0; tries < 10; tries++) await guess(`2001:db8::${tries}`)
    expect((await guess('2001:db8::ffff')).body.code).toBe('too_many_sign_ins')
    // A forged address in front of the guesser's own does not change the network.
    expect((await guess('198.51.100.1, 2001:db8::1')).body.code).toBe('too_many_sign_ins')
    expect((await post(running, { password: OPERATOR_PASSWORD }, from('198.51.100.7'))).status).toBe(201)
  })

  it('are refused before the password is compared, so that the right one is refused as well', async () => {
    const running = await start()
    for (let tries = 0; tries < 10; tries++) await post(running, { login_token: 'x' })
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => post(running, { password: OPERATOR_PASSWORD })),
    )
    expect(new Set(answers.map(({ body }) => body.code))).toEqual(new Set(['too_many_sign_ins']))
    expect(Number(answers[0]!.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

describe('a session', () => {
  it('is never the one from before the sign-in', async () => {
    const running = await start()
    const { id } = await running.tenant()
    const planted = `countersign_session=${'A'.repeat(43)}`
    const signedIn = await post(running, { password: OPERATOR_PASSWORD }, { Cookie: planted })
    const own = signedIn.headers.get('set-cookie')!.split(';')[0]!
    expect(own).not.toBe(planted)
    const status = async (cookie: string) =>
      (await request(running, 'GET', '/session', undefined, { Cookie: cookie })).status
    expect([await status(planted), await status(own)]).toEqual([401, 200])
    // Neither a link's token nor the fingerprint of the password serves as a session.
    const token = await loginToken(running, id)
    expect(await status(`countersign_session=${token}`)).toBe(401)
  })

  it('has a cookie that, over TLS, no other host of the domain can set', async () => {
    const running = await start({ COUNTERSIGN_ADMIN_URL: 'https://desk.example.test' })
    const { port } = running.service.addresses.admin
    const ask = (method: string, headers: Record<string, string>, body = '') =>
      new Promise<{ status: number; cookie: string }>((resolve, reject) => {
        const Host = 'desk.example.test'
        const all = { Host, Origin: `https://${Host}`, 'Content-Type': 'application/json', ...headers }
        const options = { port, host: '127.0.0.1', path: '/api/session', method, headers: all }
        httpRequest(options, (response) => {
          response.resume()
          resolve({ status: response.statusCode!, cookie: response.headers['set-cookie']?.[0] ?? '' })
        })
          .on('error', reject)
          .end(body)
      })
    const { cookie } = await ask('POST', {}, JSON.stringify({ password: OPERATOR_PASSWORD }))
    expect(cookie).toMatch(
      /^__Host-countersign_session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=28800; Secure$/,
    )
    const own = cookie.split(';')[0]!
    const tossed = own.replace('__Host-', '')
    expect((await ask('GET', { Cookie: own })).status).toBe(200)
    expect((await ask('GET', { Cookie: tossed })).status).toBe(401)
    const planted = `countersign_session=${'A'.repeat(43)}; ${own}`
    expect((await ask('GET', { Cookie: planted })).status).toBe(200)
  })
})

/** Another password has this one. */
const OTHER_HASH = OPERATOR_HASH.replace('scrypt$Q', 'scrypt$R')

const guest = { address: '127.0.0.1', browser: undefined, requestId: 'req_1' }

/** The sign-in of a service, with a password of the operator's that the test watches. */
function signInOf({ service, clock }: TestService, operatorPassword: OperatorPassword) {
  const { signIns, secondFactors } = operationsOf(service)
  const parts = {
    ...{ store: service.core.store, config: service.config, clock, operatorPassword, signIns, secondFactors },
    ...{ isSecure: false, attempts: new LocalRateLimiter(clock) },
  }
  const sessions = new Sessions(parts)
  return { sessions, signIn: new SignIn(parts, sessions) }
}

/** The sign-in waits for its slow hash, while another request replaces its password. */
describe('a new password', () => {
  it('invalidates a named operator’s sign-in in flight with the old one', async () => {
    const running = await start()
    const { store } = running.service.core
    const { operators } = running.operations
    const added = await operators.add('kim@example.com', 'admin', COMMAND_LINE)
    // A hash of a test is derived at once (`quick-scrypt.mjs`); this one takes its time.
    const [password, operator] = [OPERATOR_PASSWORD, { ...added.operator, passwordHash: OPERATOR_HASH }]
    await store.transaction('installation', (tx) => tx.statements(accountWriter).putPerson(operator))
    const own = await loadOperatorPassword({ operatorPassword: OPERATOR_HASH, operatorPasswordFile: '' })
    const { signIn } = signInOf(running, own)
    for (const change of ['reset', 'removed'] as const) {
      forgetHashes()
      const signingIn = signIn.byCredentials({ name: operator.name, password }, guest)
      const outcome = signingIn.catch((error) => error.code)
      await new Promise(setImmediate)
      await store.transaction('installation', async (tx) => {
        if (change === 'removed') return tx.statements(accountWriter).deletePerson(operator.id)
        await tx.statements(accountWriter).putPerson({ ...operator, passwordHash: OTHER_HASH })
        await tx.statements(accountWriter).deletePersonSessions(operator.id)
      })
      expect([change, await outcome]).toEqual([change, 'sign_in_failed'])
      // Restores the operator for the next case.
      await store.transaction('installation', (tx) => tx.statements(accountWriter).putPerson(operator))
    }
  })

  it('invalidates the unnamed operator’s sign-in in flight with the old one', async () => {
    const running = await start()
    const file = join(temporaryFolder(), 'operator.password')
    writeFileSync(file, OPERATOR_HASH)
    const kept = await loadOperatorPassword({ operatorPassword: undefined, operatorPasswordFile: file })
    const password = {
      ...kept,
      async matches(given: string) {
        const isRight = await kept.matches(given)
        writeFileSync(file, OTHER_HASH)
        return isRight
      },
    }
    const { signIn, sessions } = signInOf(running, password)
    const { token } = await signIn.byCredentials({ password: OPERATOR_PASSWORD }, guest)
    const found = sessions.find({ headers: { cookie: `countersign_session=${token}` } })
    await expect(found).rejects.toMatchObject({ code: 'not_signed_in' })
  })
})
