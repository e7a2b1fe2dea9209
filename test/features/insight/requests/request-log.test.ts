/** The request log: its entries, its filters, and its retention. */

import { pino } from 'pino'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { ERRORS } from '../../../../src/contract/error-codes.js'
import type { RequestPage, RequestView } from '../../../../src/dashboard/contract.js'
import { RequestLog } from '../../../../src/features/insight/requests/request-log.js'
import type { Observation } from '../../../../src/http/observation/observation.js'
import { DAY_MS } from '../../../../src/lib/clock.js'
import { type Store, StoreUnavailableError } from '../../../../src/storage/store.js'
import { apiClient } from '../../../support/client.js'
import { signIn } from '../../../support/dashboard.js'
import { countRows, withDatabase } from '../../../support/database.js'
import { photoOf } from '../../../support/faces.js'
import { OPERATOR_PASSWORD } from '../../../support/operator.js'
import { serviceOfFile, type TestTenant } from '../../../support/service.js'

const UNREADABLE = Buffer.from('this is no picture').toString('base64')

const running = await serviceOfFile()
const session = await signIn(running, { password: OPERATOR_PASSWORD })
const tenant = await running.tenant()
const production = await running.production(tenant)
const image = await photoOf('ada')
let approved: { request_id: string; verification_id: string }
let refused: string
/** The last request: the log is complete up to it once it is written. */
let last: string

beforeAll(async () => {
  // Request ids of the same millisecond have no defined order.
  const tick = () => running.clock.advance(1)
  await production.enroll({ user_id: 'ada', image })
  const headers = { 'X-Request-Id': 'order 4711', 'X-Svc-Idempotency-Key': 'once' }
  const verify = () => production.verify({ user_id: 'ada', image, action: 'pay' }, { headers })
  tick()
  const first = await verify()
  const { verification_id } = first.body
  approved = { request_id: first.headers.get('x-request-id')!, verification_id }
  tick()
  await verify()
  tick()
  refused = (await production.verify({ user_id: 'ada', image: UNREADABLE, action: 'pay' })).body.request_id
  tick()
  await production.verify({ user_id: 'nobody', image, action: 'pay' })
  tick()
  await production.call('POST', '/v1/verify', {})
  await tenant.sandbox.verify({ user_id: 'grace+no_match', image, action: 'pay' })
  tick()
  await tenant.sandbox.verify({ user_id: 'grace+no_face', image, action: 'pay' })
  tick()
  const elsewhere = await apiClient(running.service.url('sandbox'), production.key).health()
  last = elsewhere.body.request_id
  const within = { timeout: 30_000, interval: 100 }
  await vi.waitFor(async () => expect((await list(`id=${last}`)).requests).toHaveLength(1), within)
})

async function list(query: string, of: TestTenant = tenant): Promise<RequestPage> {
  const { status, body } = await session.call('GET', `/tenants/${of.id}/requests?${query}`)
  expect(status).toBe(200)
  return body
}
const subjectOf = async (user_id: string, environment: string) =>
  (await session.call('POST', `/tenants/${tenant.id}/requests/subject`, { user_id, environment })).body
    .subject
const codes = ({ requests }: RequestPage) => requests.map(({ code }) => code)

describe('the request log', () => {
  it('shows the requests of one environment, newest first, with the details that explain a failure', async () => {
    const { requests } = await list('environment=production')
    expect(requests.map(({ endpoint, status, code, verdict }) => [endpoint, status, code, verdict])).toEqual([
      ['verify', 400, 'invalid_request', null],
      ['verify', 404, 'reference_not_found', null],
      ['verify', 422, 'image_unreadable', null],
      ['verify', 200, null, null],
      ['verify', 200, null, 'approved'],
      ['enroll', 201, null, null],
    ])
    expect(requests.map(({ is_replay }) => is_replay)).toEqual([false, false, false, true, false, false])
    expect(requests[4]).toMatchObject({
      request_id: approved.request_id,
      environment: 'production',
      client_request_id: 'order 4711',
      verification_id: approved.verification_id,
      key_id: expect.stringMatching(/^key_/),
      address: expect.any(String),
      duration_ms: expect.any(Number),
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      user_id: null,
    })
    expect(codes(await list('environment=sandbox'))).toEqual([
      'wrong_environment',
      'face_not_found',
      'no_match',
    ])
  })

  it('explains the codes of refused requests only', async () => {
    const [entry] = (await list(`id=${refused}`)).requests
    const url = `${new URL('/errors', running.service.url('production'))}#image_unreadable`
    expect(entry!.error).toEqual({
      message: ERRORS.image_unreadable.message,
      remedy: ERRORS.image_unreadable.remedy,
      doc_url: url,
    })
    expect(await (await fetch(url)).text()).toContain('id="image_unreadable"')
    const { requests } = await list('environment=sandbox&code=no_match')
    expect(requests.map(({ error }) => error)).toEqual([null])
  })

  it('finds entries by request id, client request id and verification id in either environment', async () => {
    expect((await list(`id=${refused}`)).requests).toMatchObject([{ code: 'image_unreadable' }])
    expect((await list('id=order%204711')).requests).toHaveLength(2)
    expect((await list(`id=${approved.verification_id}`)).requests).toMatchObject([{ verdict: 'approved' }])
    expect((await list(`id=${last}`)).requests).toMatchObject([
      { environment: 'sandbox', code: 'wrong_environment', status: 403 },
    ])
    expect((await list('id=none')).requests).toEqual([])
  })

  it('names production’s users by the pseudonym of the audit log, and stores no user id', async () => {
    const subject = await subjectOf('ada', 'production')
    const { requests } = await list(`environment=production&subject=${subject}`)
    expect(requests.map(({ code, endpoint }) => [endpoint, code])).toEqual([
      ['verify', 'image_unreadable'],
      ['verify', null],
      ['enroll', null],
    ])
    const rows = withDatabase(running, (database) =>
      database.prepare("SELECT * FROM request_log WHERE environment = 'production'").all(),
    )
    expect(rows).toHaveLength(6)
    expect(JSON.stringify(rows)).not.toMatch(/"ada"|nobody/)
    expect(await subjectOf('nobody', 'production')).toBeNull()
  })

  it('shows the user ids of the sandbox, and stores them sealed', async () => {
    const subject = await subjectOf('grace+no_face', 'sandbox')
    expect((await list(`environment=sandbox&subject=${subject}`)).requests).toMatchObject([
      { user_id: 'grace+no_face', code: 'face_not_found' },
    ])
    const rows = withDatabase(running, (database) => database.prepare('SELECT * FROM request_log').all())
    expect(JSON.stringify(rows)).not.toContain('grace')
  })

  it('is filtered by code, outcome, endpoint and time', async () => {
    expect(codes(await list('environment=production&code=image_unreadable'))).toEqual(['image_unreadable'])
    expect(codes(await list('environment=sandbox&outcome=rejected'))).toEqual(['no_match'])
    expect(codes(await list('environment=production&outcome=failed'))).toHaveLength(3)
    expect(codes(await list('environment=production&endpoint=enroll'))).toEqual([null])
    const [{ at }] = (await list('environment=production')).requests as [RequestView]
    const after = new Date(Date.parse(at) + 1).toISOString()
    expect((await list(`environment=production&until=${after}`)).requests).toHaveLength(6)
    expect((await list(`environment=production&from=${after}`)).requests).toEqual([])
  })

  it('begins a page where the one before ended', async () => {
    const { requests } = await list('environment=production')
    const { requests: rest } = await list(`environment=production&before=${requests[3]!.request_id}`)
    expect(rest).toEqual(requests.slice(4))
    const wrong = await session.call('GET', `/tenants/${tenant.id}/requests?before=x`)
    expect(wrong.body.details).toMatchObject([{ path: 'before' }])
  })

  it('no longer links requests to an erased user', async () => {
    const [before, sandboxBefore] = [
      await subjectOf('ada', 'production'),
      await subjectOf('grace+no_face', 'sandbox'),
    ]
    await production.erase('ada')
    await tenant.sandbox.enroll({ user_id: 'grace', image })
    await tenant.sandbox.erase('grace')
    expect(await subjectOf('ada', 'production')).toBeNull()
    expect(before).toMatch(/^[0-9a-f]{32}$/)
    const graceSubject = await subjectOf('grace', 'sandbox')
    await expect
      .poll(async () => (await list('environment=sandbox&endpoint=delete')).requests.length, {
        timeout: 30_000,
      })
      .toBe(1)
    expect((await list(`environment=sandbox&subject=${graceSubject}`)).requests).toEqual([])
    expect((await list(`environment=sandbox&subject=${sandboxBefore}`)).requests).toHaveLength(1)
  })
})

describe('a verification that the request log names', () => {
  const factsOf = async (id: string, environment = 'production', of = tenant) =>
    (await session.call('GET', `/tenants/${of.id}/verification?id=${id}&environment=${environment}`)).body
      .facts

  it('is shown with the facts of its audit entry in production', async () => {
    const { verification_id } = approved
    expect(await factsOf(verification_id)).toMatchObject({
      event: 'verify',
      verdict: 'approved',
      verification_id,
    })
  })

  it('is shown with the facts that the sandbox keeps, with the signals of the capture', async () => {
    const capture_integrity = { signals: ['virtual_camera'] }
    const call = { user_id: 'grace+no_match', image, action: 'pay', capture_integrity }
    const { verification_id } = (await tenant.sandbox.verify(call)).body
    expect(await factsOf(verification_id, 'sandbox')).toMatchObject({
      verdict: 'rejected',
      capture_integrity: { signals: [{ code: 'virtual_camera', source: 'client' }] },
    })
  })

  it('is not shown to another tenant, and is null where nothing is kept', async () => {
    expect(await factsOf(approved.verification_id, 'production', await running.tenant())).toBeNull()
    expect(await factsOf('ver_00000000000000000000000000000000')).toBeNull()
    expect(await factsOf('', 'sandbox')).toBeNull()
  })
})

describe('an entry of the request log that is not written yet', () => {
  const observation = (tenantId: string, changes: Partial<Observation> = {}) =>
    ({
      requestId: `01a20000-0000-7000-8000-${(++made).toString(16).padStart(12, '0')}`,
      environment: 'production',
      endpoint: 'verify',
      status: 200,
      durationMs: 1,
      timings: {},
      keyId: null,
      address: null,
      tenantId,
      ...changes,
    }) as Observation
  let made = 0
  const logWith = (store: Pick<Store, 'transaction'>, requestLogEntries = 100, requestLogDays = 7) =>
    new RequestLog({
      store,
      vault: running.service.core.vault,
      keys: running.service.core.keys,
      clock: running.clock,
      log: pino({ level: 'silent' }),
      config: { requestLogDays, requestLogEntries },
    })
  const entries = (id: string) =>
    withDatabase(running, (database) =>
      database.prepare('SELECT count(*) FROM request_log WHERE tenant_id = ?').pluck().get(id),
    )

  it('waits while the database cannot be written, and is then written once', async () => {
    const { store } = running.service.core
    const { id } = await running.tenant()
    let isAway = true
    const log = logWith({
      transaction: (...given) =>
        isAway ? Promise.reject(new StoreUnavailableError('away')) : store.transaction(...given),
    })
    for (let i = 0; i < 250; i++) log.observe(observation(id))
    await log.save()
    expect(entries(id)).toBe(0)
    isAway = false
    await log.save()
    await log.save()
    expect(entries(id)).toBe(250)
  })

  it('displaces the oldest, separately for failed and other requests', async () => {
    const { id } = await running.tenant()
    const log = logWith(running.service.core.store)
    for (let i = 0; i < 400; i++) log.observe(observation(id))
    for (let i = 0; i < 400; i++) log.observe(observation(id, { status: 422, code: 'face_not_found' }))
    for (let i = 0; i < 400; i++) log.observe(observation(id))
    await log.save()
    const kept = withDatabase(running, (database) =>
      database
        .prepare(
          'SELECT code, count(*) AS count FROM request_log WHERE tenant_id = ? GROUP BY code ORDER BY code',
        )
        .all(id),
    ) as Array<{ code: string | null; count: number }>
    // Entries since the last cut of the log are still there.
    const [others, failed] = kept
    expect(failed).toEqual({ code: 'face_not_found', count: 100 })
    expect(others!.count).toBeLessThan(400)
  })

  it('does not exist for guidance, for health, or when the log is turned off', async () => {
    const { id } = await running.tenant()
    const log = logWith(running.service.core.store)
    for (const endpoint of ['guide', 'health']) log.observe(observation(id, { endpoint }))
    log.observe(observation(id, { endpoint: 'health', status: 503 }))
    const off = logWith(running.service.core.store, 100, 0)
    off.observe(observation(id))
    await Promise.all([log.save(), off.save()])
    expect(entries(id)).toBe(1)
  })

  it('is not written when its tenant was deleted meanwhile', async () => {
    const gone = await running.tenant()
    const { id } = gone
    const log = logWith(running.service.core.store)
    log.observe(observation(id))
    await log.save()
    expect(entries(id)).toBe(1)
    log.observe(observation(id))
    await running.operations.lifecycle.delete(await gone.record(), { name: 'operator', requestId: null })
    await log.save()
    expect(entries(id)).toBe(0)
  })

  it('is deleted after the configured number of days', async () => {
    running.clock.advance(8 * DAY_MS)
    await running.restart()
    await expect.poll(() => countRows(running, 'request_log'), { timeout: 30_000 }).toBe(0)
  })
})
