/** Typed actions, from the call to the text that the person saw: node --test */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { displayAction, displayHash, paymentBatch, typedAction } from 'countersign/client'
import { FakeCountersign } from 'countersign/client/testing'

const return_url = 'https://bank.example/confirmed'
const grace = { name: 'Grace Hopper', account: 'DE89370400440532013000' }
/** The session as the browser that captured reads it. @param {FakeCountersign} fake @param {string} sessionId */
const read = (fake, sessionId) => {
  const { searchParams } = new URL(fake.capturePage.returnUrl(sessionId))
  return fake.client().getCaptureSession(sessionId, { proof: searchParams.get('capture_proof') })
}
const ada = { name: 'Ada Lovelace', account: 'GB33BUKB20201555555555' }

test('a payment is countersigned with the text that the person saw', async () => {
  const fake = new FakeCountersign()
  const countersign = fake.client()
  // A fault, such as a third digit after the point, throws here.
  const action = typedAction({ type: 'payment', amount: '1250.00', currency: 'EUR', payee: grace })
  const asked = { user_id: 'ada+match', action, return_url, locale: /** @type {const} */ ('de') }
  const { session_id } = await countersign.createCaptureSession(asked)
  await fake.capturePage.capture(session_id)

  const session = await read(fake, session_id)
  const expected = { userId: 'ada+match', action, captureSessionId: session_id }
  const claims = await countersign.verifyVerdict(session, expected)
  const display = displayAction(action, claims.display_locale ?? 'en')
  assert.ok(display)
  assert.equal(claims.display_hash, await displayHash(display))
  assert.deepEqual([display.heading, display.lines[0]?.value], ['Zahlung', '1.250,00\u00a0EUR'])
})

test('a batch is countersigned with its total and its list', async () => {
  const fake = new FakeCountersign()
  const countersign = fake.client()
  const payments = [
    { ...grace, amount: '12.50' },
    { ...ada, amount: '7.50', reference: 'Invoice 7' },
  ]
  const { action, payees } = await paymentBatch({ currency: 'EUR', payees: payments })
  assert.deepEqual([action.total, action.payees_count], ['20.00', 2])
  const asked = { user_id: 'ada+match', action, payees, return_url }
  const { session_id } = await countersign.createCaptureSession(asked)
  await fake.capturePage.capture(session_id)

  // The batch is made again from the payments that are about to run.
  const session = await read(fake, session_id)
  const { action: aboutToRun } = await paymentBatch({ currency: 'EUR', payees: payments })
  const expected = { userId: 'ada+match', action: aboutToRun, captureSessionId: session_id }
  const { verdict } = await countersign.verifyVerdict(session, expected)
  assert.equal(verdict, 'approved')
})
