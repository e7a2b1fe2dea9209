/** Webhooks about capture sessions: each end is reported once, even under concurrent requests, and without biometric data. */

import { pino } from 'pino'
import Schema from 'typebox/schema'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  CaptureSessionEvents,
  UPLOAD_MS,
} from '../../../src/features/capture-sessions/capture-session-events.js'
import { bodyOf } from '../../../src/features/webhooks/webhook-schemas.js'
import { RetentionJob } from '../../../src/jobs/retention.js'
import { MINUTE_MS, SECOND_MS } from '../../../src/lib/clock.js'
import { allowReturn, newPerson, newSession } from '../../support/capture-page.js'
import { blank } from '../../support/images.js'
import { serviceOfFile, type TestTenant, WITH_PAGE } from '../../support/service.js'

const TTL_MS = 15 * MINUTE_MS
const DEADLINE_MS = 60 * SECOND_MS
const GRACE_MS = UPLOAD_MS + DEADLINE_MS

let tenant: TestTenant

const running = await serviceOfFile({ ...WITH_PAGE, COUNTERSIGN_DEADLINE_MS: String(DEADLINE_MS) })
beforeEach(async () => {
  tenant = await running.tenant()
  await allowReturn(running, tenant)
  await tenant.subscribe('sandbox')
})

async function session(suffix = '+match', fields: Record<string, unknown> = {}) {
  const user_id = newPerson(suffix)
  const { id, visitor } = await newSession(tenant.sandbox, { user_id, ...fields })
  await visitor.enter()
  return { id, visitor, user_id }
}

/** All events about capture sessions that webhooks received, in order. */
async function told(): Promise<Array<{ type: string; data: Record<string, unknown> }>> {
  const events = await tenant.told()
  for (const event of events) expect(Schema.Errors(bodyOf(event.type), event)).toEqual([true, []])
  return events
    .filter(({ type }) => type.startsWith('capture_session.'))
    .map(({ type, data }) => ({ type, data }))
}

/** Runs the retention job once, as a service that was just started does. */
function keepHouse(): Promise<void> {
  const { clock, service } = running
  const events = new CaptureSessionEvents({ ...service.core, clock }, GRACE_MS)
  return new RetentionJob(
    service.core.store,
    clock,
    pino({ level: 'silent' }),
    { current: () => ({ id: 'ours', signal: new AbortController().signal }) },
    { sandboxRetentionMs: 30 * 24 * 60 * MINUTE_MS, beforeExpiry: [(isOn) => events.reportExpired(isOn)] },
    // A clock that the test sets is not one that was set by mistake.
    () => clock.now(),
  ).run()
}

describe('webhooks about a capture session', () => {
  it('an approved capture session is reported with its verdict, without user, score or token', async () => {
    const { id, visitor } = await session()
    await visitor.capture(blank)
    await visitor.capture(blank)
    const result = { status: 200, verdict: 'approved', reason: null, code: null }
    expect(await told()).toEqual([
      { type: 'capture_session.completed', data: { session_id: id, purpose: 'verify', attempts: 1, result } },
    ])
  })

  it('a capture session is reported after its last attempt only, with the reason of the refusal', async () => {
    const { id, visitor } = await session('+no_match')
    await visitor.capture(blank)
    await visitor.capture(blank)
    expect(await told()).toEqual([])
    await visitor.capture(blank)
    const result = { status: 200, verdict: 'rejected', reason: 'no_match', code: null }
    expect(await told()).toEqual([
      { type: 'capture_session.completed', data: { session_id: id, purpose: 'verify', attempts: 3, result } },
    ])
  })

  it('a capture session that ended by wrong codes is reported without a result', async () => {
    const enrolment = { user_id: newPerson(''), purpose: 'enroll', action: undefined }
    const { id, visitor } = await newSession(tenant.sandbox, enrolment)
    await visitor.open()
    for (let tries = 0; tries < 6; tries++) await visitor.type('000000')
    expect(await told()).toMatchObject([
      { type: 'capture_session.completed', data: { session_id: id, result: null } },
    ])
  })

  it('a cancelled capture session is reported once, even after five concurrent cancellations', async () => {
    const { id, visitor } = await session()
    await Promise.all(Array.from({ length: 5 }, () => visitor.post('cancel')))
    expect(await told()).toEqual([
      {
        type: 'capture_session.cancelled',
        data: { session_id: id, purpose: 'verify', attempts: 0, disowned: false },
      },
    ])
    running.clock.advance(TTL_MS + GRACE_MS)
    await keepHouse()
    expect(await told()).toHaveLength(1)
  })

  it('an expired capture session is reported once, with concurrent retention jobs and after a restart', async () => {
    const { id, visitor } = await session()
    running.clock.advance(TTL_MS + GRACE_MS - 1)
    await keepHouse()
    // A capture that was sent in time may still be judged.
    expect(await told()).toEqual([])
    running.clock.advance(1)
    await Promise.all([keepHouse(), keepHouse(), keepHouse()])
    await keepHouse()
    expect(await told()).toEqual([
      { type: 'capture_session.expired', data: { session_id: id, purpose: 'verify', attempts: 0 } },
    ])
    expect((await visitor.post('cancel')).status).toBe(410)
  })

  it('a capture session that expired while no service ran is reported before it is deleted', async () => {
    const { id } = await session()
    running.clock.advance(24 * 60 * MINUTE_MS)
    await keepHouse()
    expect(await told()).toMatchObject([{ type: 'capture_session.expired', data: { session_id: id } }])
    expect((await tenant.sandbox.call('GET', `/v1/capture-sessions/${id}`)).status).toBe(404)
  })

  it('an erasure deletes pending webhooks about the user’s capture sessions', async () => {
    const user_id = newPerson('')
    await tenant.sandbox.enroll({ user_id, image: blank })
    const { visitor } = await newSession(tenant.sandbox, { user_id })
    await visitor.open()
    await visitor.post('cancel')
    const cancelled = () => tenant.told('capture_session.cancelled')
    expect(await cancelled()).toMatchObject([{ data: { purpose: 'verify' } }])
    await tenant.sandbox.erase(user_id)
    expect(await cancelled()).toMatchObject([{ data: null }])
  })
})
