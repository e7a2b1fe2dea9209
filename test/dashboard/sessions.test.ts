/** Sessions of the dashboard: how they end, who sees them, and which routes require a fresh sign-in. */

import { beforeEach, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { MINUTE_MS } from '../../src/lib/clock.js'
import {
  addressOf,
  type DashboardClient,
  loginToken,
  request,
  routesOf,
  signIn as signInFrom,
} from '../support/dashboard.js'
import { base64, face } from '../support/faces.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { serviceOfTest, type TestTenant } from '../support/service.js'
import { openConsole } from './console.js'

const desk = await openConsole()
const { running } = desk
let tenant: TestTenant
beforeEach(async () => {
  desk.tenant = tenant = await running.tenant()
  // No session then has the same age as one of the test before.
  running.clock.advance(MINUTE_MS)
})

const asTenant = () => desk.byLink()
const asOperator = (password?: string, name?: string) => desk.asOperator(password, name)
const codeOf = async (client: DashboardClient, method = 'GET', path = '/session', body?: unknown) => {
  const answer = await client.call(method, path, body)
  return answer.body.code ?? answer.status
}
const named = () => running.service.core.tenancy.find(tenant.id)
const entries = () => desk.entries()

describe('a tenant that is suspended', () => {
  it('cannot reveal keys, rotate secrets, erase users or sign in by an earlier link', async () => {
    const production = await running.production(tenant)
    await production.enroll({ user_id: 'ada', image: base64(await face('ada')) })
    const session = await asTenant()
    const unused = await loginToken(running, tenant.id)
    const { lifecycle } = desk.operations
    await lifecycle.suspend(await named(), COMMAND_LINE)

    const below = (path: string) => `/tenants/${tenant.id}${path}`
    const before = await running.service.core.store.read.signingSecrets(tenant.id, running.clock.now())
    for (const [method, path, body] of [
      ['GET', below('')],
      ['POST', below('/keys/reveal')],
      ['POST', below('/keys/reissue'), { type: 'production', grace_seconds: 0 }],
      ['POST', below('/rotate-signing'), { force: true }],
      ['POST', below('/erase'), { environment: 'production', user_id: 'ada' }],
    ] as Array<[string, string, unknown?]>)
      expect([path, await codeOf(session, method, path, body)]).toEqual([path, 'not_signed_in'])
    await expect(desk.signIn({ login_token: unused })).rejects.toThrow('sign_in_failed')
    expect(await running.service.core.store.read.signingSecrets(tenant.id, running.clock.now())).toEqual(
      before,
    )
    expect((await running.service.core.store.read.referencesOf(tenant.id)).production).toBe(1)
    expect((await entries()).find(({ event }) => event === 'tenant_suspended')).toMatchObject({
      sessions: 1,
      links: 1,
    })

    // Sessions and links that the suspension ended stay ended after the tenant is resumed.
    await lifecycle.resume(await named(), COMMAND_LINE)
    expect(await codeOf(session)).toBe('not_signed_in')
    await expect(desk.signIn({ login_token: unused })).rejects.toThrow('sign_in_failed')
    expect(await codeOf(await asTenant())).toBe(200)
  })

  it('cannot act by a session or a link of an earlier version', async () => {
    const session = await asTenant()
    const unused = await loginToken(running, tenant.id)
    const { store } = running.service.core
    await store.transaction('installation', (tx) => tx.setSuspended(tenant.id, running.clock.now()))
    const path = `/tenants/${tenant.id}`
    for (const [method, rest, body] of [
      ['GET', ''],
      ['POST', '/keys/revoke', { type: 'sandbox' }],
      ['POST', '/rotate-signing', { force: true }],
    ] as const)
      expect(await codeOf(session, method, path + rest, body)).toBe('tenant_suspended')
    await expect(desk.signIn({ login_token: unused })).rejects.toThrow('sign_in_failed')
  })

  it('is refused within the transaction of a request that was in flight at the suspension', async () => {
    const { operations } = desk
    const actor = { name: 'dashboard:tenant', requestId: 'req_1', isTenant: true }
    const before = await named()
    const suspended = operations.lifecycle.suspend(before, COMMAND_LINE)
    const rotated = operations.keys.rotateSigning(before, actor, false)
    await suspended
    await expect(rotated).rejects.toMatchObject({ code: 'tenant_suspended' })
  })

  it('gets no new login link, while the operator can still act for it', async () => {
    const operator = await asOperator()
    await operator.call('POST', `/tenants/${tenant.id}/suspend`)
    expect(await codeOf(operator, 'POST', `/tenants/${tenant.id}/login-link`)).toBe('tenant_suspended')
    const revoked = await operator.call('POST', `/tenants/${tenant.id}/keys/revoke`, { type: 'sandbox' })
    expect(revoked.body).toEqual({ revoked: 1 })
  })
})

describe('a session', () => {
  it('ends after 30 minutes without use, and after 8 hours in any case', async () => {
    const idle = await asOperator()
    const used = await asOperator()
    running.clock.advance(29 * MINUTE_MS)
    expect(await codeOf(used)).toBe(200)
    running.clock.advance(MINUTE_MS)
    expect([await codeOf(idle), await codeOf(used)]).toEqual(['not_signed_in', 200])
    for (let half = 0; half < 14; half++) {
      running.clock.advance(29 * MINUTE_MS)
      expect(await codeOf(used)).toBe(200)
    }
    // The session is now 436 minutes old.
    for (const minutes of [20, 23]) {
      running.clock.advance(minutes * MINUTE_MS)
      expect(await codeOf(used)).toBe(200)
    }
    running.clock.advance(MINUTE_MS)
    expect(await codeOf(used)).toBe('not_signed_in')
  })

  it('is not extended by a page that refreshes automatically', async () => {
    const session = await asOperator()
    for (let minute = 0; minute < 6; minute++) {
      running.clock.advance(5 * MINUTE_MS - 1)
      await session.call('GET', '/session', undefined, { 'X-Background': '1' })
    }
    expect(await codeOf(session)).toBe(200)
    running.clock.advance(30 * MINUTE_MS)
    expect(await codeOf(session)).toBe('not_signed_in')
  })

  it('has limits that the settings set', async () => {
    const own = await serviceOfTest({
      COUNTERSIGN_DASHBOARD_IDLE_MINUTES: '5',
      COUNTERSIGN_DASHBOARD_SESSION_HOURS: '1',
    })
    const session = await signInFrom(own, { password: OPERATOR_PASSWORD })
    const { body } = await session.call('GET', '/session')
    expect(Date.parse(body.expires_at)).toBe(own.clock.now() + 5 * MINUTE_MS)
    for (let four = 0; four < 14; four++) {
      own.clock.advance(4 * MINUTE_MS)
      expect((await session.call('GET', '/session')).status).toBe(200)
    }
    own.clock.advance(4 * MINUTE_MS)
    expect((await session.call('GET', '/session')).status).toBe(401)
  })

  it('is listed with person, start, last use, address and browser, which reveal no cookie', async () => {
    const session = await asTenant()
    const operator = await asOperator()
    const { body, text } = await operator.call('GET', '/sessions', undefined, { 'User-Agent': 'another' })
    const own = body.sessions.find((one: { is_own: boolean }) => one.is_own)
    expect(own).toMatchObject({
      operator: 'operator',
      tenant: null,
      method: 'password',
      address: expect.stringMatching(/^198\.51\.\d+\.\d+$/),
      browser: 'node',
      created_at: new Date(running.clock.now()).toISOString(),
      last_used_at: new Date(running.clock.now()).toISOString(),
    })
    const theirs = body.sessions.find((one: { tenant_id: string }) => one.tenant_id === tenant.id)
    expect(theirs).toMatchObject({ tenant: tenant.name, operator: null, method: 'link', is_own: false })
    for (const { cookie } of [session, operator]) expect(text).not.toContain(cookie.split('=')[1])
    expect(await codeOf({ ...session, call: session.call }, 'GET', '/sessions')).toBe('not_permitted')
    const listed = await session.call('GET', `/tenants/${tenant.id}/sessions`)
    expect(listed.body.sessions).toHaveLength(1)
  })

  it('can be ended by an admin, with an audit entry', async () => {
    const [session, operator] = [await asTenant(), await asOperator()]
    const { body } = await operator.call('GET', '/sessions')
    const { id } = body.sessions.find((one: { tenant_id: string }) => one.tenant_id === tenant.id)
    expect((await operator.call('POST', '/sessions/end', { session: id })).status).toBe(200)
    expect(await codeOf(session)).toBe('not_signed_in')
    expect((await entries()).at(-1)).toMatchObject({
      event: 'sessions_ended',
      actor: 'dashboard:operator',
      session: id,
    })
    expect(await codeOf(operator, 'POST', '/sessions/end', { session: id })).toBe('session_not_found')
  })

  it('can be ended by a viewer or a tenant only when it is their own', async () => {
    const { client: viewer } = await desk.addOperator('viewer1', 'viewer')
    const [admin, session] = [await asOperator(), await asTenant()]
    const other = await running.tenant()
    const stranger = await desk.byLink(other)
    const { body } = await viewer.call('GET', '/sessions')
    for (const one of body.sessions.filter((listed: { is_own: boolean }) => !listed.is_own)) {
      expect(await codeOf(viewer, 'POST', '/sessions/end', { session: one.id })).toBe('session_not_found')
      const path = `/tenants/${other.id}/sessions/end`
      if (one.tenant_id !== other.id)
        expect(await codeOf(stranger, 'POST', path, { session: one.id })).toBe('session_not_found')
    }
    expect([await codeOf(admin), await codeOf(session)]).toEqual([200, 200])
    const own = body.sessions.find((listed: { is_own: boolean }) => listed.is_own)
    expect((await viewer.call('POST', '/sessions/end', { session: own.id })).status).toBe(200)
    expect(await codeOf(viewer)).toBe('not_signed_in')
  })

  it('ends with all sessions and links of a tenant, or all sessions of an operator, by one call', async () => {
    const [session, second] = [await asTenant(), await asTenant()]
    const unused = await loginToken(running, tenant.id)
    const ended = await session.call('POST', `/tenants/${tenant.id}/sign-out`)
    expect(ended.body).toEqual({ sessions: 2, links: 1 })
    expect([await codeOf(session), await codeOf(second)]).toEqual(['not_signed_in', 'not_signed_in'])
    await expect(desk.signIn({ login_token: unused })).rejects.toThrow('sign_in_failed')

    const { sessions, operators } = desk.operations
    const { password } = await operators.add('sam', 'admin', COMMAND_LINE)
    const [sam, unnamed] = [await asOperator(password, 'sam'), await asOperator()]
    expect((await unnamed.call('POST', '/operators/sign-out', { name: 'sam' })).body).toEqual({ sessions: 1 })
    expect([await codeOf(sam), await codeOf(unnamed)]).toEqual(['not_signed_in', 200])
    const again = await asOperator(password, 'sam')
    expect(await sessions.endOfOperators(COMMAND_LINE)).toBeGreaterThanOrEqual(2)
    expect([await codeOf(again), await codeOf(unnamed)]).toEqual(['not_signed_in', 'not_signed_in'])
    expect((await entries()).at(-1)).toMatchObject({ event: 'sessions_ended', name: 'all operators' })
  })

  it('begins by a link that a mail scanner or a preview has looked at', async () => {
    const token = await loginToken(running, tenant.id)
    for (const path of [
      '/',
      `/login/${token}`,
      `/?login_token=${token}`,
      `/api/session?login_token=${token}`,
    ])
      for (const method of ['GET', 'HEAD']) await fetch(running.service.adminUrl + path, { method })
    expect(await codeOf(await desk.signIn({ login_token: token }))).toBe(200)
  })

  it('ends with another sign-in in the same browser', async () => {
    const session = await asTenant()
    const headers = { Origin: running.service.adminUrl, Cookie: session.cookie }
    const token = await loginToken(running, tenant.id)
    expect((await request(running, 'POST', '/session', { login_token: token }, headers)).status).toBe(201)
    expect(await codeOf(session)).toBe('not_signed_in')
  })
})

describe('a route that changes something', () => {
  it('asks for a sign-in of the last 15 minutes unless it is named as harmless, and says how to get one', async () => {
    const operator = await asOperator()
    running.clock.advance(15 * MINUTE_MS)
    const below = `/tenants/${tenant.id}`
    const { operator: own, tenant: theirs } = await routesOf(operator)
    const all = [...own.map((name) => [name, ''] as const), ...theirs.map((name) => [name, below] as const)]
    const names = all.filter(([name]) => !name.startsWith('GET '))
    expect(names.length).toBeGreaterThan(50)
    const open: string[] = []
    for (const [name, base] of names) {
      const { body } = await operator.call(...addressOf(name, base), {})
      if (body.code !== 'fresh_sign_in_required') open.push(base ? `tenant: ${name}` : name)
      else expect(body.confirm_by).toBe('password')
    }
    // The declaration of a route that is new here says why it is harmless.
    expect(open.sort()).toEqual([
      ...['POST /operators/sign-out', 'POST /session/confirm', 'POST /sessions/end'],
      ...['tenant: POST /audit/subject', 'tenant: POST /people/sign-out', 'tenant: POST /policy/check'],
      ...['tenant: POST /requests/subject', 'tenant: POST /sessions/end', 'tenant: POST /sign-out'],
      ...['tenant: POST /try/call', 'tenant: POST /try/inspect', 'tenant: POST /users/find'],
      ...['tenant: POST /users/passkeys', 'tenant: POST /webhooks/redeliver', 'tenant: POST /webhooks/test'],
    ])
    const session = await asTenant()
    running.clock.advance(15 * MINUTE_MS)
    const refused = await session.call('POST', `${below}/keys/revoke`, { type: 'sandbox' })
    expect([refused.outcome, refused.body.confirm_by]).toEqual(['403 fresh_sign_in_required', 'link'])
  })

  it('works after the password was repeated in the same session, with an audit entry', async () => {
    const operator = await asOperator()
    running.clock.advance(20 * MINUTE_MS)
    const erase = () =>
      codeOf(operator, 'POST', `/tenants/${tenant.id}/erase`, { environment: 'sandbox', user_id: 'ada' })
    expect(await erase()).toBe('fresh_sign_in_required')
    expect(await codeOf(operator, 'POST', '/session/confirm', { password: 'wrong' })).toBe('sign_in_failed')
    expect(await erase()).toBe('fresh_sign_in_required')
    const { body } = await operator.call('POST', '/session/confirm', { password: OPERATOR_PASSWORD })
    expect(Date.parse(body.fresh_until)).toBe(running.clock.now() + 15 * MINUTE_MS)
    expect((await entries()).slice(-2)).toMatchObject([
      { event: 'sign_in_failed', count: 1 },
      { event: 'identity_confirmed', actor: 'dashboard:operator' },
    ])
    expect(await erase()).toBe('reference_not_found')
    running.clock.advance(15 * MINUTE_MS)
    expect(await erase()).toBe('fresh_sign_in_required')
  })

  it('works for a tenant after a new login link, but not by a password', async () => {
    const session = await asTenant()
    running.clock.advance(20 * MINUTE_MS)
    const rotate = (client: DashboardClient) =>
      codeOf(client, 'POST', `/tenants/${tenant.id}/rotate-signing`, { force: false })
    expect(await rotate(session)).toBe('fresh_sign_in_required')
    expect(await codeOf(session, 'POST', '/session/confirm', { password: OPERATOR_PASSWORD })).toBe(
      'not_permitted',
    )
    expect(await rotate(await asTenant())).toBe(200)
  })

  it('limits guesses at the password like sign-ins', async () => {
    const operator = await asOperator()
    const answers: unknown[] = []
    for (let tries = 0; tries < 12; tries++)
      answers.push(await codeOf(operator, 'POST', '/session/confirm', { password: 'wrong' }))
    expect(answers.slice(-2)).toEqual(['too_many_sign_ins', 'too_many_sign_ins'])
  })
})
