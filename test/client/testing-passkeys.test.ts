/** Passkeys, policy and public keys of the service in memory against the real one: the same answers, field by field. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { PasskeyList } from '../../clients/node/index.js'
import {
  FakeCountersign,
  PASSKEY_REGISTRATIONS,
  PASSKEY_SIGNATURES,
  type PasskeyRegistrationOutcome,
  type PasskeySignatureOutcome,
  sandboxRegistration,
  sandboxSignature,
} from '../../clients/node/testing.js'
import type { ActionPolicy } from '../../src/contract/action-policy.js'
import { both, type Side, STEADY, shape } from '../support/fake-comparison.js'
import { plain } from '../support/images.js'
import { serviceOfFile } from '../support/service.js'

const running = await serviceOfFile(STEADY)
const image = await plain()

const action = { type: 'payment', amount: '1250.00', currency: 'EUR', payee: { name: 'Ada', account: 'DE1' } }

/** The field `challenge` that answers one. */
const framed = ({ challenge_id, nonce }: { challenge_id: string; nonce: string }) => {
  const frames = Array.from({ length: 16 }, (_, index) => ({ step: 0, t_ms: index * 200, image }))
  return { challenge_id, nonce, frames }
}

/** The id of a verify with frames. */
async function live({ client, note }: Side, user_id: string, action: { type: string }) {
  const challenge = framed(await note(client.createChallenge({ user_id, action })))
  return (await note(client.verify({ user_id, action, challenge }))).verification_id
}

/** Registers a passkey without a verdict. */
async function register(
  { client, note, advance }: Side,
  user: string,
  name: string,
  outcome: PasskeyRegistrationOutcome = 'device_bound',
  verification_id?: string,
) {
  // The list is in the order of the times of registration.
  advance(1000)
  const { challenge_id, nonce } = await note(
    client.beginPasskeyRegistration(user, verification_id ? { verification_id } : {}),
  )
  if (!challenge_id) return { passkey_id: 'pky_0' }
  const credential = sandboxRegistration(name, outcome)
  const fields = { challenge_id, nonce, credential, name: 'phone' }
  return note(client.registerPasskey(user, verification_id ? { ...fields, verification_id } : fields))
}

/** The id of a verify in which a passkey signs for another one. */
async function permit({ client, note }: Side, user_id: string, name: string, fields: { type?: string } = {}) {
  const action = { type: fields.type ?? 'register_passkey' }
  const { challenge_id, nonce } = await note(client.beginPasskeyAssertion(user_id, { action }))
  const passkey_assertion = { challenge_id, nonce, credential: sandboxSignature(name) }
  return (await note(client.verify({ user_id, image, action, passkey_assertion }))).verification_id
}

async function sign(
  { client, note }: Side,
  user: string,
  name: string,
  outcome: PasskeySignatureOutcome = 'accepted',
) {
  const { challenge_id, nonce } = await note(client.beginPasskeyAssertion(user, { action }))
  const passkey_assertion = { challenge_id, nonce, credential: sandboxSignature(name, outcome) }
  return { user_id: user, image, action, passkey_assertion }
}

describe('passkeys of the service in memory', () => {
  it('are unavailable for a tenant that uses none', () =>
    both(running, {}, async (side) => {
      const { client, note } = side
      await note(client.enroll({ user_id: 'ada', image }))
      await register(side, 'ada', 'ada')
      await note(client.listPasskeys('ada'))
      await note(client.createChallenge({ user_id: 'ada', action, passkey: 'preferred' }))
      await note(client.verify({ user_id: 'ada', image, action, require_passkey: true }))
    }))

  it('are registered, listed, used, counted and revoked as in the sandbox', () =>
    both(running, { passkeys: { registration: 'backend' } }, async (side) => {
      const { client, note } = side
      await register(side, 'nobody', 'nobody')
      await note(client.listPasskeys('nobody'))
      await note(client.enroll({ user_id: 'ada', image }))
      await note(client.listPasskeys('ada'))
      await note(client.beginPasskeyAssertion('ada', { action }))
      const { passkey_id } = await register(side, 'ada', 'ada')
      await register(side, 'ada', 'ada-2', 'synced')
      await register(side, 'ada', 'ada-2', 'synced', await permit(side, 'ada', 'ada'))
      await register(side, 'ada', 'ada-3', 'synced', await permit(side, 'ada', 'ada-2'))
      await register(side, 'ada', 'ada', 'device_bound', await permit(side, 'ada', 'ada'))
      await note(client.getUser('ada'))
      for (const name of ['ada', 'ada-2', 'ada-3']) {
        const request = await sign(side, 'ada', name)
        await note(client.verify({ ...request, require_passkey: true }))
        await note(client.verify(request))
      }
      await note(client.listPasskeys('ada'))
      await note(client.revokePasskey('ada', passkey_id))
      await note(client.revokePasskey('ada', passkey_id))
      await note(client.verify(await sign(side, 'ada', 'ada')))
      await note(client.delete('ada'))
      await note(client.listPasskeys('ada'))
    }))

  it('are refused with each code, in registrations and signatures', () =>
    both(running, { passkeys: { registration: 'backend' } }, async (side) => {
      const { client, note } = side
      await note(client.enroll({ user_id: 'ada', image }))
      for (const outcome of PASSKEY_REGISTRATIONS.toReversed())
        if (outcome !== 'synced') await register(side, 'ada', `ada-${outcome}`, outcome)
      for (const outcome of PASSKEY_SIGNATURES) {
        const request = await sign(side, 'ada', 'ada-device_bound', outcome)
        await note(client.verify(request))
        // The challenge is used up by a refusal as well.
        await note(client.verify(request))
      }
      const request = await sign(side, 'ada', 'ada-device_bound')
      const { challenge_id, nonce, credential } = request.passkey_assertion
      await note(client.verify({ ...request, action: 'another' }))
      const otherNonce = nonce.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))
      const wrong = { challenge_id, nonce: otherNonce, credential }
      await note(client.verify({ ...request, passkey_assertion: wrong }))
      await note(client.verify({ ...request, passkey_assertion: { credential } }))
      const unknown = { challenge_id: 'chl_0', nonce, credential }
      await note(client.verify({ ...request, passkey_assertion: unknown }))
      await note(client.verify({ user_id: 'ada', image, action, require_passkey: true }))
      side.advance(300_000)
      await note(client.verify(request))
    }))

  it.each(['swk', 'refused'] as const)('count as the settings say where synced ones are %s', (synced) =>
    both(running, { passkeys: { registration: 'backend', synced } }, async (side) => {
      const { client, note } = side
      await note(client.enroll({ user_id: 'ada', image }))
      await register(side, 'ada', 'bound')
      await note(client.enroll({ user_id: 'eve', image }))
      await register(side, 'eve', 'synced', 'synced')
      await note(client.verify(await sign(side, 'ada', 'bound')))
      await note(client.verify(await sign(side, 'eve', 'synced')))
      await note(client.listPasskeys('ada'))
    }),
  )

  it('sign in the challenge of frames, and are registered with an enrollment', () =>
    both(running, { passkeys: {} }, async ({ client, note }) => {
      const enrolling = await note(
        client.createChallenge({ user_id: 'ada', purpose: 'enroll', passkey: 'register' }),
      )
      const passkey_registration = { credential: sandboxRegistration('ada') }
      await note(client.enroll({ user_id: 'ada', challenge: framed(enrolling), passkey_registration }))
      await note(client.enroll({ user_id: 'eve', image, passkey_registration }))
      for (const passkey of ['required', 'preferred', 'register'] as const) {
        const asked = await note(client.createChallenge({ user_id: 'ada', action, passkey }))
        await note(client.createChallenge({ user_id: 'bob+match', action, passkey }))
        if (!asked.challenge_id) continue
        const request = { user_id: 'ada', action, challenge: framed(asked) }
        const credential = sandboxSignature('ada')
        const both = { challenge_id: asked.challenge_id, nonce: asked.nonce, credential }
        await note(client.verify({ ...request, passkey_assertion: both }))
        await note(client.verify({ ...request, passkey_assertion: { credential } }))
      }
    }))

  it('need a fresh verdict with liveness before a registration', () =>
    both(running, { passkeys: {} }, async (side) => {
      const { client, note } = side
      const permit = { type: 'register_passkey' }
      await note(client.enroll({ user_id: 'ada', image }))
      await note(client.enroll({ user_id: 'eve', image }))
      await note(client.beginPasskeyRegistration('ada'))
      const photo = await note(client.verify({ user_id: 'ada', image, action: permit }))
      await note(client.beginPasskeyRegistration('ada', { verification_id: photo.verification_id }))
      const verification_id = await live(side, 'ada', permit)
      await note(client.beginPasskeyRegistration('eve', { verification_id }))
      const { challenge_id, nonce } = await note(client.beginPasskeyRegistration('ada', { verification_id }))
      const answer = { challenge_id, nonce, credential: sandboxRegistration('ada') }
      await note(client.registerPasskey('ada', answer))
      await note(client.registerPasskey('ada', { ...answer, verification_id }))
      await note(client.beginPasskeyRegistration('ada', { verification_id }))
      const late = await live(side, 'ada', permit)
      side.advance(600_000)
      await note(client.beginPasskeyRegistration('ada', { verification_id: late }))
    }))

  it('are at most ten', () =>
    both(running, { passkeys: { registration: 'backend' } }, async (side) => {
      await side.note(side.client.enroll({ user_id: 'ada', image }))
      await register(side, 'ada', 'ada-0')
      for (let index = 1; index < 10; index++)
        await register(side, 'ada', `ada-${index}`, 'device_bound', await permit(side, 'ada', 'ada-0'))
      const verification_id = await permit(side, 'ada', 'ada-0')
      await side.note(side.client.beginPasskeyRegistration('ada', { verification_id }))
    }))

  it('have a challenge that is bound to the action, and a handle without the id of the user', async () => {
    const client = new FakeCountersign({ passkeys: { registration: 'backend' } }).client()
    await client.enroll({ user_id: 'ada', image })
    const { nonce, options } = await client.beginPasskeyRegistration('ada')
    const sha256 = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
    const bound = sha256(Buffer.from(nonce, 'base64url'), sha256(Buffer.from('')))
    expect(options.challenge).toBe(bound.toString('base64url'))
    expect(options.user.id).toBe(sha256(Buffer.from('ada')).toString('base64url'))
  })

  it('are recovered after a wait, unless a passkey or the backend cancels it, and hold a replacement back', () =>
    both(running, { passkeys: { registration: 'backend' } }, async (side) => {
      const { client, note, advance } = side
      const recover = () => live(side, 'ada', { type: 'recover_passkey' })
      await note(client.enroll({ user_id: 'ada', image }))
      const { passkey_id } = await register(side, 'ada', 'ada')
      await note(client.enroll({ user_id: 'ada', image, replace: true }))
      const verification_id = await permit(side, 'ada', 'ada', { type: 'replace_reference' })
      await note(client.enroll({ user_id: 'ada', image, replace: true, verification_id }))
      await note(client.enroll({ user_id: 'ada', image, replace: true, verification_id }))
      for (const cancel of [
        () => note(client.cancelPasskeyRecovery('ada')),
        async () => note(client.verify(await sign(side, 'ada', 'ada'))),
      ]) {
        await recover()
        await cancel()
        await note(client.cancelPasskeyRecovery('ada'))
      }
      await note(client.revokePasskey('ada', passkey_id))
      const recovery = await recover()
      await register(side, 'ada', 'ada-2', 'device_bound', recovery)
      advance(60_000)
      await register(side, 'ada', 'ada-2', 'device_bound', recovery)
      await register(side, 'ada', 'ada-3', 'device_bound', recovery)
      await note(client.listPasskeys('ada'))
    }))
})

describe('the policy of the service in memory', () => {
  const policy: ActionPolicy = {
    rules: [
      {
        name: 'large',
        when: { types: ['payment'], min_amount: { EUR: '1000' } },
        require: { acr: 'urn:countersign:acr:face-active-swk', second_approver: { within_minutes: 10 } },
      },
      { name: 'payments', when: { types: ['payment'] }, require: { acr: 'urn:countersign:acr:face-active' } },
      {
        name: 'consents',
        when: { types: ['login'] },
        require: { max_reference_age_days: 30, min_reference_photos: 3, min_photos: 2, consent_id: 'v2' },
      },
      { name: 'watched', when: { types: ['account_change'] }, require: { integrity: 'review' } },
      { name: 'other', require: {} },
    ],
  }
  const small = { ...action, amount: '999.99' }

  it('decides by rule, and names the rule in each verdict', () =>
    both(running, { policy }, async (side) => {
      const { client, note } = side
      for (const suffix of ['', '+match', '+no_match', '+locked_out', '+replayed', '+spoof']) {
        const user_id = `ada${suffix}`
        if (suffix === '') await note(client.enroll({ user_id, image }))
        await note(client.verify({ user_id, image, action: small }))
        await note(client.verify({ user_id, image, action: 'anything' }))
        await note(client.createChallenge({ user_id, action: small, modes: ['turn'] }))
        const asked = await note(client.createChallenge({ user_id, action: small }))
        if (!asked.challenge_id) continue
        await note(client.verify({ user_id, action: small, challenge: framed(asked) }))
      }
      await note(client.verify({ user_id: 'nobody', image, action: small }))
    }))

  it('asks for age, photos and consent of the reference', () =>
    both(running, { policy }, async (side) => {
      const { client, note } = side
      const login = { type: 'login', application: 'bank' }
      const verify = (images: Buffer[]) => note(client.verify({ user_id: 'ada', images, action: login }))
      await note(client.enroll({ user_id: 'ada', images: [image, image] }))
      await verify([image])
      await verify([image, image])
      const consent = { id: 'v2', agreed_at: '2026-01-01T00:00:00Z' }
      await note(client.enroll({ user_id: 'ada', images: [image, image, image], replace: true, consent }))
      await verify([image, image])
      side.advance(30 * 86_400_000 - 1)
      await verify([image, image])
      side.advance(1)
      await verify([image, image])
    }))

  it('has a person look at signals, and asks for the report of the capture', () =>
    both(running, { policy }, async ({ client, note }) => {
      const change = { type: 'account_change', change: 'email', to: 'a@bank.example' }
      const request = { user_id: 'ada+match', image, action: change } as const
      await note(client.verify(request))
      for (const signals of [[], ['virtual_camera', 'frame_timing']] as const)
        await note(client.verify({ ...request, capture_integrity: { signals: [...signals] } }))
      const images = [image, image]
      const twice = { user_id: 'ada+match', images, action: change }
      await note(client.verify({ ...twice, capture_integrity: { signals: [] } }))
      await note(client.enroll({ user_id: 'eve', images, capture_integrity: { signals: ['frame_timing'] } }))
    }))

  it('has a second person approve the same action once', () =>
    both(running, { policy, passkeys: { registration: 'backend' } }, async (side) => {
      const { client, note } = side
      const approve = async (user_id: string, fields: { approval_id?: string; action?: object } = {}) => {
        const request = { user_id, action: fields.action ?? action }
        const asked = await note(client.createChallenge({ ...request, passkey: 'required' }))
        const passkey_assertion = { credential: sandboxSignature(user_id) }
        return note(client.verify({ ...request, challenge: framed(asked), passkey_assertion, ...fields }))
      }
      for (const user of ['ada', 'grace', 'joan']) {
        await note(client.enroll({ user_id: user, image }))
        await register(side, user, user)
      }
      const { verification_id: approval_id } = await approve('ada')
      await note(client.verify({ user_id: 'grace', image, action, approval_id }))
      await approve('ada', { approval_id })
      await approve('grace', { approval_id: 'ver_0' })
      await approve('grace', { approval_id })
      await approve('joan', { approval_id })
      await approve('joan', { approval_id, action: { ...action, amount: '1250.01' } })
      const late = await approve('ada')
      side.advance(10 * 60_000)
      await approve('grace', { approval_id: late.verification_id })
    }))

  it('can be changed, which makes another version of it', async () => {
    const fake = new FakeCountersign({ policy })
    const verify = () => fake.client().verify({ user_id: 'ada+match', image, action: 'anything' })
    const { policy_hash } = await verify()
    fake.setPolicy({ rules: [{ name: 'all', require: {} }] })
    const changed = await verify()
    expect(changed).toMatchObject({ policy_rule: 'all' })
    expect(changed.policy_hash).not.toBe(policy_hash)
    fake.setPolicy(null)
    expect((await verify()).policy_hash).toBeNull()
  })
})

it('the public keys of the service in memory are at the addresses, and in the form, of the real ones', async () => {
  const fake = new FakeCountersign()
  for (const name of ['jwks.json', 'openid-configuration']) {
    const documents = await Promise.all(
      [
        fetch(`${running.service.url('sandbox')}/.well-known/${name}`),
        fake.fetch(`${fake.baseUrl}/.well-known/${name}`),
      ].map(async (asked) => {
        const answer = await asked
        const { keys, ...rest } = (await answer.json()) as { keys?: object[] }
        const headers = ['content-type', 'cache-control'].map((header) => answer.headers.get(header))
        return { status: answer.status, headers, key: shape(keys?.[0] ?? {}), rest: shape(rest) }
      }),
    )
    expect(documents[1], name).toEqual(documents[0])
  }
})

describe('the capture page of the service in memory', () => {
  const return_url = 'https://bank.example/done'

  it('asks for the passkey that a session needs', async () => {
    const fake = new FakeCountersign({ passkeys: {} })
    const client = fake.client()
    const enrollment = await client.createCaptureSession({
      ...{ user_id: 'ada', purpose: 'enroll' as const, return_url },
      ...{ passkey: 'register' as const, confirmation: 'none' as const },
    })
    expect(await fake.capturePage.capture(enrollment.session_id)).toBe('over')
    const { data }: PasskeyList = await client.listPasskeys('ada')
    expect(data).toHaveLength(1)
    const session = (passkey: 'required' | 'preferred') =>
      client.createCaptureSession({ user_id: 'ada', action, return_url, passkey, browser: 'any' })
    const looked = async (id: string) => (await client.getCaptureSession(id)).result?.body
    const required = await session('required')
    expect(await fake.capturePage.capture(required.session_id, null)).toBe('again')
    expect(await looked(required.session_id)).toBeUndefined()
    await fake.capturePage.capture(required.session_id)
    expect(await looked(required.session_id)).toMatchObject({ verdict: 'approved', passkey: { amr: 'swk' } })
    const preferred = await session('preferred')
    await fake.capturePage.capture(preferred.session_id, null)
    expect(await looked(preferred.session_id)).toMatchObject({ passkey: null })
    const wrong = await session('required')
    expect(await fake.capturePage.capture(wrong.session_id, 'passkey_origin_not_allowed')).toBe('over')
    expect(await looked(wrong.session_id)).toMatchObject({ code: 'passkey_origin_not_allowed' })
    await expect(
      client.createCaptureSession({ user_id: 'eve+match', action, return_url, passkey: 'required' }),
    ).rejects.toMatchObject({ code: 'passkey_not_found' })
  })
})
