/** The figures of the Overview: what they count, over which window, and what survives a restart. */

import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { COMMAND_LINE } from '../../../../src/audit/audited-unit-of-work.js'
import type { TrafficView, TrafficWindow } from '../../../../src/dashboard/contract.js'
import { countLatency, percentilesOf } from '../../../../src/features/insight/traffic/latency-counts.js'
import { Traffic } from '../../../../src/features/insight/traffic/traffic.js'
import {
  countRequest,
  noTraffic,
  readTraffic,
} from '../../../../src/features/insight/traffic/traffic-counts.js'
import { trafficReader } from '../../../../src/features/insight/traffic/traffic-table.js'
import type { Observation } from '../../../../src/http/observation/observation.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../src/lib/clock.js'
import { type Store, StoreUnavailableError } from '../../../../src/storage/store.js'
import { apiClient } from '../../../support/client.js'
import { workplace } from '../../../support/command.js'
import { type DashboardClient, loginToken, signIn, signInAt } from '../../../support/dashboard.js'
import { withDatabase } from '../../../support/database.js'
import { photoOf } from '../../../support/faces.js'
import { OPERATOR_PASSWORD } from '../../../support/operator.js'
import { serviceOfFile } from '../../../support/service.js'

const WINDOWS: TrafficWindow[] = ['quarter', 'hour', 'day', 'week']

const REQUEST = { status: 200, durationMs: 1, timings: {} }

let session: DashboardClient

const running = await serviceOfFile()
const tenant = await running.tenant()
const image = await photoOf('ada')

const signInAgain = async () => {
  session = await signIn(running, { login_token: await loginToken(running, tenant.id) })
}
async function restart(): Promise<void> {
  await running.restart()
  tenant.sandbox = apiClient(running.service.url('sandbox'), tenant.sandboxKey)
  await signInAgain()
}
async function view(window: TrafficWindow): Promise<TrafficView> {
  if (!session) await signInAgain()
  const { status, body } = await session.call('GET', `/tenants/${tenant.id}/traffic?window=${window}`)
  expect(status).toBe(200)
  return body
}
/** Sums one column over both environments, or the requests of one environment. */
const sumOf = ({ slots }: TrafficView, name: 'sandbox' | 'production' | 'approved' | 'rejected' | 'errors') =>
  slots.reduce(
    (sum, slot) =>
      sum +
      (name === 'sandbox' || name === 'production'
        ? slot[name].requests
        : slot.production[name] + slot.sandbox[name]),
    0,
  )
const verify = async (user_id: string) => {
  const { body } = await tenant.sandbox.verify({ user_id, image, action: 'x' })
  return body
}

describe('the traffic of a tenant', () => {
  it('survives a restart in every window', async () => {
    const production = await running.production(tenant)
    await production.enroll({ user_id: 'ada-lovelace', image })
    expect((await production.verify({ user_id: 'ada-lovelace', image, action: 'x' })).body.verdict).toBe(
      'approved',
    )
    await verify('u+match')
    await verify('u+no_match')
    await verify('u+no_face')
    const before = await Promise.all(WINDOWS.map(view))
    running.clock.advance(MINUTE_MS)
    await restart()
    for (const [index, window] of WINDOWS.entries()) {
      const after = await view(window)
      expect([window, sumOf(after, 'production'), sumOf(after, 'sandbox')]).toEqual([window, 2, 3])
      expect([sumOf(after, 'approved'), sumOf(after, 'rejected'), sumOf(after, 'errors')]).toEqual([2, 1, 1])
      expect(after.environments).toEqual(before[index]!.environments)
      expect(after.slots.flatMap(({ production }) => production.scores).reduce((a, b) => a + b)).toBe(1)
    }
  })

  it('adds requests after the restart to the same figures', async () => {
    await verify('u+match')
    for (const window of WINDOWS) expect([window, sumOf(await view(window), 'approved')]).toEqual([window, 3])
  })

  it('has the latencies of every stage over the whole window, not only of its last step', async () => {
    const { environments, slots } = await view('hour')
    expect(slots).toHaveLength(2)
    // The last step has no request that ran a model.
    expect(slots[1]!.production.latencies).toEqual({})
    const { verify } = environments.production.latencies
    expect(verify!.embed![1]).toBeGreaterThan(0)
    expect(Object.keys(verify!)).toEqual(expect.arrayContaining(['auth', 'embed', 'store', 'sign', 'total']))
  })

  it('is separated by environment: requests to the sandbox change nothing of production', async () => {
    const before = await view('hour')
    await verify('u+no_match')
    await verify('u+no_face')
    const after = await view('hour')
    expect(after.environments.production).toEqual(before.environments.production)
    const production = { requests: 2, approved: 1, rejected: 0, errors: 0 }
    expect(after.slots[0]!.production).toMatchObject(production)
    expect(after.environments.sandbox).toMatchObject({
      codes: { face_not_found: 2 },
      reasons: { no_match: 2 },
    })
  })

  it('counts refusals of a key at the wrong address, as the request log does', async () => {
    const before = await view('hour')
    const elsewhere = apiClient(running.service.url('production'), tenant.sandboxKey)
    const { body } = await elsewhere.verify({ user_id: 'u+match', image, action: 'x' })
    expect(body.code).toBe('wrong_environment')
    const after = await view('hour')
    expect(after.environments.production.codes).toEqual({ wrong_environment: 1 })
    expect(sumOf(after, 'errors')).toBe(sumOf(before, 'errors') + 1)
    expect(after.slots.at(-1)!.signingKeys).toEqual(before.slots.at(-1)?.signingKeys ?? {})
  })

  it('is no longer counted after the tenant is deleted, even when its old key is tried', async () => {
    const gone = await running.tenant()
    await running.operations.lifecycle.delete(await gone.record(), COMMAND_LINE)
    expect((await gone.sandbox.verify({ user_id: 'u+match', image, action: 'x' })).status).toBe(401)
    await restart()
    const { read } = running.service.core.store
    expect(await read.statements(trafficReader).since(gone.id, 'hour', 0)).toEqual([])
  })

  it('separates the latencies of challenges from those of photos', () => {
    const kinds = (isChallenge: boolean, endpoint: string) => {
      const counts = noTraffic()
      const request = { ...REQUEST, environment: 'production', endpoint, isChallenge }
      countRequest(counts, request as Observation)
      return Object.keys(counts.production.latencies)
    }
    expect(kinds(true, 'verify')).toEqual(['verify_challenge'])
    expect(kinds(false, 'verify')).toEqual(['verify'])
    expect(kinds(true, 'enroll')).toEqual(['enroll_challenge'])
    expect(kinds(false, 'health')).toEqual(['other'])
  })

  it('stored by an older version counts for the only environment with requests, and for none when both had some', () => {
    const flat = {
      errors: 1,
      limited: 0,
      approved: 2,
      rejected: 0,
      latencies: {},
      scores: [],
      signingKeys: {},
    }
    const read = (production: number, sandbox: number) =>
      readTraffic(JSON.stringify({ ...flat, production, sandbox }))
    expect(read(0, 3).sandbox).toMatchObject({ requests: 3, approved: 2, errors: 1 })
    expect(read(0, 3).production).toMatchObject({ requests: 0, approved: 0, errors: 0 })
    expect(read(1, 3).production).toMatchObject({ requests: 1, approved: 0, errors: 0 })
    expect(read(1, 3).sandbox).toMatchObject({ requests: 3, approved: 0, errors: 0 })
  })

  it('contains nothing about users in the database', async () => {
    await running.service.stop()
    const rows = withDatabase(running, (database) =>
      database.prepare('SELECT resolution, counts FROM traffic ORDER BY resolution').all(),
    ) as Array<{ resolution: string; counts: string }>
    expect(rows.map(({ resolution }) => resolution)).toContain('minute')
    expect(JSON.stringify(rows)).not.toContain('ada')
    expect(Object.keys(JSON.parse(rows[0]!.counts)).sort()).toEqual([
      ...['approved', 'environments', 'errors', 'latencies', 'limited', 'production', 'rejected', 'sandbox'],
      ...['scores', 'signingKeys'],
    ])
    await running.restart()
  })

  it('leaves each window with its age, and the database after the longest', async () => {
    const shown = async () => {
      await signInAgain()
      return Promise.all(WINDOWS.map(async (window) => sumOf(await view(window), 'approved')))
    }
    expect(await shown()).toEqual([3, 3, 3, 3])
    running.clock.advance(20 * MINUTE_MS)
    expect(await shown()).toEqual([0, 3, 3, 3])
    running.clock.advance(2 * HOUR_MS)
    expect(await shown()).toEqual([0, 0, 3, 3])
    running.clock.advance(DAY_MS)
    expect(await shown()).toEqual([0, 0, 0, 3])
    running.clock.advance(9 * DAY_MS)
    await running.restart()
    expect(await shown()).toEqual([0, 0, 0, 0])
    expect(
      withDatabase(running, (database) => database.prepare('SELECT count(*) FROM traffic').pluck().get()),
    ).toBe(0)
  })
})

describe('a process that is killed', () => {
  it('loses the figures of at most the last few seconds', async () => {
    const place = await workplace()
    onTestFinished(() => place.dispose())
    const { json } = await place.run(['tenant', 'create', 'acme', '--json'])
    const first = await place.serve()
    const sandbox = apiClient(first.sandbox, json.sandbox_key)
    for (let call = 0; call < 7; call++) expect((await sandbox.health()).status).toBe(200)
    const stored = async () =>
      withDatabase(place, (database) =>
        ['minute', 'hour'].map((resolution) => {
          const rows = database.prepare('SELECT counts FROM traffic WHERE resolution = ?').pluck()
          return (rows.all(resolution) as string[]).reduce(
            (sum, counts) => sum + JSON.parse(counts).sandbox,
            0,
          )
        }),
      )
    // The process saves without being asked to stop.
    await expect.poll(stored, { timeout: 60_000 }).toEqual([7, 7])
    first.signal('SIGKILL')
    await first.exited
    const second = await place.host()
    const signedIn = await signInAt(second.admin, { password: OPERATOR_PASSWORD })
    const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
    for (const window of WINDOWS) {
      const path = `/api/tenants/${json.tenant_id}/traffic?window=${window}`
      const answer = await fetch(second.admin + path, { headers: { Cookie: cookie } })
      expect([window, sumOf((await answer.json()) as TrafficView, 'sandbox')]).toEqual([window, 7])
    }
  }, 120_000)
})

describe('figures that are not saved yet', () => {
  const log = pino({ level: 'silent' })
  const request = { ...REQUEST, environment: 'sandbox' } as Observation

  it('are shown while they are being saved, neither left out nor counted twice', async () => {
    const { store } = running.service.core
    const { id } = await running.tenant()
    const traffic = new Traffic({ store, clock: running.clock, log })
    const shown = async () => sumOf(await traffic.view(id, 'hour'), 'sandbox')
    for (let round = 1; round <= 3; round++) {
      traffic.observe({ ...request, tenantId: id })
      const saved = traffic.save()
      expect(await shown()).toBe(round)
      await saved
      expect(await shown()).toBe(round)
    }
  })

  it('leave out guidance, which is many times as frequent as verdicts', async () => {
    const { store } = running.service.core
    const { id } = await running.tenant()
    const traffic = new Traffic({ store, clock: running.clock, log })
    for (const endpoint of ['guide', 'verify', 'guide'])
      traffic.observe({ ...request, endpoint, tenantId: id } as Observation)
    expect(sumOf(await traffic.view(id, 'hour'), 'sandbox')).toBe(1)
  })

  it('are saved for a few tenants at a time, and are kept while the database cannot be reached', async () => {
    const { store } = running.service.core
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await running.tenant()).id))
    let isAway = true
    const sizes: number[] = []
    let started = 0
    const watched: Pick<Store, 'read' | 'transaction' | 'shared'> = {
      read: store.read,
      shared: store.shared,
      transaction: (scope, work, deadlineMs) => {
        if (isAway) return Promise.reject(new StoreUnavailableError('away'))
        if (started++ === 0)
          setImmediate(() => {
            sizes.push(started)
            started = 0
          })
        return store.transaction(scope, work, deadlineMs)
      },
    }
    const traffic = new Traffic({ store: watched, clock: running.clock, log })
    for (const tenantId of ids) traffic.observe({ ...request, tenantId })
    await traffic.save()
    isAway = false
    await traffic.save()
    expect(sizes).toEqual([16, 4])
    for (const id of ids) expect(sumOf(await traffic.view(id, 'hour'), 'sandbox')).toBe(1)
  })
})

describe('the percentiles of counted durations', () => {
  it('differ from the exact ones by at most a fortieth', () => {
    const durations = Array.from({ length: 1000 }, (_, i) => 0.05 * 1.009 ** i)
    const counts = {}
    for (const duration of durations) countLatency(counts, duration)
    for (const [index, rank] of [499, 949, 989].entries()) {
      const estimate = percentilesOf(counts)[index]!
      expect(Math.abs(estimate / durations[rank]! - 1)).toBeLessThanOrEqual(0.025)
    }
  })
})
