/** Users at the dashboard: what it shows of them, and who may unlock them. */

import { describe, expect, it } from 'vitest'
import { isoTime, SECOND_MS } from '../../src/lib/clock.js'
import { base64, face } from '../support/faces.js'
import { openConsole } from './console.js'

const ATTEMPTS = 2
const desk = await openConsole({ COUNTERSIGN_LOCKOUT_ATTEMPTS: String(ATTEMPTS) })
const production = await desk.running.production(desk.tenant)
const [ada, joan] = [base64(await face('ada')), base64(await face('joan'))]

const find = async (user_id: string, environment = 'production', by = desk.own) => {
  const { status, body } = await desk.call('POST', '/users/find', { user_id, environment }, by)
  expect(status).toBe(200)
  return body.user
}
const unlock = (user_id: string, by = desk.operator) => desk.call('POST', '/users/unlock', { user_id }, by)
const reject = async (times: number) => {
  for (let i = 0; i < times; i++) await production.verify({ user_id: 'ada', image: joan, action: 'x' })
}

describe('a user at the dashboard', () => {
  it('is shown like in the API, separately for each environment', async () => {
    expect(await find('ada')).toBeNull()
    for (const [client, environment] of [
      [production, 'production'],
      [desk.tenant.sandbox, 'sandbox'],
    ] as const) {
      const consent = { id: 'c-1', agreed_at: '2026-01-01T00:00:00Z' }
      await client.enroll({ user_id: 'ada', image: ada, consent })
      const { body } = await client.call('GET', '/v1/users/ada')
      const { request_id, ...shown } = body
      expect(await find('ada', environment)).toEqual(shown)
    }
  })

  it('is shown without anything biometric', async () => {
    const user = await find('ada')
    expect(Object.keys(user.reference).sort()).toEqual([
      ...['comparable', 'consent', 'created_at', 'model', 'reference_id', 'views'],
    ])
  })

  it('can be looked up by a viewer, without an audit entry', async () => {
    const { viewer } = desk
    expect((await desk.call('GET', '', undefined, viewer)).status).toBe(200)
    const before = await desk.entries()
    expect((await find('ada', 'production', viewer)).status).toBe('enrolled')
    expect(await desk.entries()).toEqual(before)
    const subject = await desk.call('POST', '/audit/subject', { user_id: 'ada' }, viewer)
    expect(subject.body.subject).toEqual(expect.any(String))
    expect((await unlock('ada', viewer)).body.code).toBe('not_permitted')
  })

  it('is not found by another tenant', async () => {
    const other = await desk.running.tenant()
    const stranger = await desk.byLink(other)
    const asked = { user_id: 'ada', environment: 'production' }
    expect((await stranger.call('POST', `/tenants/${desk.tenant.id}/users/find`, asked)).status).toBe(403)
    expect((await stranger.call('POST', `/tenants/${other.id}/users/find`, asked)).body.user).toBeNull()
  })
})

describe('a user who is locked out', () => {
  it('is shown with the end of the lockout, and unlocked with an audit entry of the dashboard', async () => {
    await reject(ATTEMPTS)
    expect((await find('ada')).lockout).toEqual({
      status: 'locked_out',
      ends_at: isoTime(desk.running.clock.now() + 30 * SECOND_MS),
      rejections: ATTEMPTS,
    })
    // A tenant's session could otherwise buy further guesses at the face.
    expect((await unlock('ada', desk.own)).body.code).toBe('not_permitted')
    const unlocked = await unlock('ada')
    expect([unlocked.status, unlocked.body]).toEqual([200, { rejections: ATTEMPTS }])
    expect((await find('ada')).lockout).toEqual({ status: 'none', ends_at: null, rejections: 0 })
    const { body } = await production.verify({ user_id: 'ada', image: ada, action: 'x' })
    expect(body.verdict).toBe('approved')
    const { entries } = (await desk.call('GET', '/audit?event=user_unlocked')).body
    expect(entries).toMatchObject([{ actor: 'dashboard:operator', rejections: ATTEMPTS }])
  })

  it('stays disabled until a new enrolment, and the refusal says so', async () => {
    for (let failures = 0; failures < 10 * ATTEMPTS; failures++) {
      desk.running.clock.advance(3600 * SECOND_MS)
      await reject(1)
    }
    desk.signInAgain()
    expect((await find('ada')).lockout.status).toBe('reference_disabled')
    const refused = await unlock('ada')
    expect(refused.outcome).toBe('409 reference_disabled')
    expect(refused.body.message).toContain('"replace": true')
    await production.enroll({ user_id: 'ada', image: ada, replace: true })
    expect((await find('ada')).lockout.status).toBe('none')
  })

  it('cannot be unlocked when the id is unknown', async () => {
    expect((await unlock('nobody')).outcome).toBe('404 reference_not_found')
  })
})
