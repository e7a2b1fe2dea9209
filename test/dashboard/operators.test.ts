/** Operators with names: their rights at the dashboard, and their entries in the audit logs. */

import { beforeEach, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import type { DashboardClient } from '../support/dashboard.js'
import { withDatabase } from '../support/database.js'
import { type Credentials, openConsole } from './console.js'

const PASSWORD = 'correct horse battery'
const desk = await openConsole({ COUNTERSIGN_OPERATOR_PASSWORD: PASSWORD })
const { running, tenant, operators } = desk
let count = 0
let name: string

beforeEach(() => {
  name = `kim${++count}@example.com`
  // The rate limit admits further sign-ins after this time.
  running.clock.advance(120_000)
})

const entries = (id?: string) => desk.entries(id)
const change = (client: DashboardClient, rate: number) =>
  client.call('PATCH', `/tenants/${tenant.id}`, { rate_per_second: rate, fmr: null })
const signInStatus = (credentials: Credentials) => desk.answerTo(credentials)

describe('an operator with a name', () => {
  it('may change things as an admin, and the audit log has the name', async () => {
    const { client } = await desk.addOperator(name, 'admin')
    expect((await client.call('GET', '/session')).body).toMatchObject({
      role: 'operator',
      person: { name, role: 'admin' },
    })
    expect((await change(client, 11)).status).toBe(200)
    expect((await entries()).at(-1)).toMatchObject({
      event: 'contract_changed',
      actor: `dashboard:${name}`,
      request_id: expect.any(String),
    })
  })

  it('may read but change nothing as a viewer', async () => {
    const { client } = await desk.addOperator(name, 'viewer')
    const read = ['/tenants', '/operators', '/system', `/tenants/${tenant.id}`, `/tenants/${tenant.id}/audit`]
    for (const path of read) expect([path, (await client.call('GET', path)).status]).toEqual([path, 200])
    const asked = await client.call('POST', `/tenants/${tenant.id}/audit/subject`, { user_id: 'nobody' })
    expect([asked.status, asked.body]).toEqual([200, { subject: null }])
    const before = await entries()
    for (const [method, path, body] of [
      ['POST', '/operators', { name: 'made', role: 'admin' }],
      ['POST', '/operators/role', { name, role: 'admin' }],
      ['POST', '/operators/password', { name }],
      ['POST', '/operators/remove', { name }],
      ['POST', `/tenants/${tenant.id}/suspend`, undefined],
      ['POST', `/tenants/${tenant.id}/resume`, undefined],
      ['DELETE', `/tenants/${tenant.id}`, { name: 'tenant-1' }],
      ['POST', `/tenants/${tenant.id}/try/inspect`, { image: 'AAAA' }],
      ['POST', '/tenants', { name: 'made' }],
      ['PATCH', `/tenants/${tenant.id}`, { rate_per_second: 1, fmr: null }],
      ['POST', `/tenants/${tenant.id}/login-link`, undefined],
      ['POST', `/tenants/${tenant.id}/keys/reissue`, { type: 'sandbox', grace_seconds: 0 }],
      ['POST', `/tenants/${tenant.id}/rotate-signing`, { force: true }],
      ['POST', `/tenants/${tenant.id}/erase`, { environment: 'production', user_id: 'ada' }],
    ] as const) {
      const refused = await client.call(method, path, body)
      expect(refused.outcome, path).toBe('403 not_permitted')
    }
    expect(await entries()).toEqual(before)
    expect((await client.call('DELETE', '/session')).status).toBe(200)
    expect((await client.call('GET', '/session')).status).toBe(401)
  })

  it('gets a new role at once, and loses the sessions with a new password or a removal', async () => {
    const made = await operators.add(name, 'viewer', COMMAND_LINE)
    const client = await desk.signIn({ name, password: made.password })
    expect((await change(client, 12)).status).toBe(403)
    await operators.setRole(name, 'admin', COMMAND_LINE)
    expect((await change(client, 12)).status).toBe(200)

    const reset = await operators.resetPassword(name, COMMAND_LINE)
    expect((await client.call('GET', '/session')).status).toBe(401)
    expect(await signInStatus({ name, password: made.password })).toBe('401 sign_in_failed')
    const again = await desk.signIn({ name, password: reset.password })

    await operators.remove(name, COMMAND_LINE)
    expect((await again.call('GET', '/session')).status).toBe(401)
    expect(await signInStatus({ name, password: reset.password })).toBe('401 sign_in_failed')
  })

  it('cannot go on in a session that still exists when the operator is removed', async () => {
    const { client } = await desk.addOperator(name, 'admin')
    expect((await client.call('GET', '/tenants')).status).toBe(200)
    // Deletes only the operator's row, which is the state between the two statements of a removal.
    withDatabase(running, (database) => {
      database.pragma('foreign_keys = OFF')
      database.prepare('DELETE FROM operator WHERE name = ?').run(name)
    })
    for (const path of ['/session', '/tenants', '/operators'])
      expect((await client.call('GET', path)).outcome, path).toBe('401 not_signed_in')
  })

  it('gets the same answer for a wrong name and a wrong password', async () => {
    await operators.add(name, 'admin', COMMAND_LINE)
    const answers = await Promise.all(
      [name, 'nobody', undefined].map((tried) =>
        desk.answerTo({ ...(tried ? { name: tried } : {}), password: 'wrong' }, ({ body }) => body.message),
      ),
    )
    expect(new Set(answers)).toEqual(new Set([expect.stringMatching(/^401 sign_in_failed/)]))
  })

  it('does not replace the operator’s password', async () => {
    await operators.add(name, 'viewer', COMMAND_LINE)
    for (const credentials of [{ password: PASSWORD }, { name: 'operator', password: PASSWORD }]) {
      const client = await desk.signIn(credentials)
      expect((await client.call('GET', '/session')).body.person).toEqual({
        name: 'operator',
        role: 'admin',
      })
    }
    expect(await signInStatus({ name, password: PASSWORD })).toBe('401 sign_in_failed')
  })
})

describe('an admin at the dashboard', () => {
  const admin = () => desk.signIn({ password: PASSWORD })

  it('adds operators, changes their roles and passwords, and removes them, each in every audit log', async () => {
    const [client, other] = [await admin(), await running.tenant()]
    const added = await client.call('POST', '/operators', { name, role: 'viewer' })
    expect([added.status, added.body.operator]).toEqual([
      201,
      expect.objectContaining({ name, role: 'viewer', last_sign_in_at: null, last_sign_in_by: null }),
    ])
    const kim = await desk.signIn({ name, password: added.body.password })
    const { operators: listed, provider } = (await client.call('GET', '/operators')).body
    expect(listed).toContainEqual({
      name,
      role: 'viewer',
      created_at: expect.any(String),
      last_sign_in_at: new Date(running.clock.now()).toISOString(),
      last_sign_in_by: 'password',
      second_factor: false,
    })
    expect(provider).toBeNull()

    expect((await client.call('POST', '/operators/role', { name, role: 'admin' })).body.role).toBe('admin')
    const reset = await client.call('POST', '/operators/password', { name })
    expect((await kim.call('GET', '/session')).status).toBe(401)
    const again = await desk.signIn({ name, password: reset.body.password })
    await operators.add(`second-${name}`, 'admin', COMMAND_LINE)
    expect((await client.call('POST', '/operators/remove', { name })).body.name).toBe(name)
    expect((await again.call('GET', '/session')).status).toBe(401)

    const actor = { actor: 'dashboard:operator', request_id: expect.any(String) }
    for (const id of [tenant.id, other.id])
      expect((await entries(id)).filter((entry) => entry.name === name)).toMatchObject([
        { event: 'operator_added', role: 'viewer', ...actor },
        { event: 'operator_changed', role: 'admin', ...actor },
        { event: 'operator_password_reset', ...actor },
        { event: 'operator_removed', ...actor },
      ])
    const { audit, store } = running.service.core
    expect((await audit.verify(store.read, tenant.id)).brokenAt).toBeNull()
    expect(JSON.stringify(await entries())).not.toContain(reset.body.password)
  })

  it('learns why a name is refused: it is taken, has another meaning in the audit log, or is nobody’s', async () => {
    const client = await admin()
    await operators.add(name, 'viewer', COMMAND_LINE)
    const codes = async (path: string, body: unknown) =>
      (await client.call('POST', `/operators${path}`, body)).outcome
    expect(await codes('', { name, role: 'admin' })).toBe('409 operator_exists')
    for (const bad of ['operator', 'tenant', '', 'a b', '-x', 'é'])
      expect(await codes('', { name: bad, role: 'admin' }), bad).toBe('400 invalid_operator_name')
    expect(await codes('', { name: 'x', role: 'owner' })).toBe('400 invalid_request')
    const long = operators.add('x'.repeat(129), 'viewer', COMMAND_LINE)
    await expect(long).rejects.toMatchObject({ code: 'invalid_operator_name' })
    for (const [path, body] of [
      ['/role', { name: 'nobody', role: 'admin' }],
      ['/password', { name: 'nobody' }],
      ['/remove', { name: 'nobody' }],
    ] as const)
      expect(await codes(path, body)).toBe('404 operator_not_found')
  })

  it('cannot remove the last named admin, which the command line can', async () => {
    for (const { name: left } of await operators.list()) await operators.remove(left, COMMAND_LINE)
    const { password } = await operators.add(name, 'admin', COMMAND_LINE)
    await operators.add(`viewer-${name}`, 'viewer', COMMAND_LINE)
    const clients = [await admin(), await desk.signIn({ name, password })]
    const before = await entries()
    for (const client of clients)
      for (const [path, body] of [
        ['/operators/role', { name, role: 'viewer' }],
        ['/operators/remove', { name }],
      ] as const) {
        const refused = await client.call('POST', path, body)
        expect(refused.outcome, path).toBe('409 last_admin')
      }
    expect(await entries()).toEqual(before)
    const client = await desk.signIn({ name, password })
    expect((await client.call('POST', '/operators/role', { name, role: 'admin' })).status).toBe(200)
    await client.call('POST', '/operators/role', { name: `viewer-${name}`, role: 'admin' })
    expect((await client.call('POST', '/operators/role', { name, role: 'viewer' })).status).toBe(200)
    // The new role applies at once to the session that set it.
    expect((await client.call('POST', '/operators/role', { name, role: 'admin' })).body.code).toBe(
      'not_permitted',
    )
    await operators.remove(`viewer-${name}`, COMMAND_LINE)
    expect((await operators.list()).map(({ role }) => role)).toEqual(['viewer'])
  })
})
