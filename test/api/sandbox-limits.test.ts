/** Tests of the sandbox's limits: its users are counted and expire, its records are counted, and the disk keeps room for production. */
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { RetentionJob } from '../../src/jobs/retention.js'
import { DAY_MS } from '../../src/lib/clock.js'
import type { ApiClient } from '../support/client.js'
import { photoOf } from '../support/faces.js'
import { blank as image } from '../support/images.js'
import { serviceOfFile, serviceOfTest } from '../support/service.js'

const action = 'sign in'

const running = await serviceOfFile({
  COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s',
  COUNTERSIGN_SANDBOX_USERS: '3',
  COUNTERSIGN_SANDBOX_RECORDS_PER_DAY: '20',
})

describe('users of the sandbox', () => {
  it('limits the sandbox users of a tenant, until one is erased', async () => {
    const { sandbox } = await running.tenant()
    const enroll = async (user_id: string) => {
      const { status, body } = await sandbox.enroll({ user_id, image, replace: true })
      return [status, body.code]
    }
    for (const user_id of ['a', 'b', 'c']) expect(await enroll(user_id)).toEqual([201, undefined])
    expect(await enroll('d')).toEqual([403, 'sandbox_quota_reached'])
    expect(await enroll('c')).toEqual([201, undefined])
    await sandbox.erase('a')
    expect(await enroll('d')).toEqual([201, undefined])
    const other = await running.tenant()
    expect((await other.sandbox.enroll({ user_id: 'a', image })).status).toBe(201)
  })

  it('erases sandbox users after thirty days without use, and production users never', async () => {
    const tenant = await running.tenant()
    const production = await running.production(tenant)
    await production.enroll({ user_id: 'kept', image: await photoOf('ada') })
    await tenant.sandbox.enroll({ user_id: 'used', image, replace: true })
    await tenant.sandbox.enroll({ user_id: 'unused', image, replace: true })
    const { store } = running.service.core
    const leaderLease = { current: () => ({ id: 'ours', signal: new AbortController().signal }) }
    const keepHouse = () =>
      new RetentionJob(store, running.clock, pino({ level: 'silent' }), leaderLease, {
        sandboxRetentionMs: 30 * DAY_MS,
      }).run()
    running.clock.advance(29 * DAY_MS)
    await keepHouse()
    expect((await tenant.sandbox.verify({ user_id: 'used', image, action })).status).toBe(200)
    running.clock.advance(2 * DAY_MS)
    await keepHouse()
    const known = async (client: ApiClient, user_id: string) =>
      (await client.call('GET', `/v1/users/${user_id}`)).status
    expect(await known(tenant.sandbox, 'used')).toBe(200)
    expect(await known(tenant.sandbox, 'unused')).toBe(404)
    expect(await known(production, 'kept')).toBe(200)
  })
})

it('limits the sandbox records of a tenant and day, and counts neither replays nor erasures', async () => {
  const { sandbox } = await running.tenant()
  await sandbox.enroll({ user_id: 'ada+match', image })
  const once = (key: string) =>
    sandbox.verify({ user_id: 'ada+match', image, action }, { headers: { 'X-Svc-Idempotency-Key': key } })
  let last = await once('0')
  for (let each = 1; last.status === 200; each++) last = await once(`${each}`)
  expect(last.body.code).toBe('sandbox_daily_quota_reached')
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await once('0')).status).toBe(200)
  expect((await sandbox.verify({ user_id: 'ada+match', image, action })).status).toBe(200)
  const asked = await sandbox.call('POST', '/v1/challenges', { user_id: 'ada+match', action })
  expect(asked.body.code).toBe('sandbox_daily_quota_reached')
  expect((await sandbox.erase('ada+match')).status).toBe(200)
  running.clock.advance(DAY_MS)
  expect((await sandbox.enroll({ user_id: 'ada+match', image })).status).toBe(201)
})

it('refuses writes of the sandbox and takes those of production while the disk has less free space than the reserve', async () => {
  const full = await serviceOfTest({
    COUNTERSIGN_SANDBOX_DISK_RESERVE_BYTES: String(Number.MAX_SAFE_INTEGER),
  })
  const tenant = await full.tenant()
  const { status, body, headers } = await tenant.sandbox.enroll({ user_id: 'ada', image })
  expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'sandbox_storage_low', '60'])
  expect((await tenant.sandbox.erase('ada')).body.code).toBe('reference_not_found')
  const production = await full.production(tenant)
  expect((await production.enroll({ user_id: 'ada', image: await photoOf('ada') })).status).toBe(201)
})
