/** The report of a browser about a capture: in the answer, the audit log and the metrics, and never in the verdict. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { PolicyRequirements } from '../../src/contract/action-policy.js'
import { expectRefusal } from '../support/answers.js'
import { answerTo } from '../support/challenges.js'
import { altered, base64, photoOf, photosOf } from '../support/faces.js'
import { sampleOf, scrape } from '../support/metrics.js'
import { setPolicy } from '../support/policies.js'
import { serviceOfFile } from '../support/service.js'
import { decodeJwt } from '../support/trust.js'

const SIGNALS = [{ code: 'virtual_camera', source: 'client' }]
const report = { signals: ['virtual_camera'] }

const running = await serviceOfFile({})
const tenant = await running.tenant()
const production = await running.production(tenant)
const [ada, again] = await photosOf('ada', 'adaToday')

const inSandbox = (fields: object) =>
  tenant.sandbox.verify({ user_id: 'u+match', image: ada, action: 'x', ...fields })
/** The answer to a challenge with the same frame throughout, of which the browser reported nothing. */
const repeatedFrame = async () => {
  const asking = { user_id: 'u+match', action: 'x' }
  const { body } = await tenant.sandbox.call('POST', '/v1/challenges', asking)
  const fields = { challenge: answerTo(body, ada), capture_integrity: { signals: [] } }
  return (await tenant.sandbox.verify({ ...asking, ...fields })).body
}

it('an enrollment and a verify answer and record the signals, and neither decides by them', async () => {
  const enrolled = await production.enroll({ user_id: 'ada', image: ada, capture_integrity: report })
  expect([enrolled.status, enrolled.body.capture_integrity]).toEqual([201, { signals: SIGNALS }])
  const request = { user_id: 'ada', images: [again], action: 'x' }
  const { body } = await production.verify({ ...request, capture_integrity: report })
  expect(body).toMatchObject({ verdict: 'approved', capture_integrity: { signals: SIGNALS } })
  expect(decodeJwt(body.jwt, tenant.secret.secret).claims).not.toHaveProperty('capture_integrity')
  const { body: log } = await production.call('GET', '/v1/audit?order=desc&limit=2')
  const facts = { capture_integrity: { signals: SIGNALS } }
  expect(log.data).toMatchObject([
    { event: 'verify', facts },
    { event: 'enroll', facts },
  ])
  const counted =
    'countersign_capture_signals_total{environment="production",code="virtual_camera",source="client"}'
  expect(sampleOf(await scrape(running), counted)).toBe(2)
})

it('a repeated frame of a challenge is named next to what the browser reported', async () => {
  const body = await repeatedFrame()
  expect(body.capture_integrity).toEqual({ signals: [{ code: 'repeated_picture', source: 'server' }] })
})

it('a request without a report has an answer without signals', async () => {
  expect((await inSandbox({})).body.capture_integrity).toBeNull()
})

it.each([
  [{ signals: ['unheard_of'] }],
  [{ signals: ['repeated_picture'] }],
  [{ signals: ['virtual_camera', 'virtual_camera'] }],
  [{}],
])('a report that is none is refused: %j', async (capture_integrity) => {
  await expectRefusal(inSandbox({ capture_integrity }), 400, 'invalid_request')
})

describe('a rule that asks for a person’s look at signals', () => {
  const user_id = 'reviewed'
  const verify = (fields: Record<string, unknown>) =>
    production.verify({ user_id, image: again, action: 'x', ...fields })
  const setRule = async (requirements: PolicyRequirements | null) => {
    const policy = requirements && { rules: [{ name: 'watched', require: requirements }] }
    await setPolicy(running, tenant.id, policy)
  }
  const unmetOf = ({ status, body }: Awaited<ReturnType<typeof verify>>) => {
    expect([status, body.code]).toEqual([422, 'policy_not_met'])
    expect(body.jwt).toBeUndefined()
    return body.details.map(({ requirement, path }: Record<string, string>) => [requirement, path])
  }

  beforeAll(async () => {
    await production.enroll({ user_id, image: ada })
    await production.enroll({ user_id: 'second', image: await photoOf('grace') })
  })
  beforeEach(() => setRule({ integrity: 'review' }))
  afterAll(() => setRule(null))

  it('approves a capture whose report is empty', async () => {
    const { body } = await verify({ capture_integrity: { signals: [] } })
    expect([body.verdict, body.policy_rule]).toEqual(['approved', 'watched'])
  })

  it('approves no capture with a signal of the browser, in production and in the sandbox', async () => {
    for (const call of [verify, inSandbox]) {
      const { status, body } = await call({ capture_integrity: report })
      expect([status, body.verdict, body.reason]).toEqual([200, 'rejected', 'review_required'])
      expect(body.capture_integrity).toEqual({ signals: SIGNALS })
      const { claims } = decodeJwt(body.jwt, tenant.secret.secret)
      expect(claims).toMatchObject({ verdict: 'rejected', reason: 'review_required', acr: '0' })
    }
  })

  it('approves no capture with a signal that only the service saw', async () => {
    const body = await repeatedFrame()
    expect([body.verdict, body.reason]).toEqual(['rejected', 'review_required'])
  })

  it('gives no verdict to a request that leaves the report out', async () => {
    expect(unmetOf(await verify({}))).toEqual([['integrity', 'capture_integrity']])
  })

  it('obeys a rule that is set while the images are compared', async () => {
    await setRule(null)
    const { clock } = running
    const sleep = clock.sleep.bind(clock)
    clock.sleep = async (ms, signal) => {
      await setRule({ integrity: 'review' })
      return sleep(ms, signal)
    }
    onTestFinished(() => {
      clock.sleep = sleep
    })
    const slow = { user_id: 'u+match+slow' }
    expect(unmetOf(await inSandbox(slow))).toEqual([['integrity', 'capture_integrity']])
    await setRule(null)
    const noticed = await inSandbox({ ...slow, capture_integrity: report })
    expect(noticed.body.reason).toBe('review_required')
  })

  it('neither counts the capture as a failed attempt nor ends a series of them', async () => {
    const rejections = async () =>
      (await production.call('GET', `/v1/users/${user_id}`)).body.lockout.rejections
    const stranger = await photoOf('grace')
    const { body } = await verify({ image: stranger, capture_integrity: { signals: [] } })
    expect(body.reason).toBe('no_match')
    const before = await rejections()
    expect(before).toBeGreaterThan(0)
    await verify({ capture_integrity: report })
    expect(await rejections()).toBe(before)
    await verify({ capture_integrity: { signals: [] } })
    expect(await rejections()).toBe(0)
  })

  it('leaves no approval for a second person, and none is used up by such a capture', async () => {
    await setRule({ integrity: 'review', second_approver: { within_minutes: 30 } })
    const clean = { capture_integrity: { signals: [] } }
    const noticed = await verify({ capture_integrity: report })
    expect(noticed.body.reason).toBe('review_required')
    const image = base64(await altered('grace', (photo) => photo.jpeg({ quality: 40 })))
    const second = (fields: Record<string, unknown>) =>
      production.verify({ user_id: 'second', image, action: 'x', ...fields })
    const refused = await second({ ...clean, approval_id: noticed.body.verification_id })
    expect(unmetOf(refused)).toEqual([['second_approver', 'approval_id']])
    // A capture that was seen before would leave no approval either.
    await production.enroll({ user_id: 'first', image: ada })
    const first = await verify({ ...clean, user_id: 'first' })
    expect(first.body.reason).toBe('second_approval_required')
    const approval_id = first.body.verification_id
    const seen = await second({ capture_integrity: report, approval_id })
    expect([seen.body.reason, seen.body.approval_id]).toEqual(['review_required', null])
    expect((await second({ ...clean, approval_id })).body).toMatchObject({ verdict: 'approved', approval_id })
  })
})
