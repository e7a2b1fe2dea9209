/** Scripted passkeys of the sandbox, which are taken next to those of WebAuthn, and never in production. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import {
  PASSKEY_REGISTRATIONS,
  PASSKEY_SIGNATURES,
  sandboxRegistration,
  sandboxSignature,
} from '../../../clients/node/testing.js'
import { maker } from '../../support/attestations.js'
import { answerTo } from '../../support/challenges.js'
import type { ApiClient } from '../../support/client.js'
import { photoOf } from '../../support/faces.js'
import { asserted, passkeysPath, registered, usePasskeys } from '../../support/passkeys.js'
import { serviceOfFile } from '../../support/service.js'
import { decodeJwt } from '../../support/trust.js'

const attesting = maker()
const running = await serviceOfFile({ COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s' })
const tenant = await running.tenant()
const production = await running.production(tenant)
const image = await photoOf('ada')
afterAll(async () => {
  attesting.remove()
})
beforeEach(() => usePasskeys(running, tenant))

const action: Record<string, string> = { type: 'wire_transfer', amount: '1250.00' }
let users = 0

async function register(
  credential: (name: string) => object = (name) => sandboxRegistration(name),
  client: ApiClient = tenant.sandbox,
  user_id = `holder-${++users}`,
) {
  await client.enroll({ user_id, image })
  const { body } = await client.call('POST', passkeysPath(user_id, '/registration'), {})
  const { challenge_id, nonce } = body
  const fields = { challenge_id, nonce, credential: credential(user_id) }
  return { user_id, answer: await client.call('POST', passkeysPath(user_id), fields) }
}

/** The body of a verify with a photo that this answer of a passkey is for. */
async function signed(
  user_id: string,
  credential: object,
  client: ApiClient = tenant.sandbox,
  asked = action,
) {
  const { body } = await client.call('POST', passkeysPath(user_id, '/assertion'), { action: asked })
  const { challenge_id, nonce } = body
  return { user_id, image, action: asked, passkey_assertion: { challenge_id, nonce, credential } }
}
const sign = async (user_id: string, credential: object, client: ApiClient = tenant.sandbox) =>
  client.verify(await signed(user_id, credential, client))

describe('a scripted passkey of the sandbox', () => {
  it('is registered, signs for photos and for frames, and is revoked, without an authenticator', async () => {
    const { sandbox } = tenant
    await usePasskeys(running, tenant, { roots: [attesting.root] })
    const { user_id, answer } = await register()
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({ synced: false, backed_up: false, transports: ['internal'] })
    const { body } = await sign(user_id, sandboxSignature(user_id))
    const { passkey_id } = answer.body
    expect(body.passkey).toEqual({ passkey_id, amr: 'hwk' })
    expect(decodeJwt(body.jwt, tenant.secret.secret).claims).toMatchObject({
      passkey_id,
      amr: ['face', 'hwk'],
      acr: 'urn:countersign:acr:face-hwk',
    })
    const { body: asked } = await sandbox.call('POST', '/v1/challenges', {
      user_id,
      action,
      passkey: 'required',
    })
    expect(asked.passkey.allowCredentials).toMatchObject([{ id: `sandbox-${user_id}` }])
    const passkey_assertion = { credential: sandboxSignature(user_id) }
    const challenge = answerTo(asked, image)
    const framed = await sandbox.verify({ user_id, action, challenge, passkey_assertion })
    expect(framed.body.passkey).toEqual({ passkey_id, amr: 'hwk' })
    await sandbox.call('DELETE', passkeysPath(user_id, `/${passkey_id}`))
    expect((await sandbox.call('GET', passkeysPath(user_id))).body.data).toEqual([])
  })

  it('counts as a key in software where nobody attests it', async () => {
    const { user_id } = await register()
    expect((await sign(user_id, sandboxSignature(user_id))).body.passkey.amr).toBe('swk')
  })

  it('counts as the tenant’s settings say', async () => {
    const { user_id, answer } = await register((name) => sandboxRegistration(name, 'synced'))
    expect(answer.body).toMatchObject({ synced: true, backed_up: true })
    expect((await sign(user_id, sandboxSignature(user_id))).body.passkey.amr).toBe('swk')
    await usePasskeys(running, tenant, { synced: 'refused' })
    expect((await sign(user_id, sandboxSignature(user_id))).body.code).toBe('passkey_not_allowed')
    const another = await register((name) => sandboxRegistration(name, 'synced'))
    expect(another.answer.body.code).toBe('passkey_not_allowed')
  })

  it('has the AAGUID that a tenant lists first, so that a list can be tried', async () => {
    const aaguids = ['ffffffff-0000-4000-8000-000000000000']
    await usePasskeys(running, tenant, { aaguids, roots: [attesting.root] })
    const { user_id, answer } = await register()
    expect(answer.body.aaguid).toBe(aaguids[0])
    await usePasskeys(running, tenant, {
      aaguids: ['eeeeeeee-0000-4000-8000-000000000000'],
      roots: [attesting.root],
    })
    expect((await sign(user_id, sandboxSignature(user_id))).body.code).toBe('passkey_not_allowed')
  })

  it.each(PASSKEY_REGISTRATIONS.slice(2))(
    'refuses a registration with %s, and stores nothing',
    async (outcome) => {
      const { user_id, answer } = await register((name) => sandboxRegistration(name, outcome))
      expect(answer.body.code).toBe(outcome)
      expect((await tenant.sandbox.call('GET', passkeysPath(user_id))).body.data).toEqual([])
    },
  )

  it('refuses a signature with each code, and accepts one afterwards', async () => {
    const { user_id } = await register()
    for (const outcome of PASSKEY_SIGNATURES.slice(1))
      expect((await sign(user_id, sandboxSignature(user_id, outcome))).body.code).toBe(outcome)
    expect((await sign(user_id, sandboxSignature(user_id))).body.verdict).toBe('approved')
  })

  it('is bound to the options, which are good once and for one action', async () => {
    const { user_id } = await register()
    const fields = await signed(user_id, sandboxSignature(user_id))
    const other = await tenant.sandbox.verify({ ...fields, action: { ...action, amount: '1250.01' } })
    expect(other.body.code).toBe('challenge_mismatch')
    expect((await tenant.sandbox.verify(fields)).body.verdict).toBe('approved')
    expect((await tenant.sandbox.verify(fields)).body.code).toBe('challenge_used')
  })

  it('is of one user only, and refuses an outcome that is not known', async () => {
    const { user_id } = await register()
    const { user_id: other, answer } = await register(() => sandboxRegistration(user_id))
    expect(answer.body.code).toBe('passkey_already_registered')
    await register((name) => sandboxRegistration(`${name}-2`), tenant.sandbox, `${other}-2`)
    expect((await sign(`${other}-2`, sandboxSignature(user_id))).body.code).toBe('passkey_not_found')
    const strange = sandboxSignature(user_id)
    strange.response.signature = 'approved'
    expect((await sign(user_id, strange)).body.code).toBe('passkey_invalid')
    expect(() => sandboxRegistration('ada.phone')).toThrow(TypeError)
  })

  it('stands next to a passkey of WebAuthn, whose signature is checked as in production', async () => {
    const { user_id } = await register()
    const { sandbox } = tenant
    const permit = await signed(user_id, sandboxSignature(user_id), sandbox, { type: 'register_passkey' })
    const { verification_id } = (await sandbox.verify(permit)).body
    const { authenticator } = await registered(sandbox, user_id, undefined, { verification_id })
    const good = await asserted(sandbox, user_id, action, authenticator)
    const verified = await sandbox.verify({ user_id, image, action, passkey_assertion: good })
    expect(verified.body.verdict).toBe('approved')
    const wrong = await asserted(sandbox, user_id, action, authenticator, { origin: 'https://evil.example' })
    const refused = await sandbox.verify({ user_id, image, action, passkey_assertion: wrong })
    expect(refused.body.code).toBe('passkey_origin_not_allowed')
    // The words of a scripted answer are no signature of another credential.
    const dressed = await asserted(sandbox, user_id, action, authenticator)
    dressed.credential.response.signature = 'accepted'
    const taken = await sandbox.verify({ user_id, image, action, passkey_assertion: dressed })
    expect(taken.body.code).toBe('passkey_invalid')
  })
})

describe('production', () => {
  it('refuses scripted registrations and signatures', async () => {
    const { user_id, answer } = await register((name) => sandboxRegistration(name), production)
    expect(answer.body.code).toBe('passkey_invalid')
    await registered(production, user_id)
    expect((await sign(user_id, sandboxSignature(user_id), production)).body.code).toBe('passkey_not_found')
    const { data } = (await production.call('GET', passkeysPath(user_id))).body
    expect(data).toHaveLength(1)
  })
})
