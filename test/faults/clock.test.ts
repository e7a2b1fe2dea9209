/** Tests with a system clock that is set back and forward by an hour: nothing acknowledged is lost, and nothing that has ended returns. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LeaderLease } from '../../src/cluster/leader-lease.js'
import { RetentionJob } from '../../src/jobs/retention.js'
import { DAY_MS, HOUR_MS, ManualClock, MINUTE_MS, SECOND_MS } from '../../src/lib/clock.js'
import { SqliteStore } from '../../src/storage/sqlite/sqlite-store.js'
import { base64, face } from '../support/faces.js'
import { serviceOfFile } from '../support/service.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { decodeJwt, validSignatures } from '../support/trust.js'
import { Crowd } from './crowd.js'
import { Installation } from './installation.js'

const LIBFAKETIME = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1',
].find(existsSync)
const JUMPS = ['-1h', '+0', '+1h', '-1h', '+1h', '+0']
const BETWEEN_JUMPS_MS = 400

describe('the system clock of a process under load', () => {
  it.skipIf(!LIBFAKETIME)(
    'may jump without losing or repeating a write, or refusing or not signing an answer',
    async () => {
      const folder = temporaryFolder()
      const offset = join(folder, 'offset')
      const set = (by: string) => writeFileSync(offset, `${by}\n`)
      set('+0')
      const installation = await Installation.create({
        env: {
          LD_PRELOAD: LIBFAKETIME!,
          FAKETIME_TIMESTAMP_FILE: offset,
          FAKETIME_NO_CACHE: '1',
          // Only the wall clock is changed, as by an operator.
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
          DONT_FAKE_MONOTONIC: '1',
        },
      })
      onTestFinished(() => installation.dispose())
      const server = await installation.serve()
      const crowd = await Crowd.gather(installation, server, { seed: 8 })
      const stop = new AbortController()
      const working = crowd.work(server.production, stop.signal)
      const seen = new Set<number>()
      for (const jump of JUMPS) {
        set(jump)
        await sleep(BETWEEN_JUMPS_MS)
        const { headers } = await fetch(`${server.production}/v1/health`)
        const signedAt = Number(/^t=(\d+)/.exec(headers.get('x-svc-signature')!)![1]) * SECOND_MS
        seen.add(Math.round((signedAt - Date.now()) / HOUR_MS))
      }
      stop.abort()
      await working
      expect(seen, 'the clock did jump').toEqual(new Set([-1, 0, 1]))
      await crowd.resolveUncertain(server.production)
      expect(await server.stop()).toBe(0)
      crowd.checkDatabase(installation.databaseFile)
      expect(crowd.findings.acknowledged).toBeGreaterThan(0)
      expect(crowd.findings.unanswered).toBe(0)
      expect(crowd.problems).toEqual([])
      await installation.run('audit', 'verify')
    },
  )
})

const running = await serviceOfFile({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '1' })
const ada = base64(await face('ada'))

describe('a clock that is changed', () => {
  it('back and forward replays a kept response, moves the times of JWTs, and keeps the order of the audit log', async () => {
    const tenant = await running.tenant()
    const client = await running.production(tenant)
    const enrol = () =>
      client.enroll({ user_id: 'ada', image: ada }, { headers: { 'X-Svc-Idempotency-Key': 'once' } })
    const first = await enrol()
    expect(first.status).toBe(201)
    for (const jumpMs of [-HOUR_MS, 2 * HOUR_MS, -HOUR_MS]) {
      running.clock.advance(jumpMs)
      expect(await enrol()).toMatchObject({ status: 201, text: first.text })
      const verified = await client.verify({ user_id: 'ada', image: ada, action: 'login' })
      const { claims } = decodeJwt(verified.body.jwt, tenant.secret.secret)
      const now = Math.floor(running.clock.now() / SECOND_MS)
      expect(claims).toMatchObject({ iat: now, nbf: now, verdict: 'approved' })
      expect(claims.exp).toBeGreaterThan(now)
    }
    const { store, audit } = running.service.core
    expect(await audit.verify(store.read, tenant.id)).toEqual({ entries: 4, brokenAt: null })
  })

  it('back does not make an ended secret valid again', async () => {
    const tenant = await running.tenant()
    const client = await running.production(tenant)
    const rotated = [await client.rotate(), await client.rotate({ force: true })]
    const [second, third] = rotated.map(({ body }) => body.signing_secret)
    running.clock.advance(-HOUR_MS)
    const secrets = {
      [tenant.secret.id]: tenant.secret.secret,
      [second.id]: second.secret,
      [third.id]: third.secret,
    }
    expect(validSignatures(await client.health(), secrets)).toEqual([second.id, third.id])
    running.clock.advance(HOUR_MS)
    expect(validSignatures(await client.health(), secrets)).toEqual([second.id, third.id])
  })

  it('back neither unlocks a user nor locks them forever', async () => {
    const client = await running.production(await running.tenant())
    await client.enroll({ user_id: 'ada', image: ada })
    const other = base64(await face('grace'))
    const verify = (image: string) => client.verify({ user_id: 'ada', image, action: 'login' })
    expect((await verify(other)).body.reason).toBe('no_match')
    running.clock.advance(-HOUR_MS)
    const locked = await verify(ada)
    expect(locked.body.reason).toBe('locked_out')
    const waitMs = Number(locked.headers.get('retry-after')) * SECOND_MS
    expect(waitMs).toBeLessThanOrEqual(HOUR_MS + MINUTE_MS)
    running.clock.advance(waitMs)
    expect((await verify(ada)).body.verdict).toBe('approved')
  })
})

it('the retention job deletes nothing for an hour after the clock was changed, and then what has expired', async () => {
  const store = SqliteStore.open(join(temporaryFolder(), 'countersign.db'))
  onTestFinished(() => store.close())
  const clock = new ManualClock()
  let uptime = 0
  const log = pino({ level: 'silent' })
  const pass = (ms: number) => {
    uptime += ms
    clock.advance(ms)
  }
  const keeping = new RetentionJob(
    store,
    clock,
    log,
    new LeaderLease(store, log),
    { sandboxRetentionMs: 30 * DAY_MS },
    () => uptime,
  )
  const scope = Buffer.from('scope')
  const begun = clock.now()
  const kept = () => store.read.idempotencyRecord(scope, begun)
  await store.transaction('installation', (tx) =>
    tx.insertIdempotencyRecord({
      scope,
      blindIndex: null,
      subjectId: null,
      payloadHash: scope,
      status: 200,
      sealed: scope,
      createdAt: begun,
      expiresAt: begun + DAY_MS,
    }),
  )
  for (const jumpMs of [2 * DAY_MS, -2 * DAY_MS]) {
    clock.advance(jumpMs)
    pass(MINUTE_MS)
    await keeping.run()
  }
  expect(await kept()).toBeDefined()
  pass(DAY_MS - 3 * MINUTE_MS)
  await keeping.run()
  expect(await kept()).toBeDefined()
  pass(MINUTE_MS)
  await keeping.run()
  expect(await kept()).toBeUndefined()
})
