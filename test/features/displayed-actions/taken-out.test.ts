/** Typed actions in a service that is started without this feature: they are actions like any other. */
import { expect, it } from 'vitest'
import { FEATURES } from '../../../src/features/index.js'
import { base64, face } from '../../support/faces.js'
import { serviceOfTest } from '../../support/service.js'
import { decodeJwt } from '../../support/trust.js'

it('an action of any type is bound to the verdict, and no text is shown, where it is taken out', async () => {
  const features = FEATURES.filter(({ name }) => name !== 'displayed-actions')
  const running = await serviceOfTest({}, { features })
  const { sandbox, secret } = await running.tenant()
  const action = { type: 'payment', amount: 1250 }
  const asked = { user_id: 'ada+match', action }
  const { status, body } = await sandbox.verify({ ...asked, image: base64(await face('ada')) })
  expect([status, body.verdict, 'display' in body]).toEqual([200, 'approved', false])
  const { claims } = decodeJwt(body.jwt, secret.secret)
  expect(claims.action).toEqual(action)
  expect(Object.keys(claims).filter((name) => name.startsWith('display'))).toEqual([])
  const challenge = await sandbox.call('POST', '/v1/challenges', { ...asked, locale: 'en' })
  expect(challenge.body.details).toEqual([{ path: 'locale', issue: 'is not a known field' }])
  const found = await sandbox.call('GET', `/v1/verifications/${body.verification_id}`)
  expect([found.status, 'display_matches' in found.body]).toEqual([200, false])
})
