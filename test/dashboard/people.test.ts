/** People of tenants: their invitations, sign-ins and roles, which never reach beyond their tenant. */

import { beforeEach, describe, expect, it } from 'vitest'
import type { PersonRole } from '../../src/admin/accounts/account-tables.js'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { DAY_MS, MINUTE_MS } from '../../src/lib/clock.js'
import { addressOf, type DashboardClient, routesOf } from '../support/dashboard.js'
import type { TestTenant } from '../support/service.js'
import { type Credentials, openConsole, tokenOf } from './console.js'

const PASSWORD = 'seven long words of mine'
const desk = await openConsole()
const { running } = desk
const other = await running.tenant()
let tenant: TestTenant
let count = 0
let name: string

beforeEach(async () => {
  desk.tenant = tenant = await running.tenant()
  name = `pia${++count}@example.com`
  running.clock.advance(2 * MINUTE_MS)
})

const signIn = (credentials: Credentials) => desk.signIn(credentials)
const answerTo = (credentials: Credentials) => desk.answerTo(credentials)
const people = (id = tenant.id) => desk.operations.peopleOf(id)
const entries = (id?: string) => desk.entries(id)
const below = (path = '') => `/tenants/${tenant.id}${path}`

/** Adds a person, who opens the link and chooses a password. */
async function person(role: PersonRole, called = name): Promise<DashboardClient> {
  const { link } = await people().invite(called, role, running.service.adminUrl, COMMAND_LINE)
  const client = await signIn({ login_token: tokenOf(link) })
  const chosen = await client.call('POST', '/password', { password: PASSWORD })
  expect(chosen.status).toBe(200)
  return signIn({ name: called, password: PASSWORD })
}

describe('a person of a tenant', () => {
  it('is invited by an admin, opens the link once, and must choose a password before anything else', async () => {
    const admin = await desk.byLink()
    const invited = await admin.call('POST', below('/people'), { name, role: 'viewer' })
    expect([invited.status, invited.body.person]).toMatchObject([
      201,
      { name, role: 'viewer', state: 'invited' },
    ])
    expect(await answerTo({ name, password: PASSWORD })).toBe('401 sign_in_failed')
    const token = tokenOf(invited.body.sign_in_link)
    const client = await signIn({ login_token: token })
    expect(await answerTo({ login_token: token })).toBe('401 sign_in_failed')
    expect((await client.call('GET', '/session')).body).toMatchObject({
      role: 'tenant',
      person: { name, role: 'viewer' },
      tenant_id: tenant.id,
      password: 'required',
    })
    expect((await client.call('GET', below())).body.code).toBe('password_not_chosen')
    const short = await client.call('POST', '/password', { password: 'fourteen chars' })
    expect(short.outcome).toBe('400 weak_password')
    expect((await client.call('POST', '/password', { password: PASSWORD })).status).toBe(200)
    expect((await client.call('GET', below())).status).toBe(200)
    const again = await signIn({ name, password: PASSWORD })
    expect((await again.call('GET', '/session')).body).toMatchObject({ password: 'own', method: 'password' })
    expect(JSON.stringify(await entries())).not.toContain(PASSWORD)
  })

  it('cannot use an invitation that is a day old', async () => {
    const invited = (called: string) =>
      people().invite(called, 'admin', running.service.adminUrl, COMMAND_LINE)
    const [early, late] = [await invited(name), await invited(`late-${name}`)]
    running.clock.advance(DAY_MS - MINUTE_MS)
    await signIn({ login_token: tokenOf(early.link) })
    running.clock.advance(MINUTE_MS)
    expect(await answerTo({ login_token: tokenOf(late.link) })).toBe('401 sign_in_failed')
  })

  it('appears in the audit log of the own tenant and in no other', async () => {
    const admin = await person('admin')
    await admin.call('POST', below('/keys/revoke'), { type: 'sandbox' })
    const actor = `dashboard:${name}`
    expect(await entries()).toMatchObject([
      { event: 'person_added', name, role: 'admin', actor: 'operator' },
      { event: 'signed_in', actor },
      { event: 'person_password_chosen', name, actor },
      { event: 'signed_in', actor },
      { event: 'key_revoked', actor, request_id: expect.any(String) },
    ])
    expect(JSON.stringify(await entries(other.id))).not.toContain(name)
  })

  it('has a unique name, and does not learn who has a name that is taken', async () => {
    await desk.operations.operators.add(`op-${name}`, 'viewer', COMMAND_LINE)
    await people(other.id).invite(`their-${name}`, 'viewer', running.service.adminUrl, COMMAND_LINE)
    const admin = await person('admin')
    const path = below('/people')
    const answers = await Promise.all(
      [`op-${name}`, `their-${name}`].map(async (taken) => {
        const { status, body } = await admin.call('POST', path, { name: taken, role: 'admin' })
        return [status, body.code, body.message.replace(taken, '')]
      }),
    )
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]).toMatchObject([409, 'person_exists', expect.any(String)])
    for (const bad of ['operator', 'tenant', 'a b'])
      expect((await admin.call('POST', path, { name: bad, role: 'admin' })).body.code).toBe(
        'invalid_person_name',
      )
    const added = desk.operators.add(name, 'admin', COMMAND_LINE)
    await expect(added).rejects.toMatchObject({ code: 'person_exists' })
  })

  it('needs an added second factor to sign in, and a fresh sign-in to reveal secrets or destroy data', async () => {
    const admin = await person('admin')
    const begun = await admin.call('POST', '/second-factor')
    expect([begun.status, begun.body.uri]).toEqual([200, expect.stringContaining('otpauth://')])
    running.clock.advance(20 * MINUTE_MS)
    const path = below('/keys/reissue')
    const body = { type: 'sandbox', grace_seconds: 0 }
    expect((await admin.call('POST', path, body)).body.code).toBe('fresh_sign_in_required')
    expect((await admin.call('POST', '/session/confirm', { password: 'wrong' })).body.code).toBe(
      'sign_in_failed',
    )
    expect((await admin.call('POST', '/session/confirm', { password: PASSWORD })).status).toBe(200)
    expect((await admin.call('POST', path, body)).status).toBe(200)
    expect((await entries()).some(({ event }) => event === 'identity_confirmed')).toBe(true)
  })

  it('gets a new role at once, and loses the sessions with a removal, a new invitation or a new password', async () => {
    const viewer = await person('viewer')
    const path = below('/keys/revoke')
    expect((await viewer.call('POST', path, { type: 'sandbox' })).status).toBe(403)
    await people().setRole(name, 'admin', COMMAND_LINE)
    expect((await viewer.call('POST', path, { type: 'sandbox' })).status).toBe(200)
    const elsewhere = await signIn({ name, password: PASSWORD })
    expect((await elsewhere.call('POST', '/password', { password: `${PASSWORD} again` })).status).toBe(200)
    expect((await viewer.call('GET', '/session')).status).toBe(401)
    expect((await elsewhere.call('GET', '/session')).status).toBe(200)
    await people().inviteAgain(name, running.service.adminUrl, COMMAND_LINE)
    expect((await elsewhere.call('GET', '/session')).status).toBe(401)
    expect(await answerTo({ name, password: `${PASSWORD} again` })).toBe('401 sign_in_failed')
    const { link } = await people().inviteAgain(name, running.service.adminUrl, COMMAND_LINE)
    await people().remove(name, COMMAND_LINE)
    expect(await answerTo({ login_token: tokenOf(link) })).toBe('401 sign_in_failed')
  })

  it('is signed out when the tenant is suspended, and removed when it is deleted', async () => {
    const admin = await person('admin')
    const { link } = await people().invite(`new-${name}`, 'admin', running.service.adminUrl, COMMAND_LINE)
    const found = (await running.service.core.store.read.tenantById(tenant.id))!
    await desk.operations.lifecycle.suspend(found, COMMAND_LINE)
    expect((await admin.call('GET', '/session')).status).toBe(401)
    expect(await answerTo({ name, password: PASSWORD })).toBe('409 tenant_suspended')
    expect(await answerTo({ name, password: 'wrong' })).toBe('401 sign_in_failed')
    expect(await answerTo({ login_token: tokenOf(link) })).toBe('401 sign_in_failed')
    await desk.operations.lifecycle.resume(found, COMMAND_LINE)
    expect(await answerTo({ name, password: PASSWORD })).toBe('201')
    await desk.operations.lifecycle.delete(found, COMMAND_LINE)
    expect(await answerTo({ name, password: PASSWORD })).toBe('401 sign_in_failed')
    expect(await people().list()).toEqual([])
  })
})

describe('the rights', () => {
  const allRoutes = async () => routesOf(await desk.asOperator())
  /** The sent body would be refused only after the check of the right. */
  async function expectRefused(client: DashboardClient, names: string[], below = ''): Promise<void> {
    for (const name of names) {
      const [method, path] = addressOf(name, below)
      const { outcome } = await client.call(method, path, method === 'GET' ? undefined : {})
      expect(outcome, name).toBe('403 not_permitted')
    }
  }
  const OWN = [
    ...['POST /password', 'POST /second-factor', 'POST /second-factor/confirm'],
    ...['POST /second-factor/remove', 'POST /session/confirm', 'POST /sessions/end'],
  ]

  it('let a viewer of a tenant only read: every change is refused, and no page offers it', async () => {
    const viewer = await person('viewer')
    const [all, own] = [await allRoutes(), await routesOf(viewer)]
    const before = await entries()
    expect(own.operator.toSorted()).toEqual(OWN)
    // Each of these only asks, and its question is in the body.
    expect(own.tenant.filter((route) => !route.startsWith('GET ')).sort()).toEqual([
      'POST /audit/subject',
      'POST /policy/check',
      'POST /requests/subject',
      'POST /users/find',
      'POST /users/passkeys',
    ])
    const refused = all.tenant.filter((route) => !own.tenant.includes(route))
    expect(refused.filter((route) => route.startsWith('GET '))).toEqual([])
    expect(refused.length).toBeGreaterThan(25)
    await expectRefused(viewer, refused, below())
    expect(await entries()).toEqual(before)
    for (const path of ['', '/people', '/sessions', '/traffic', '/webhooks', '/audit', '/audit/chain'])
      expect([path, (await viewer.call('GET', below(path))).status]).toEqual([path, 200])
  })

  it.each(['admin', 'viewer'] as const)(
    'give a tenant %s no access to other tenants and to the installation',
    async (role) => {
      const client = await person(role)
      const all = await allRoutes()
      await expectRefused(client, all.tenant, `/tenants/${other.id}`)
      await expectRefused(
        client,
        all.operator.filter((route) => !OWN.includes(route)),
      )
      const operator = await desk.asOperator()
      const theirs = await desk.byLink(other)
      const listed = (await operator.call('GET', '/sessions')).body.sessions as Array<Record<string, unknown>>
      for (const session of listed.filter(({ person }) => person !== name)) {
        const ended = await client.call('POST', '/sessions/end', { session: session.id })
        expect([session.id, ended.body.code]).toEqual([session.id, 'session_not_found'])
      }
      expect((await operator.call('GET', '/session')).status).toBe(200)
      expect((await theirs.call('GET', '/session')).status).toBe(200)
    },
  )

  it('let a person end the own sessions, and an admin those of the tenant', async () => {
    const viewer = await person('viewer')
    const elsewhere = await signIn({ name, password: PASSWORD })
    const admin = await person('admin', `admin-${name}`)
    const sessions = async () =>
      (await viewer.call('GET', below('/sessions'))).body.sessions as Array<Record<string, unknown>>
    const theirs = (await sessions()).find(({ person }) => person === `admin-${name}`)!
    expect((await viewer.call('POST', '/sessions/end', { session: theirs.id })).body.code).toBe(
      'session_not_found',
    )
    const own = (await sessions()).find(
      ({ person, is_own, method }) => person === name && !is_own && method === 'password',
    )!
    expect((await viewer.call('POST', '/sessions/end', { session: own.id })).status).toBe(200)
    expect((await elsewhere.call('GET', '/session')).status).toBe(401)
    const ended = await admin.call('POST', below('/people/sign-out'), { name })
    expect(ended.body.sessions).toBeGreaterThan(0)
    expect((await viewer.call('GET', '/session')).status).toBe(401)
  })

  it('do not let the dashboard remove the last admin of a tenant, which the command line can', async () => {
    const admin = await person('admin')
    for (const [path, body] of [
      ['/people/role', { name, role: 'viewer' }],
      ['/people/remove', { name }],
    ] as const) {
      const refused = await admin.call('POST', below(path), body)
      expect(refused.outcome, path).toBe('409 last_admin')
    }
    await person('admin', `second-${name}`)
    expect((await admin.call('POST', below('/people/remove'), { name })).status).toBe(200)
    expect((await admin.call('GET', '/session')).status).toBe(401)
    await people().remove(`second-${name}`, COMMAND_LINE)
    expect(await people().list()).toEqual([])
  })

  it('over people end at the tenant: operators and other tenants’ people are not found', async () => {
    const admin = await person('admin')
    const operator = `op-${name}`
    await desk.operations.operators.add(operator, 'viewer', COMMAND_LINE)
    await people(other.id).invite(`their-${name}`, 'viewer', running.service.adminUrl, COMMAND_LINE)
    for (const stranger of [operator, `their-${name}`])
      for (const path of ['role', 'reset', 'remove', 'sign-out', 'second-factor/remove']) {
        const body = path === 'role' ? { name: stranger, role: 'admin' } : { name: stranger }
        const refused = await admin.call('POST', `/tenants/${tenant.id}/people/${path}`, body)
        expect(refused.status, `${path} ${stranger}`).toBe(404)
      }
    const listed = await desk.operators.list()
    expect(listed.find((one) => one.name === operator)?.role).toBe('viewer')
  })
})
