/** An application's tests of passkeys and policy without a service and without an authenticator: node --test */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeCountersign, sandboxRegistration, sandboxSignature } from 'countersign/client/testing'

const action = { type: 'transfer', amount: '1250.00' }
const image = new Uint8Array([1])
const user_id = 'ada'

test('a transfer needs a passkey, which the person unlocks', async () => {
  const fake = new FakeCountersign({
    passkeys: { registration: 'backend', attestation: true },
    policy: { rules: [{ name: 'all', require: { acr: 'urn:countersign:acr:face-swk' } }] },
  })
  const countersign = fake.client()
  await countersign.enroll({ user_id, image })
  const begun = await countersign.beginPasskeyRegistration(user_id)
  await countersign.registerPasskey(user_id, {
    challenge_id: begun.challenge_id,
    nonce: begun.nonce,
    credential: sandboxRegistration('ada-phone'),
  })

  await assert.rejects(countersign.verify({ user_id, image, action }), { code: 'policy_not_met' })

  /** @param {import('countersign/client/testing').PasskeySignatureOutcome} [outcome] */
  async function verify(outcome) {
    const { challenge_id, nonce } = await countersign.beginPasskeyAssertion(user_id, { action })
    const passkey_assertion = { challenge_id, nonce, credential: sandboxSignature('ada-phone', outcome) }
    return countersign.verify({ user_id, image, action, passkey_assertion })
  }
  await assert.rejects(verify('passkey_user_not_verified'), { code: 'passkey_user_not_verified' })
  const { jwt } = await verify()
  const claims = await countersign.verifyVerdict(jwt, { userId: user_id, action })
  assert.deepEqual(claims.amr, ['face', 'hwk'])
  assert.equal(claims.policy_rule, 'all')
})
