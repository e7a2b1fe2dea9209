/** An application's tests without a service: node --test */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeCountersign } from 'countersign/client/testing'

const action = { type: 'transfer', amount: '1250.00' }
const image = new Uint8Array([1])

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

test('who is locked out is told when to try again', async () => {
  const answer = await new FakeCountersign().client().verify({ user_id: 'ada+locked_out', image, action })
  assert.equal(answer.reason, 'locked_out')
  assert.equal(answer.response.retryAfterSeconds, 60)
})
