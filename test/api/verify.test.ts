import { describe, expect, it } from 'vitest'
import { expectSigned } from '../support/answers.js'
import { base64, face, photoOf, REPHOTOGRAPHED } from '../support/faces.js'
import { serviceOfFile } from '../support/service.js'
import { decodeJwt } from '../support/trust.js'

const action = { type: 'wire_transfer', amount: '1250.00', currency: 'EUR' }

const running = await serviceOfFile({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '0' })
const tenant = await running.tenant()
const production = await running.production(tenant)
await production.enroll({ user_id: 'ada', image: await photoOf('ada') })

/** A verify of Ada with this photo. */
const verify = (image: string, fields = {}) => production.verify({ user_id: 'ada', image, action, ...fields })

describe('verify in production', () => {
  it('approves another photo of the same person, with a JWT bound to the action', async () => {
    const response = await verify(await photoOf('adaToday'), { nonce: 'n-1' })
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
      const { body } = await verify(base64(await change(await face('ada'))))
      expect(body).toMatchObject({ verdict: 'approved' })
    })

  for (const other of ['grace', 'mary', 'joan'] as const)
    it(`rejects a photo of ${other} for another user`, async () => {
      const { body } = await verify(await photoOf(other))
      expect(body).toMatchObject({ verdict: 'rejected', reason: 'no_match' })
    })
})
