/** A passkey on the hosted page, as a browser would ask for it, without one. */
import { afterAll, expect, it } from 'vitest'
import { expectRefusal } from '../../support/answers.js'
import { SoftwareAuthenticator } from '../../support/authenticator.js'
import { ACTION, askForSession, lookAt, newSession } from '../../support/capture-page.js'
import { answerTo } from '../../support/challenges.js'
import { blank as image } from '../../support/images.js'
import { startPasskeyPage } from '../../support/passkey-page.js'
import { passkeysPath, registered, usePasskeys } from '../../support/passkeys.js'
import { decodeJwt } from '../../support/trust.js'

const { running, tenant, origin } = await startPasskeyPage()
afterAll(() => running.stop())

let users = 0
const look = (id: string) => lookAt(tenant.sandbox, id)

/** Opens a session and agrees. @returns what the page is asked for */
async function visited(fields: Record<string, unknown>) {
  const { id, visitor } = await newSession(tenant.sandbox, { confirmation: 'none', ...fields })
  const page = await visitor.enter()
  const { body: asked } = await visitor.challenge()
  const { frames } = answerTo({ challenge_id: '', nonce: '', steps: asked.challenge.steps }, image)
  return { id, visitor, page, asked, frames }
}

async function holder() {
  const user_id = `holder-${++users}`
  await tenant.sandbox.enroll({ user_id, image })
  const { authenticator } = await registered(tenant.sandbox, user_id, new SoftwareAuthenticator({ origin }))
  return { user_id, authenticator }
}

it('registers a passkey with an enrollment, and asks for it at the next verify', async () => {
  const user_id = `person-${++users}`
  const authenticator = new SoftwareAuthenticator({ origin })
  const enrollment = await visited({ user_id, purpose: 'enroll', action: undefined, passkey: 'register' })
  expect(enrollment.page.text).toContain('id="use-passkey"')
  expect(enrollment.page.headers.get('permissions-policy')).toContain('publickey-credentials-create=(self)')
  const passkey = authenticator.create(enrollment.asked.passkey)
  const { body: enrolled } = await enrollment.visitor.post('frames', { frames: enrollment.frames, passkey })
  expect(enrolled.state).toBe('over')
  const { result } = await look(enrollment.id)
  expect([result.status, result.body.passkey.passkey_id]).toEqual([201, expect.stringMatching(/^pky_/)])

  const verify = await visited({ user_id, passkey: 'required' })
  const answer = authenticator.get(verify.asked.passkey)
  await verify.visitor.post('frames', { frames: verify.frames, passkey: answer })
  const { body } = (await look(verify.id)).result
  expect(decodeJwt(body.jwt, tenant.secret.secret).claims).toMatchObject({
    verdict: 'approved',
    action: ACTION,
    nonce: verify.id,
    amr: ['face', 'swk'],
    acr: 'urn:countersign:acr:face-active-swk',
  })
})

it('judges no frames without the passkey that is required', async () => {
  const { user_id } = await holder()
  const { id, visitor, frames } = await visited({ user_id, passkey: 'required' })
  await expectRefusal(visitor.post('frames', { frames }), 409, 'conflict')
  expect((await look(id)).attempts).toBe(0)
})

it('lets the person go on without a passkey that is preferred', async () => {
  const { user_id } = await holder()
  const { id, visitor, asked, frames, page } = await visited({ user_id, passkey: 'preferred' })
  expect(page.text).toContain('id="skip-passkey"')
  expect(asked.passkey.allowCredentials).toHaveLength(1)
  await visitor.post('frames', { frames })
  expect((await look(id)).result.body).toMatchObject({ verdict: 'approved' })
})

it('ends without a verdict where the passkey signed on another page', async () => {
  const { user_id, authenticator } = await holder()
  const { id, visitor, asked, frames } = await visited({ user_id, passkey: 'required' })
  const passkey = authenticator.get(asked.passkey, { origin: 'https://evil.example' })
  const { body } = await visitor.post('frames', { frames, passkey })
  expect(body).toMatchObject({ state: 'over', ending: 'refused' })
  expect((await look(id)).result.body.code).toBe('passkey_origin_not_allowed')
})

it('makes no session that cannot succeed', async () => {
  const user_id = `bare-${++users}`
  await tenant.sandbox.enroll({ user_id, image })
  const codeOf = async (fields: object) =>
    (await askForSession(tenant.sandbox, { user_id, ...fields })).body.code
  expect(await codeOf({ passkey: 'required' })).toBe('passkey_not_found')
  expect(await codeOf({ passkey: 'register' })).toBe('invalid_request')
  const { user_id: other } = await holder()
  await usePasskeys(running, tenant)
  expect(await codeOf({ user_id: other, passkey: 'required' })).toBe('passkey_origin_not_allowed')
  const { body } = await tenant.sandbox.call('GET', passkeysPath(other))
  expect(body.data).toHaveLength(1)
})
