/** The report of a browser about a capture: in the answer, the audit log and the metrics, and never in the verdict. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { answerTo } from '../support/challenges.js'
import type { ApiClient } from '../support/client.js'
import { base64, face } from '../support/faces.js'
import { sampleOf, scrape } from '../support/metrics.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'
import { decodeJwt } from '../support/trust.js'

const SIGNALS = [{ code: 'virtual_camera', source: 'client' }]
const report = { signals: ['virtual_camera'] }

interface Facts {
  capture_integrity?: unknown
}

let running: TestService
let tenant: TestTenant
let production: ApiClient
let ada: string
let again: string

beforeAll(async () => {
  running = await startService({})
  tenant = await running.tenant()
  production = await running.production(tenant)
  ;[ada, again] = [base64(await face('ada')), base64(await face('adaToday'))]
})
afterAll(() => running?.stop())

it('an enrollment and a verify answer and record the signals, and neither decides by them', async () => {
  const enrolled = await production.enroll({ user_id: 'ada', image: ada, capture_integrity: report })
  expect([enrolled.status, enrolled.body.capture_integrity]).toEqual([201, { signals: SIGNALS }])
  const { body } = await production.verify({
    user_id: 'ada',
    images: [again],
    action: 'x',
    capture_integrity: report,
  })
  expect(body).toMatchObject({ verdict: 'approved', capture_integrity: { signals: SIGNALS } })
  expect(decodeJwt(body.jwt, tenant.secret.secret).claims).not.toHaveProperty('capture_integrity')
  const { body: log } = await production.call('GET', '/v1/audit?order=desc&limit=2')
  expect(
    log.data.map(({ event, facts }: { event: string; facts: Facts }) => [
      event,
      (facts as Facts).capture_integrity,
    ]),
  ).toEqual([
    ['verify', { signals: SIGNALS }],
    ['enroll', { signals: SIGNALS }],
  ])
  const counted =
    'countersign_capture_signals_total{environment="production",code="virtual_camera",source="client"}'
  expect(sampleOf(await scrape(running), counted)).toBe(2)
})

it('a repeated frame of a challenge is named next to what the browser reported', async () => {
  const { body: challenge } = await tenant.sandbox.call('POST', '/v1/challenges', {
    user_id: 'u+match',
    action: 'x',
  })
  const { body } = await tenant.sandbox.verify({
    user_id: 'u+match',
    challenge: answerTo(challenge, ada),
    action: 'x',
    capture_integrity: { signals: [] },
  })
  expect(body.capture_integrity).toEqual({ signals: [{ code: 'repeated_picture', source: 'server' }] })
})

it('a request without a report has an answer without signals', async () => {
  const { body } = await tenant.sandbox.verify({ user_id: 'u+match', image: ada, action: 'x' })
  expect(body).not.toHaveProperty('capture_integrity')
})

it.each([
  [{ signals: ['unheard_of'] }],
  [{ signals: ['repeated_picture'] }],
  [{ signals: ['virtual_camera', 'virtual_camera'] }],
  [{}],
])('a report that is none is refused: %j', async (capture_integrity) => {
  const { status, body } = await tenant.sandbox.verify({
    user_id: 'u+match',
    image: ada,
    action: 'x',
    capture_integrity,
  })
  expect([status, body.code]).toEqual([400, 'invalid_request'])
})
