/** An application's tests without a service: node --test */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ACTIVE_ACR } from 'countersign/client'
import { FakeCountersign } from 'countersign/client/testing'

const action = { type: 'transfer', amount: '1250.00' }
const image = new Uint8Array([1])

/** The proof that the browser which captured brings back. @param {FakeCountersign} fake @param {string} sessionId */
const proofOf = (fake, sessionId) =>
  new URL(fake.capturePage.returnUrl(sessionId)).searchParams.get('capture_proof')

test('a transfer is countersigned once, and in time', async () => {
  const fake = new FakeCountersign()
  const countersign = fake.client()
  const { jwt } = await countersign.verify({ user_id: 'ada+match', image, action })
  const expected = { userId: 'ada+match', action }
  const claims = await countersign.verifyVerdict(jwt, expected)
  assert.equal(claims.action.amount, '1250.00')
  await assert.rejects(countersign.verifyVerdict(jwt, expected), { code: 'already_used' })

  const late = await countersign.verify({ user_id: 'ada+match', image, action })
  fake.clock.advance(361_000)
  await assert.rejects(countersign.verifyVerdict(late.jwt, expected), { code: 'expired' })
})

test('a transfer is confirmed on the capture page, and only by the session of this person', async () => {
  const fake = new FakeCountersign()
  const countersign = fake.client()
  const asked = { user_id: 'ada+match', action, return_url: 'https://bank.example/confirmed' }
  const { session_id } = await countersign.createCaptureSession(asked)
  const other = await countersign.createCaptureSession(asked)
  await fake.capturePage.capture(session_id)
  await fake.capturePage.capture(other.session_id)

  const expected = { userId: 'ada+match', action, captureSessionId: session_id, acr: ACTIVE_ACR }
  const others = await countersign.getCaptureSession(other.session_id, {
    proof: proofOf(fake, other.session_id),
  })
  await assert.rejects(countersign.verifyVerdict(others, expected), { code: 'wrong_capture_session' })
  // Another browser than the one that captured brings no proof.
  const elsewhere = await countersign.getCaptureSession(session_id)
  await assert.rejects(countersign.verifyVerdict(elsewhere, expected), { code: 'proof_required' })
  const session = await countersign.getCaptureSession(session_id, { proof: proofOf(fake, session_id) })
  assert.equal((await countersign.verifyVerdict(session, expected)).verdict, 'approved')
})

test('who goes back on the capture page has confirmed nothing', async () => {
  const fake = new FakeCountersign()
  const countersign = fake.client()
  const { session_id } = await countersign.createCaptureSession({
    user_id: 'ada+match',
    action,
    return_url: 'https://bank.example/confirmed',
  })
  fake.capturePage.cancel(session_id)
  const session = await countersign.getCaptureSession(session_id)
  assert.equal(session.status, 'cancelled')
  const expected = { userId: 'ada+match', action, captureSessionId: session_id }
  await assert.rejects(countersign.verifyVerdict(session, expected), { code: 'no_verdict' })
})

test('a route that asks for active liveness takes a verdict that has it, and no other', async () => {
  const fake = new FakeCountersign()
  const countersign = fake.client()
  const expected = { userId: 'ada', action, acr: ACTIVE_ACR }
  const photo = await fake.signVerdict({ userId: 'ada', action })
  await assert.rejects(countersign.verifyVerdict(photo, expected), { code: 'wrong_context' })
  const active = await fake.signVerdict({ userId: 'ada', action, activeLiveness: true })
  assert.equal((await countersign.verifyVerdict(active, expected)).verdict, 'approved')
})

test('a person who is locked out learns when to try again', async () => {
  const answer = await new FakeCountersign().client().verify({ user_id: 'ada+locked_out', image, action })
  assert.equal(answer.reason, 'locked_out')
  assert.equal(answer.response.retryAfterSeconds, 60)
})
