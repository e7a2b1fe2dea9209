/** Users at the dashboard: what it shows of them, and who may unlock them. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { isoTime, SECOND_MS } from '../../src/lib/clock.js'
import type { ApiClient } from '../support/client.js'
import { type DashboardClient, loginToken, signIn } from '../support/dashboard.js'
import { base64, face } from '../support/faces.js'
import { operationsOf } from '../support/operations.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

const ATTEMPTS = 2
let running: TestService
let tenant: TestTenant
let production: ApiClient
let session: DashboardClient
let operator: DashboardClient
let ada: string
let joan: string

beforeAll(async () => {
  running = await startService({ COUNTERSIGN_LOCKOUT_ATTEMPTS: String(ATTEMPTS) })
  tenant = await running.tenant()
  production = await running.production(tenant)
  ada = base64(await face('ada'))
  joan = base64(await face('joan'))
  session = await signIn(running, { login_token: await loginToken(running, tenant.id) })
  operator = await signIn(running, { password: OPERATOR_PASSWORD })
})
afterAll(() => running?.stop())

const find = async (user_id: string, environment = 'production', client = session) => {
  const { status, body } = await client.call('POST', `/tenants/${tenant.id}/users/find`, {
    user_id,
    environment,
  })
  expect(status).toBe(200)
  return body.user
}
const unlock = (user_id: string, client = operator) =>
  client.call('POST', `/tenants/${tenant.id}/users/unlock`, { user_id })
const reject = async (times: number) => {
  for (let i = 0; i < times; i++) await production.verify({ user_id: 'ada', image: joan, action: 'x' })
}

describe('a user at the dashboard', () => {
  it('is shown like in the API, separately for each environment', async () => {
    expect(await find('ada')).toBeNull()
    for (const [client, environment] of [
      [production, 'production'],
      [tenant.sandbox, 'sandbox'],
    ] as const) {
      await client.enroll({
        user_id: 'ada',
        image: ada,
        consent: { id: 'c-1', agreed_at: '2026-01-01T00:00:00Z' },
      })
      const { body } = await client.call('GET', '/v1/users/ada')
      const { request_id, ...shown } = body
      expect(await find('ada', environment)).toEqual(shown)
    }
  })

  it('is shown without anything biometric', async () => {
    const user = await find('ada')
    expect(Object.keys(user.reference).sort()).toEqual([
      'comparable',
      'consent',
      'created_at',
      'model',
      'reference_id',
      'views',
    ])
  })

  it('can be looked up by a viewer, without an audit entry', async () => {
    const { store } = running.service.core
    const { password } = await operationsOf(running.service).operators.add('kim', 'viewer', COMMAND_LINE)
    const viewer = await signIn(running, { name: 'kim', password })
    const entries = async () => (await store.read.auditEntries(tenant.id, 0, 100)).length
    const before = await entries()
    expect((await find('ada', 'production', viewer)).status).toBe('enrolled')
    expect(await entries()).toBe(before)
    const subject = await viewer.call('POST', `/tenants/${tenant.id}/audit/subject`, { user_id: 'ada' })
    expect(subject.body.subject).toEqual(expect.any(String))
    expect((await unlock('ada', viewer)).body.code).toBe('not_permitted')
  })

  it('is not found by another tenant', async () => {
    const other = await running.tenant()
    const stranger = await signIn(running, { login_token: await loginToken(running, other.id) })
    const asked = { user_id: 'ada', environment: 'production' }
    expect((await stranger.call('POST', `/tenants/${tenant.id}/users/find`, asked)).status).toBe(403)
    expect((await stranger.call('POST', `/tenants/${other.id}/users/find`, asked)).body.user).toBeNull()
  })
})

describe('a user who is locked out', () => {
  it('is shown with the end of the lockout, and unlocked with an audit entry of the dashboard', async () => {
    await reject(ATTEMPTS)
    expect((await find('ada')).lockout).toEqual({
      status: 'locked_out',
      ends_at: isoTime(running.clock.now() + 30 * SECOND_MS),
      rejections: ATTEMPTS,
    })
    // A tenant's session could otherwise buy further guesses at the face.
    expect((await unlock('ada', session)).body.code).toBe('not_permitted')
    const unlocked = await unlock('ada')
    expect([unlocked.status, unlocked.body]).toEqual([200, { rejections: ATTEMPTS }])
    expect((await find('ada')).lockout).toEqual({ status: 'none', ends_at: null, rejections: 0 })
    expect((await production.verify({ user_id: 'ada', image: ada, action: 'x' })).body.verdict).toBe(
      'approved',
    )
    const { entries } = (await session.call('GET', `/tenants/${tenant.id}/audit?event=user_unlocked`)).body
    expect(entries).toMatchObject([{ actor: 'dashboard:operator', rejections: ATTEMPTS }])
  })

  it('stays disabled until a new enrolment, and the refusal says so', async () => {
    for (let failures = 0; failures < 10 * ATTEMPTS; failures++) {
      running.clock.advance(3600 * SECOND_MS)
      await reject(1)
    }
    session = await signIn(running, { login_token: await loginToken(running, tenant.id) })
    operator = await signIn(running, { password: OPERATOR_PASSWORD })
    expect((await find('ada')).lockout.status).toBe('reference_disabled')
    const refused = await unlock('ada')
    expect([refused.status, refused.body.code]).toEqual([409, 'reference_disabled'])
    expect(refused.body.message).toContain('"replace": true')
    await production.enroll({ user_id: 'ada', image: ada, replace: true })
    expect((await find('ada')).lockout.status).toBe('none')
  })

  it('cannot be unlocked when the id is unknown', async () => {
    const answer = await unlock('nobody')
    expect([answer.status, answer.body.code]).toEqual([404, 'reference_not_found'])
  })
})
