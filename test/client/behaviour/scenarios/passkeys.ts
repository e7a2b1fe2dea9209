/** Passkeys, policy, and signals of a capture, by the scripted passkeys of the sandbox. */
import { expect } from 'vitest'
import type { ActionPolicy } from '../../../../src/contract/action-policy.js'
import { sandboxRegistration, sandboxSignature } from '../../../../src/contract/sandbox-passkeys.js'
import { answerTo } from '../../../support/challenges.js'
import { usePasskeys } from '../../../support/passkeys.js'
import { setPolicy as putInForce } from '../../../support/policies.js'
import type { Scenario, Sdk, World } from '../world.js'

const action = { type: 'payment', amount: '1250.00', currency: 'EUR', payee: { name: 'Ada', account: 'DE1' } }

async function register(sdk: Sdk, user_id: string, fields: object = {}) {
  const { challenge_id, nonce, options } = await sdk.call('begin_passkey_registration', {
    user_id,
    ...fields,
  })
  expect(options).toMatchObject({
    rp: { id: 'bank.example' },
    authenticatorSelection: { userVerification: 'required' },
  })
  const credential = sandboxRegistration(user_id)
  const answer = { user_id, challenge_id, nonce, credential, name: 'phone', ...fields }
  return sdk.call('register_passkey', answer)
}

async function setPolicy({ running, tenant }: World, policy: ActionPolicy): Promise<void> {
  await putInForce(running, tenant.name, policy, ['sandbox'])
}

export const PASSKEYS: Scenario[] = [
  {
    title: 'registers, lists and revokes a passkey, which signs for an action with a photo',
    async run({ client, running, tenant, photos }) {
      await usePasskeys(running, tenant)
      const sdk = await client()
      const user_id = 'Zoë-passkey'
      const image = photos.blank
      expect((await sdk.refused('begin_passkey_registration', { user_id })).code).toBe('reference_not_found')
      await sdk.call('enroll', { user_id, image })
      expect((await sdk.refused('begin_passkey_assertion', { user_id, action })).code).toBe(
        'passkey_not_found',
      )
      const begun = await sdk.call('begin_passkey_registration', { user_id, user_name: 'Zoë' })
      expect(begun.options.user.name).toBe('Zoë')
      const credential = sandboxRegistration('zoe')
      const { challenge_id, nonce } = begun
      const { passkey_id } = await sdk.call('register_passkey', { user_id, challenge_id, nonce, credential })
      const used = await sdk.refused('register_passkey', { user_id, challenge_id, nonce, credential })
      expect(used).toMatchObject({ kind: 'api', code: 'challenge_used', status: 409 })
      expect((await sdk.call('list_passkeys', { user_id })).data).toMatchObject([
        { passkey_id, synced: false },
      ])

      const sign = async (outcome?: 'passkey_user_not_verified') => {
        const asked = await sdk.call('begin_passkey_assertion', { user_id, action })
        const passkey_assertion = {
          ...{ challenge_id: asked.challenge_id, nonce: asked.nonce },
          credential: sandboxSignature('zoe', outcome),
        }
        return { user_id, image, action, require_passkey: true, passkey_assertion }
      }
      const wrong = await sdk.refused('verify', await sign('passkey_user_not_verified'))
      expect(wrong).toMatchObject({ kind: 'api', code: 'passkey_user_not_verified', status: 422 })
      const result = await sdk.call('verify', await sign())
      expect(result).toMatchObject({ verdict: 'approved', passkey: { passkey_id, amr: 'swk' } })
      const acr = ['urn:countersign:acr:face-swk']
      const claims = await sdk.call('verify_verdict', { token: result.jwt, user_id, action, acr })
      expect(claims).toMatchObject({ acr: acr[0], amr: ['face', 'swk'], passkey_id })

      expect((await sdk.refused('revoke_passkey', { user_id, passkey_id: '../ada' })).kind).toBe('argument')
      const revoked = await sdk.call('revoke_passkey', { user_id, passkey_id })
      expect(revoked).toMatchObject({ user_id, passkey_id, status: 'revoked' })
      expect((await sdk.refused('revoke_passkey', { user_id, passkey_id })).code).toBe('passkey_not_found')
      const without = { user_id, image, action, require_passkey: true }
      expect((await sdk.refused('verify', without)).code).toBe('passkey_required')
    },
  },
  {
    title: 'registers a passkey after a verdict or with an enrollment, and has it sign with frames',
    async run({ client, running, tenant, photos }) {
      await usePasskeys(running, tenant, { registration: 'verified' })
      const sdk = await client()
      const user_id = 'framed'
      const enrolling = await sdk.call('create_challenge', {
        user_id,
        purpose: 'enroll',
        passkey: 'register',
      })
      const enrolled = await sdk.call('enroll', {
        ...{ user_id, challenge: answerTo(enrolling, photos.blank) },
        passkey_registration: { credential: sandboxRegistration('framed-1'), name: 'first' },
      })
      expect(enrolled.passkey).toMatchObject({ name: 'first', synced: false })
      const denied = await sdk.refused('begin_passkey_registration', { user_id })
      expect(denied).toMatchObject({ code: 'passkey_verdict_required', status: 403 })
      const permit = { type: 'register_passkey' }
      const prove = async (passkey_assertion?: object) => {
        const asked = passkey_assertion ? { passkey: 'required' } : {}
        const moved = await sdk.call('create_challenge', { user_id, action: permit, ...asked })
        const { verification_id } = await sdk.call('verify', {
          ...{ user_id, action: permit, challenge: answerTo(moved, photos.blank) },
          ...(passkey_assertion ? { passkey_assertion } : {}),
        })
        return verification_id as string
      }
      const faced = await prove()
      const unproven = await sdk.refused('begin_passkey_registration', { user_id, verification_id: faced })
      expect(unproven).toMatchObject({ code: 'passkey_proof_required', status: 403 })
      const verification_id = await prove({ credential: sandboxSignature('framed-1') })
      expect(await register(sdk, user_id, { verification_id })).toMatchObject({ user_id, name: 'phone' })

      const asked = await sdk.call('create_challenge', { user_id, action, passkey: 'required' })
      expect(asked.passkey.allowCredentials).toHaveLength(2)
      const { jwt } = await sdk.call('verify', {
        ...{ user_id, action, challenge: answerTo(asked, photos.blank), require_passkey: true },
        passkey_assertion: { credential: sandboxSignature(user_id) },
      })
      const acr = ['urn:countersign:acr:face-active-swk', 'urn:countersign:acr:face-active-pad-swk']
      const claims = await sdk.call('verify_verdict', { token: jwt, user_id, action, acr })
      expect(claims.amr).toEqual(['face', 'swk'])

      const recovery = { type: 'recover_passkey' }
      const lost = await sdk.call('create_challenge', { user_id, action: recovery })
      await sdk.call('verify', { user_id, action: recovery, challenge: answerTo(lost, photos.blank) })
      expect(await sdk.call('cancel_passkey_recovery', { user_id })).toMatchObject({ status: 'cancelled' })
      const again = await sdk.refused('cancel_passkey_recovery', { user_id })
      expect(again).toMatchObject({ code: 'passkey_recovery_not_found', status: 404 })
    },
  },
  {
    title: 'names what the policy asks for, the rule that decided, and the second person',
    async run(world) {
      const { client, photos } = world
      await setPolicy(world, {
        rules: [
          {
            name: 'payments',
            when: { types: ['payment'] },
            require: { min_photos: 2, second_approver: { within_minutes: 10 } },
          },
          { name: 'other', require: {} },
        ],
      })
      const sdk = await client()
      const images = [photos.blank, photos.blank]
      const below = await sdk.refused('verify', { user_id: 'ada+match', image: photos.blank, action })
      expect(below).toMatchObject({ kind: 'api', code: 'policy_not_met', status: 422 })
      expect(below.details).toMatchObject([{ path: 'images', requirement: 'min_photos' }])
      const first = await sdk.call('verify', { user_id: 'ada+match', images, action })
      expect(first).toMatchObject({ verdict: 'rejected', reason: 'second_approval_required' })
      const approval_id = first.verification_id
      const same = await sdk.refused('verify', { user_id: 'ada+match', images, action, approval_id })
      expect(same.details).toMatchObject([{ path: 'approval_id', requirement: 'second_approver' }])
      const second = await sdk.call('verify', { user_id: 'grace+match', images, action, approval_id })
      expect(second).toMatchObject({ verdict: 'approved', policy_rule: 'payments', approval_id })
      const told = { token: second.jwt, user_id: 'grace+match', action }
      expect(await sdk.call('verify_verdict', told)).toMatchObject({
        ...{ policy_rule: 'payments', policy_hash: second.policy_hash, approval_id },
      })
    },
  },
  {
    title: 'passes on the signals of a capture, and asks for them where the policy does',
    async run(world) {
      const { client, photos } = world
      await setPolicy(world, { rules: [{ name: 'watched', require: { integrity: 'review' } }] })
      const sdk = await client()
      const request = { user_id: 'ada+match', image: photos.blank, action }
      const missing = await sdk.refused('verify', request)
      expect(missing.details).toMatchObject([{ path: 'capture_integrity', requirement: 'integrity' }])
      const clean = await sdk.call('verify', { ...request, capture_integrity: { signals: [] } })
      expect(clean).toMatchObject({ verdict: 'approved', capture_integrity: { signals: [] } })
      const signals = ['virtual_camera', 'frame_timing']
      const odd = await sdk.call('verify', { ...request, capture_integrity: { signals } })
      expect(odd).toMatchObject({ verdict: 'rejected', reason: 'review_required' })
      const reported = signals.map((code) => ({ code, source: 'client' }))
      expect(odd.capture_integrity).toEqual({ signals: reported })
      const enrolled = await sdk.call('enroll', {
        ...{ user_id: 'watched', image: photos.blank, capture_integrity: { signals } },
      })
      expect(enrolled.capture_integrity).toEqual({ signals: reported })
    },
  },
]
