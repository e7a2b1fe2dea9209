import { describe, expect, it } from 'vitest'
import { ApiError, Countersign, type ResponseEvent } from '../../clients/node/index.js'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { HOUR_MS, isoTime, SECOND_MS } from '../../src/lib/clock.js'
import { expectSigned } from '../support/answers.js'
import type { ApiClient } from '../support/client.js'
import { photosOf } from '../support/faces.js'
import { serviceOfFile } from '../support/service.js'

const ATTEMPTS = 2

const running = await serviceOfFile({ COUNTERSIGN_LOCKOUT_ATTEMPTS: String(ATTEMPTS) })
const tenant = await running.tenant()
const production = await running.production(tenant)
const [ada, joan] = await photosOf('ada', 'joan')

const look = (user: string, client: ApiClient = production) =>
  client.call('GET', `/v1/users/${encodeURIComponent(user)}`)
const sdk = (changes = {}) =>
  new Countersign({
    apiKey: production.key,
    baseUrl: running.service.url('production'),
    signingSecret: tenant.secret,
    maxRetries: 0,
    now: () => running.clock.now(),
    ...changes,
  })
async function guess(user: string, times: number, wait = 0): Promise<void> {
  for (let i = 0; i < times; i++) {
    running.clock.advance(wait)
    await production.verify({ user_id: user, image: joan, action: 'x' })
  }
}

describe('a user who is looked up', () => {
  it('shows the enrollment, model, number of photos, consent and lockout of a user, and nothing else', async () => {
    const at = isoTime(running.clock.now())
    const consent = { id: 'c-1', agreed_at: '2026-01-31T12:00:00Z' }
    const { body: enrolled } = await production.enroll({ user_id: 'u1', images: [ada, ada], consent })
    const response = await look('u1')
    expect(response.status).toBe(200)
    expect(response.body).toEqual({
      user_id: 'u1',
      status: 'enrolled',
      enrolled_at: at,
      reference: {
        reference_id: enrolled.reference_id,
        created_at: at,
        model: enrolled.model,
        comparable: true,
        views: 2,
        consent,
      },
      lockout: { status: 'none', ends_at: null, rejections: 0 },
      passkeys: 0,
    })
    expectSigned(response, tenant)
  })

  it('keeps the day of the first enrollment over a second one', async () => {
    const first = isoTime(running.clock.now())
    await production.enroll({ user_id: 'u2', image: ada })
    running.clock.advance(SECOND_MS)
    await production.enroll({ user_id: 'u2', image: ada, replace: true })
    const { body } = await look('u2')
    expect(body).toMatchObject({
      enrolled_at: first,
      reference: { created_at: isoTime(running.clock.now()), views: 1, consent: null },
    })
  })

  it('keeps users of each environment and each tenant apart', async () => {
    await production.enroll({ user_id: 'u3', image: ada })
    const other = await running.production(await running.tenant())
    for (const client of [tenant.sandbox, other])
      expect(await look('u3', client)).toMatchObject({ status: 404, body: { code: 'reference_not_found' } })
  })

  it('finds no user before the enrollment and after the erasure', async () => {
    expect((await look('u4')).status).toBe(404)
    await production.enroll({ user_id: 'u4', image: ada })
    expect((await look('u4')).status).toBe(200)
    await production.erase('u4')
    expect((await look('u4')).status).toBe(404)
  })

  it('shows a lockout, when it ends, and when it became a disabled reference', async () => {
    await production.enroll({ user_id: 'u5', image: ada })
    await guess('u5', 1)
    expect((await look('u5')).body.lockout).toEqual({ status: 'none', ends_at: null, rejections: 1 })
    await guess('u5', 1)
    const ends_at = isoTime(running.clock.now() + 30 * SECOND_MS)
    expect((await look('u5')).body.lockout).toEqual({ status: 'locked_out', ends_at, rejections: ATTEMPTS })
    await guess('u5', 9 * ATTEMPTS, HOUR_MS)
    const disabled = { status: 'reference_disabled', ends_at: null, rejections: 10 * ATTEMPTS }
    expect((await look('u5')).body.lockout).toEqual(disabled)
  })

  it('writes no user of any address to the audit log or the log', async () => {
    const { read } = running.service.core.store
    const before = await read.auditHead(tenant.id)
    await look('secret-user')
    await production.call('GET', '/v1/users/secret-user/more')
    await production.call('POST', '/v1/users/secret-user', {})
    await production.call('GET', '/v1/users/secret%FFuser')
    expect(await read.auditHead(tenant.id)).toEqual(before)
    expect(running.logText()).toContain('"path":"/v1/users/{user_id}"')
    expect(running.logText()).not.toContain('secret')
  })
})

describe('the user in the path', () => {
  it.each(['a/b', 'ada@example.com', 'ädä ☃ 🙂', 'a+b c%20', '?#&=;', 'x'.repeat(128), '%2F', '..x'])(
    'may be %s',
    async (user) => {
      expect((await production.enroll({ user_id: user, image: ada })).status).toBe(201)
      const response = await look(user)
      expect(response.body.user_id).toBe(user)
      expectSigned(response, tenant)
      expect((await sdk().getUser(user)).user_id).toBe(user)
    },
  )

  it.each([
    ['x'.repeat(129), 400, 'invalid_request'],
    ['%00', 400, 'invalid_request'],
    ['%FF', 400, 'invalid_request'],
    ['%', 400, 'invalid_request'],
    ['a/b', 404, 'unknown_endpoint'],
    ['', 404, 'unknown_endpoint'],
    ['u?x=1', 400, 'invalid_request'],
  ])('refuses %s as the user in the path', async (segment, status, code) => {
    const response = await production.call('GET', `/v1/users/${segment}`)
    expect(response).toMatchObject({ status, body: { code } })
    expectSigned(response, tenant)
  })

  it('refuses other methods at the address of a user', async () => {
    const response = await production.call('DELETE', '/v1/users/u1')
    expect(response).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
    expect(response.headers.get('allow')).toBe('GET')
  })

  it.each(['', '.', '..'])('refuses in the SDK a user id that no address can name: %j', async (user) => {
    await expect(sdk().getUser(user)).rejects.toThrow(TypeError)
  })

  it('hides the user in the path from hooks of the SDK and from the log', async () => {
    const events: ResponseEvent[] = []
    await production.enroll({ user_id: 'hooked', image: ada })
    await sdk({ onResponse: (event: ResponseEvent) => events.push(event) }).getUser('hooked')
    expect(events.map(({ path }) => path)).toEqual(['/users/{user_id}'])
    const nowhere = sdk({ baseUrl: 'http://127.0.0.1:1/v1' })
    const error = await nowhere.getUser('hooked').catch((reason: Error) => reason.message)
    expect(error).toContain('/users/{user_id}')
    expect(error).not.toContain('hooked')
  })

  it('throws an ApiError in the SDK for an unknown user', async () => {
    const looked = sdk().getUser('stranger')
    await expect(looked).rejects.toBeInstanceOf(ApiError)
    await expect(looked).rejects.toMatchObject({ code: 'reference_not_found' })
  })
})

describe('a user who is unlocked', () => {
  const unlock = async (user: string) =>
    running.operations.users.unlock(await tenant.record(), COMMAND_LINE, user)

  it('lets an unlocked user verify at once with all attempts, and audits who unlocked the user', async () => {
    await production.enroll({ user_id: 'l1', image: ada })
    await guess('l1', ATTEMPTS)
    const verify = () => production.verify({ user_id: 'l1', image: ada, action: 'x' })
    expect((await verify()).body.reason).toBe('locked_out')
    expect(await unlock('l1')).toBe(ATTEMPTS)
    await guess('l1', ATTEMPTS - 1)
    expect((await verify()).body.verdict).toBe('approved')
    const subject = expect.stringMatching(/^[0-9a-f]{32}$/)
    const entry = { actor: 'operator', request_id: null, subject, rejections: ATTEMPTS }
    expect(await tenant.audit('user_unlocked')).toMatchObject([entry])
  })

  it('does not unlock a disabled reference, which only a new enrollment ends', async () => {
    await production.enroll({ user_id: 'l2', image: ada })
    await guess('l2', ATTEMPTS)
    await guess('l2', 9 * ATTEMPTS, HOUR_MS)
    await expect(unlock('l2')).rejects.toMatchObject({ code: 'reference_disabled' })
    expect((await look('l2')).body.lockout.status).toBe('reference_disabled')
    await production.enroll({ user_id: 'l2', image: ada, replace: true })
    expect((await look('l2')).body.lockout).toEqual({ status: 'none', ends_at: null, rejections: 0 })
  })

  it('does not unlock a user who is not enrolled', async () => {
    await expect(unlock('nobody')).rejects.toMatchObject({ code: 'reference_not_found' })
  })
})
