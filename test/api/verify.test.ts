import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectSigned } from '../support/answers.js'
import type { ApiClient } from '../support/client.js'
import { base64, face, REPHOTOGRAPHED } from '../support/faces.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'
import { decodeJwt } from '../support/trust.js'

let running: TestService
let tenant: TestTenant
let production: ApiClient
const action = { type: 'wire_transfer', amount: '1250.00', currency: 'EUR' }

beforeAll(async () => {
  running = await startService({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '0' })
  tenant = await running.tenant()
  production = await running.production(tenant)
  expect((await production.enroll({ user_id: 'ada', image: base64(await face('ada')) })).status).toBe(201)
})
afterAll(() => running?.stop())

describe('verify in production', () => {
  it('approves another photo of the same person, with a JWT bound to the action', async () => {
    const response = await production.verify({
      user_id: 'ada',
      image: base64(await face('adaToday')),
      action,
      nonce: 'n-1',
    })
    expect(response.status).toBe(200)
    expect(response.body).toMatchObject({ verdict: 'approved', reason: null, user_id: 'ada' })
    expectSigned(response, tenant)
    const { header, claims, valid } = decodeJwt(response.body.jwt, tenant.secret.secret)
    expect(valid).toBe(true)
    expect(header).toMatchObject({ alg: 'HS256', kid: tenant.secret.id })
    expect(claims).toMatchObject({
      aud: tenant.id,
      sub: 'ada',
      env: 'production',
      verdict: 'approved',
      action,
      nonce: 'n-1',
      amr: ['face'],
    })
  })

  for (const [how, change] of Object.entries(REPHOTOGRAPHED))
    it(`approves the enrolled photo ${how}`, async () => {
      const response = await production.verify({
        user_id: 'ada',
        image: base64(await change(await face('ada'))),
        action,
      })
      expect(response.body).toMatchObject({ verdict: 'approved' })
    })

  for (const other of ['grace', 'mary', 'joan'] as const)
    it(`rejects a photo of ${other} for another user`, async () => {
      const response = await production.verify({ user_id: 'ada', image: base64(await face(other)), action })
      expect(response.body).toMatchObject({ verdict: 'rejected', reason: 'no_match' })
    })
})
