/** Sign-in by an OpenID provider, with a provider that the test runs. */

import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { request } from '../support/dashboard.js'
import { serviceOfTest } from '../support/service.js'
import { entriesOf, startWithProvider, tokenOf } from './console.js'

const NAME = 'kim@example.com'
const { running, provider } = await startWithProvider({
  COUNTERSIGN_OPERATOR_PASSWORD: 'correct horse battery',
  COUNTERSIGN_OIDC_TENANT_GROUPS: 'bank-admins=bank:admin, bank-audit=bank:viewer, gone=nowhere:admin',
})
afterAll(() => running.stop())
await running.operations.operators.add(NAME, 'viewer', COMMAND_LINE)
beforeEach(() => {
  provider.claims = { email: NAME, email_verified: true }
  // The rate limit admits further sign-ins after this time.
  running.clock.advance(120_000)
})

const api = (path: string, cookie?: string, { service } = running) =>
  fetch(`http://127.0.0.1:${service.addresses.admin.port}/api${path}`, {
    redirect: 'manual',
    headers: cookie ? { Cookie: cookie } : {},
  })
const signIn = (credentials: object) =>
  request(running, 'POST', '/session', credentials, { Origin: running.service.adminUrl })
const cookieOf = (response: Response) => response.headers.get('set-cookie')!.split(';')[0]!
const location = (response: Response) => response.headers.get('location')!

/** Goes to the provider and back, up to the last step, which is the test's. @param query asks there for a new sign-in, perhaps */
async function begin(query = '', at = running) {
  const login = await api(`/oidc/login${query}`, undefined, at)
  const back = await fetch(location(login), { redirect: 'manual' })
  const { pathname, search } = new URL(location(back))
  return { login, cookie: cookieOf(login), callback: `${pathname}${search}`.replace(/^\/api/, '') }
}
let lastRequestId: string | undefined
/** @returns the reason in the address of the page to which the browser is led */
async function refused(path: string, cookie?: string, at = running) {
  const response = await api(path, cookie, at)
  expect([response.status, response.headers.get('set-cookie')]).toEqual([302, null])
  expect(await response.text()).toBe('')
  const [, reason, requestId] = /^\/#\/sign-in-failed\/([a-z_]+)\/([0-9a-f-]{36})$/.exec(location(response))!
  lastRequestId = requestId
  return reason
}

describe('sign-in by an OpenID provider', () => {
  it('signs a named operator in without a password, with the role that the dashboard has stored', async () => {
    const { login, cookie, callback } = await begin()
    expect(login.headers.get('set-cookie')).toMatch(
      /; Path=\/api\/oidc; HttpOnly; SameSite=Lax; Max-Age=600$/,
    )
    const asked = new URL(location(login)).searchParams
    expect(Object.fromEntries(asked)).toMatchObject({
      client_id: 'countersign',
      code_challenge_method: 'S256',
      response_type: 'code',
      redirect_uri: `${running.service.adminUrl}/api/oidc/callback`,
    })
    const signedIn = await api(callback, cookie)
    expect([signedIn.status, location(signedIn)]).toEqual([302, '/'])
    expect(signedIn.headers.get('set-cookie')).toMatch(/^countersign_session=.+HttpOnly; SameSite=Strict/)
    const session = await (await api('/session', cookieOf(signedIn))).json()
    expect(session).toMatchObject({ role: 'operator', person: { name: NAME, role: 'viewer' } })
  })

  it('accepts an answer only in the browser that asked for it, and only once', async () => {
    const [mine, theirs] = [await begin(), await begin()]
    expect(await refused(mine.callback)).toBe('not_begun_here')
    expect(await refused(theirs.callback, mine.cookie)).toBe('invalid_answer')
    expect((await api(mine.callback, mine.cookie)).status).toBe(302)
    expect(await refused(mine.callback, mine.cookie)).toBe('invalid_answer')
  })

  type Query = URLSearchParams
  it.each([
    ['another state than the one of this browser', (query: Query) => query.set('state', 'x'.repeat(43))],
    ['an empty state', (query: Query) => query.set('state', '')],
    ['no state', (query: Query) => query.delete('state')],
    ['its state twice', (query: Query) => query.append('state', query.get('state')!)],
  ])(
    'refuses an answer with %s without a request to the provider, although its code is right',
    async (_, falsify) => {
      const { cookie, callback } = await begin()
      const asked = provider.tokenRequests
      const [path, query] = callback.split('?')
      const falsified = new URLSearchParams(query)
      falsify(falsified)
      expect(await refused(`${path}?${falsified}`, cookie)).toBe('invalid_answer')
      expect(provider.tokenRequests).toBe(asked)
      // The code had not been used up, so that only the state was the reason.
      expect(location(await api(callback, cookie))).toBe('/')
    },
  )

  it('refuses a token that was issued for another sign-in', async () => {
    provider.claims = { email: NAME, email_verified: true, nonce: 'of-another' }
    const { cookie, callback } = await begin()
    expect(await refused(callback, cookie)).toBe('invalid_answer')
  })

  it('reports a refusal by the provider without showing the provider’s text', async () => {
    const { cookie, callback } = await begin()
    const state = new URLSearchParams(callback.split('?')[1]).get('state')!
    const answer = new URLSearchParams({ state, error: 'access_denied', error_description: 'call 555 now' })
    expect(await refused(`/oidc/callback?${answer}`, cookie)).toBe('provider_refused')
    // The log has the cause under the request id that the page shows.
    const line = running
      .logText()
      .split('\n')
      .findLast((text) => text.includes('a sign-in by the provider failed'))!
    expect(JSON.parse(line)).toMatchObject({ request_id: lastRequestId, problem: 'provider_refused' })
    expect(line).not.toMatch(/client-secret|code_verifier/)
  })

  it('stores when and how an operator last signed in', async () => {
    const { cookie, callback } = await begin()
    await api(callback, cookie)
    const [kim] = await running.operations.operators.list()
    expect(kim).toMatchObject({ lastSignInAt: running.clock.now(), lastSignInBy: 'oidc' })
  })

  describe('when a fresh sign-in is required', () => {
    const now = () => Math.floor(running.clock.now() / 1000)
    const ADMIN = 'admin@example.com'
    beforeAll(() => running.operations.operators.add(ADMIN, 'admin', COMMAND_LINE))

    const beginFresh = () => begin('?fresh')
    /** @returns status and code of adding an operator, which requires a fresh sign-in */
    async function add(cookie: string) {
      const session = (await (await api('/session', cookie)).json()) as { csrf_token: string }
      const headers = { Cookie: cookie, Origin: running.service.adminUrl, 'X-CSRF-Token': session.csrf_token }
      const person = { name: `added-${running.clock.now()}`, role: 'viewer' }
      const { status, body } = await request(running, 'POST', '/operators', person, headers)
      return [status, body.code, body.confirm_by]
    }

    it('refuses a sign-in whose time the provider does not report, or that is too old', async () => {
      for (const claims of [{}, { auth_time: now() - 16 * 60 }]) {
        provider.claims = { email: ADMIN, email_verified: true, ...claims }
        const { cookie, callback } = await begin()
        const session = cookieOf(await api(callback, cookie))
        expect(await add(session)).toEqual([403, 'fresh_sign_in_required', 'oidc'])
        const fresh = await beginFresh()
        expect(await refused(fresh.callback, fresh.cookie)).toBe('not_fresh')
      }
    })

    it('makes the provider ask again, and uses the time that it reports', async () => {
      const { login, cookie, callback } = await beginFresh()
      const asked = new URL(location(login)).searchParams
      expect([asked.get('prompt'), asked.get('max_age')]).toEqual(['login', '0'])
      provider.claims = { email: ADMIN, email_verified: true, auth_time: now() - 10 }
      const session = cookieOf(await api(callback, cookie))
      expect((await add(session))[0]).toBe(201)
      running.clock.advance(15 * 60_000)
      expect((await add(session))[1]).toBe('fresh_sign_in_required')
    })

    it('does not prolong a fresh sign-in by a time in the future', async () => {
      provider.claims = { email: ADMIN, email_verified: true, auth_time: now() + 86_400 }
      const { cookie, callback } = await beginFresh()
      const session = cookieOf(await api(callback, cookie))
      expect((await add(session))[0]).toBe(201)
      running.clock.advance(15 * 60_000)
      expect((await add(session))[1]).toBe('fresh_sign_in_required')
    })
  })

  it('disables the sign-in by password unless a setting allows it', async () => {
    const { password } = await running.operations.operators.add('sam', 'admin', COMMAND_LINE)
    for (const credentials of [
      { password: 'correct horse battery' },
      { name: 'sam', password },
      { password: 'x' },
    ])
      expect((await signIn(credentials)).outcome).toBe('403 password_sign_in_off')
  })

  it('leaves the command line’s sign-in link, which works once within ten minutes and has an audit entry', async () => {
    const { operators } = running.operations
    const { id } = await running.tenant()
    const { adminUrl } = running.service
    const open = async (link: string) => {
      const { status, body } = await signIn({ login_token: tokenOf(link) })
      return [status, body.person ?? body.code]
    }
    const [named, unnamed, late] = [
      await operators.createSignInLink(NAME, adminUrl, COMMAND_LINE),
      await operators.createSignInLink('operator', adminUrl, COMMAND_LINE),
      await operators.createSignInLink('operator', adminUrl, COMMAND_LINE),
    ]
    expect(await open(named)).toEqual([201, { name: NAME, role: 'viewer' }])
    expect(await open(named)).toEqual([401, 'sign_in_failed'])
    expect(await open(unnamed)).toEqual([201, { name: 'operator', role: 'admin' }])
    running.clock.advance(10 * 60_000)
    expect(await open(late)).toEqual([401, 'sign_in_failed'])
    await expect(operators.createSignInLink('nobody', adminUrl, COMMAND_LINE)).rejects.toMatchObject({
      code: 'operator_not_found',
    })
    const entries = await entriesOf(running, id)
    expect(entries.filter(({ event }) => event === 'operator_link_made')).toMatchObject([
      { name: NAME, actor: 'operator' },
      { name: 'operator' },
      { name: 'operator' },
    ])
  })

  it('is rate-limited, and counts its failures', async () => {
    const counted = async () =>
      /^countersign_dashboard_refusals_total\{code="sign_in_failed"\} (\d+)/m.exec(
        await (await fetch(`${running.service.adminUrl}/metrics`)).text(),
      )?.[1] ?? '0'
    const before = Number(await counted())
    provider.claims = { email: 'stranger@example.com', email_verified: true }
    const reasons: Array<string | undefined> = []
    for (let tries = 0; tries < 13; tries++) {
      const { cookie, callback } = await begin()
      reasons.push(await refused(callback, cookie))
    }
    expect(new Set(reasons)).toEqual(new Set(['unknown_person', 'too_many_sign_ins']))
    const unknown = reasons.filter((reason) => reason === 'unknown_person').length
    expect(Number(await counted())).toBe(before + unknown)
    running.clock.advance(120_000)
  })

  it.each([
    ['whom nobody has added', { email: 'stranger@example.com', email_verified: true }, 'unknown_person'],
    ['whose address is not verified', { email: NAME, email_verified: false }, 'nameless'],
    ['whose address is not said to be verified', { email: NAME }, 'nameless'],
    ['whose address a text says not to be verified', { email: NAME, email_verified: 'false' }, 'nameless'],
    ['whose address a number says to be verified', { email: NAME, email_verified: 1 }, 'nameless'],
    ['without an address', {}, 'nameless'],
  ])('refuses a person %s, with an audit entry', async (_, claims, reason) => {
    const { id } = await running.tenant()
    // Refusals are recorded once in ten minutes.
    running.clock.advance(11 * 60_000)
    provider.claims = claims
    const { cookie, callback } = await begin()
    expect(await refused(callback, cookie)).toBe(reason)
    expect((await entriesOf(running, id)).at(-1)).toMatchObject({ event: 'sign_in_failed' })
  })

  it('admits a person whose address a text says to be verified, names them in the audit log, and leads nowhere else', async () => {
    const { id } = await running.tenant()
    provider.claims = { email: NAME, email_verified: 'true' }
    const { cookie, callback } = await begin()
    const answer = await api(`${callback}&redirect_uri=https://evil.example&next=//evil.example`, cookie)
    expect([answer.status, location(answer)]).toEqual([302, '/'])
    const entry = { event: 'signed_in', actor: `dashboard:${NAME}` }
    expect((await entriesOf(running, id)).at(-1)).toMatchObject(entry)
  })

  it('asks the provider about no more made-up codes than the rate limit allows', async () => {
    const before = provider.tokenRequests
    const made = 'countersign_oidc=state.nonce.verifier'
    const tries = Array.from({ length: 30 }, () => refused('/oidc/callback?code=made-up&state=state', made))
    const problems = await Promise.all(tries)
    expect(problems.filter((each) => each === 'invalid_answer')).toHaveLength(10)
    expect(problems.filter((each) => each === 'too_many_sign_ins')).toHaveLength(20)
    expect(provider.tokenRequests - before).toBe(10)
  })

  it('has a state cookie that, over TLS, no other host of the domain can set', async () => {
    const secure = await startWithProvider({ COUNTERSIGN_ADMIN_URL: 'https://127.0.0.1' })
    onTestFinished(() => secure.running.stop())
    const { login, cookie, callback } = await begin('', secure.running)
    expect(login.headers.get('set-cookie')).toMatch(
      /^__Host-countersign_oidc=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/,
    )
    expect(await refused(callback, cookie.replace('__Host-', ''), secure.running)).toBe('not_begun_here')
  })

  it('reports that the provider cannot be reached, and tries it again the next time', async () => {
    const absent = await serviceOfTest({
      COUNTERSIGN_OIDC_ISSUER: 'http://127.0.0.1:9',
      COUNTERSIGN_OIDC_CLIENT_ID: 'countersign',
    })
    for (let tries = 0; tries < 2; tries++) {
      const answer = await fetch(`${absent.service.adminUrl}/api/oidc/login`, { redirect: 'manual' })
      expect(location(answer)).toMatch(/^\/#\/sign-in-failed\/provider_unreachable\//)
    }
  })

  it('reports whether it is configured', async () => {
    expect(await (await api('/oidc')).json()).toEqual({ enabled: true, password: false, signed_in: false })
    const without = await serviceOfTest()
    const ask = (path: string) => fetch(`${without.service.adminUrl}/api${path}`, { redirect: 'manual' })
    expect(await (await ask('/oidc')).json()).toEqual({ enabled: false, password: true, signed_in: false })
    expect((await ask('/oidc/login')).status).toBe(404)
  })

  describe('for people of tenants', () => {
    let bankId: string
    const PIA = 'pia@bank.example'
    const peopleOfBank = () => running.operations.peopleOf(bankId)
    beforeAll(async () => {
      const { store } = running.service.core
      const operations = running.operations
      await operations.tenants.create('bank', COMMAND_LINE, {}, running.service.adminUrl)
      bankId = (await store.read.tenantByName('bank'))!.id
    })
    const claim = (email: string, groups?: unknown) => {
      provider.claims = { email, email_verified: true, ...(groups === undefined ? {} : { groups }) }
    }
    async function sessionOf(email: string, groups?: unknown) {
      claim(email, groups)
      const { cookie, callback } = await begin()
      const signedIn = await api(callback, cookie)
      return (await (await api('/session', cookieOf(signedIn))).json()) as Record<string, unknown>
    }
    async function refusal(email: string, groups?: unknown) {
      claim(email, groups)
      const { cookie, callback } = await begin()
      return refused(callback, cookie)
    }

    it('adds a person in a mapped group with tenant and role of the first group that matches', async () => {
      expect(await sessionOf(PIA, ['everybody', 'bank-audit'])).toMatchObject({
        role: 'tenant',
        person: { name: PIA, role: 'viewer' },
        tenant_id: bankId,
        password: null,
      })
      expect(await sessionOf(PIA, ['bank-audit', 'bank-admins'])).toMatchObject({ person: { role: 'admin' } })
      expect((await entriesOf(running, bankId)).filter(({ name }) => name === PIA)).toMatchObject([
        { event: 'person_added', role: 'viewer', by: 'provider', actor: 'dashboard' },
        { event: 'person_changed', role: 'admin', by: 'provider', actor: 'dashboard' },
      ])
    })

    it('refuses a person who has left the group', async () => {
      await sessionOf('rob@bank.example', ['bank-admins'])
      expect(await refusal('rob@bank.example', ['everybody'])).toBe('unknown_person')
      expect(await refusal('rob@bank.example')).toBe('unknown_person')
    })

    it('admits an invited person without a group', async () => {
      await peopleOfBank().invite('ivy@bank.example', 'viewer', running.service.adminUrl, COMMAND_LINE)
      expect(await sessionOf('ivy@bank.example')).toMatchObject({
        role: 'tenant',
        person: { name: 'ivy@bank.example', role: 'viewer' },
      })
    })

    it('neither makes nor changes an operator', async () => {
      expect(await refusal('eve@bank.example', ['operators', 'admin'])).toBe('unknown_person')
      const before = await running.operations.operators.list()
      expect(await sessionOf(NAME, ['bank-admins'])).toMatchObject({
        role: 'operator',
        person: { name: NAME, role: 'viewer' },
        tenant_id: null,
      })
      const after = await running.operations.operators.list()
      expect(after.map(({ name, role }) => [name, role])).toEqual(
        before.map(({ name, role }) => [name, role]),
      )
      expect((await peopleOfBank().list()).map(({ name }) => name)).not.toContain(NAME)
    })

    it('refuses access to a tenant that is suspended, unknown, or not the person’s own', async () => {
      expect(await refusal('zoe@bank.example', ['gone'])).toBe('unknown_person')
      const other = await running.tenant()
      const { store } = running.service.core
      const operations = running.operations
      await running.operations
        .peopleOf(other.id)
        .invite('max@bank.example', 'viewer', running.service.adminUrl, COMMAND_LINE)
      expect(await refusal('max@bank.example', ['bank-admins'])).toBe('unknown_person')
      const bank = (await store.read.tenantById(bankId))!
      await operations.lifecycle.suspend(bank, COMMAND_LINE)
      for (const email of [PIA, 'new@bank.example'])
        expect(await refusal(email, ['bank-admins'])).toBe('tenant_suspended')
      await operations.lifecycle.resume(bank, COMMAND_LINE)
    })
  })
})
