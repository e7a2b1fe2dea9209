/** Counting verifies into every store, and the watch over them, with a clock that the test moves. */
import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import type { LeaderLease } from '../../../../src/cluster/leader-lease.js'
import { type CountedRequest, sumOfCounts } from '../../../../src/features/insight/drift/drift-counts.js'
import { DriftRecorder } from '../../../../src/features/insight/drift/drift-recorder.js'
import { PERIOD_MS, startOfPeriod } from '../../../../src/features/insight/drift/drift-report.js'
import { readHistories } from '../../../../src/features/insight/drift/drift-rows.js'
import { driftReader } from '../../../../src/features/insight/drift/drift-table.js'
import { DriftWatch } from '../../../../src/features/insight/drift/drift-watch.js'
import { totalOf } from '../../../../src/features/insight/histogram.js'
import { DAY_MS, ManualClock, MINUTE_MS } from '../../../../src/lib/clock.js'
import type { TenantRecord } from '../../../../src/storage/records.js'
import { type Store, StoreUnavailableError } from '../../../../src/storage/store.js'
import { decidingModel, tenantModelsJson } from '../../../../src/tenants/tenant-models.js'
import { tenant } from '../../../support/records.js'
import { overStores } from '../../../support/stores.js'
import { SimulatedVerifies } from './simulated-verifies.js'

const MODEL = 'standard@1.0.0'
const START = Date.UTC(2026, 0, 5)
const OTHER = 'other@1.0.0'
/** The model that decides on a service which has loaded both models. */
const modelOf = (record: TenantRecord) => decidingModel(record, MODEL, new Set([MODEL, OTHER]))
const silent = pino({ level: 'silent' })
const approved: CountedRequest = {
  environment: 'production',
  endpoint: 'verify',
  tenantId: 'ten_a',
  isReplay: false,
  code: undefined,
  verdict: 'approved',
  reason: null,
  score: 0.7,
  quality: 0.5,
  threshold: 0.4,
}
const { environment, endpoint, tenantId, isReplay } = approved
const refused = { environment, endpoint, tenantId, isReplay }

overStores((stores) => {
  let clock: ManualClock
  beforeEach(async () => {
    clock = new ManualClock(START)
    await stores.store.transaction('installation', (tx) => tx.insertTenant(tenant('a')))
  })
  const recorder = (store: Pick<Store, 'transaction'> = stores.store) =>
    new DriftRecorder({ store, clock, log: silent, modelOf })
  const history = async () =>
    (await readHistories(stores.store.read, 'ten_a', clock.now())).get(MODEL) ?? { periods: [], blocks: [] }
  const counted = async () => {
    const { periods, blocks } = await history()
    const verifies = (some: typeof periods) => totalOf(sumOfCounts(some.map(({ counts }) => counts)).outcomes)
    return { periods: verifies(periods), blocks: verifies(blocks) }
  }

  describe('a recorder', () => {
    it('counts scores, qualities, outcomes and thresholds of production, and nothing that names a user', async () => {
      const one = recorder()
      one.observe(approved)
      one.observe({ ...approved, verdict: 'rejected', reason: 'no_match', score: 0.2 })
      one.observe({ ...approved, verdict: 'rejected', reason: 'second_approval_required', score: 0.8 })
      one.observe({ ...refused, code: 'low_quality' })
      for (const left of [
        { environment: 'sandbox' },
        { endpoint: 'enroll' },
        { isReplay: true },
        { tenantId: undefined },
        { verdict: 'rejected', reason: 'locked_out', score: null },
        { verdict: 'rejected', reason: 'reference_disabled', score: null },
      ] as const)
        one.observe({ ...approved, ...left })
      one.observe({ ...refused, code: 'rate_limited' })
      await one.save()
      expect((await history()).periods).toEqual([
        {
          at: START,
          counts: {
            scores: { 70: 1, 80: 1 },
            quality: { 50: 3 },
            outcomes: { approved: 2, no_match: 1, low_quality: 1 },
            thresholds: { 40: 2 },
          },
        },
      ])
    })

    it('counts pictures that were refused for the model that decides for the tenant', async () => {
      const models = tenantModelsJson({ deciding: OTHER, following: MODEL, strictFmr: null })
      await stores.store.transaction('installation', (tx) => tx.setTenantModels('ten_a', models))
      const one = recorder()
      one.observe({ ...approved, model: OTHER })
      one.observe({ ...refused, code: 'low_quality' })
      await one.save()
      const histories = await readHistories(stores.store.read, 'ten_a', clock.now())
      expect([...histories.keys()]).toEqual([OTHER])
      expect(histories.get(OTHER)!.periods[0]!.counts.outcomes).toEqual({ approved: 1, low_quality: 1 })
    })

    it('adds up what several services count, in any order', async () => {
      const services = [recorder(), recorder(await stores.open()), recorder(await stores.open())]
      for (let round = 0; round < 4; round++) {
        for (const [index, one] of services.entries()) for (let i = 0; i <= index; i++) one.observe(approved)
        await Promise.all(services.map((one) => one.save()))
      }
      expect(await counted()).toEqual({ periods: 24, blocks: 24 })
    })

    it('adds verifies of an earlier period to its row, and to the newest blocks', async () => {
      const [late, early] = [recorder(), recorder()]
      late.observe(approved)
      clock.advance(PERIOD_MS)
      early.observe(approved)
      await early.save()
      await late.save()
      const { periods, blocks } = await history()
      expect(periods.map(({ at, counts }) => [at, totalOf(counts.outcomes)])).toEqual([
        [START, 1],
        [startOfPeriod(clock.now()), 1],
      ])
      expect(blocks).toHaveLength(1)
      expect(await counted()).toEqual({ periods: 2, blocks: 2 })
    })

    it('keeps the counts while the database cannot be written', async () => {
      let isDown = true
      const one = recorder({
        transaction: (scope, work) => {
          if (isDown) throw new StoreUnavailableError('the disk is full')
          return stores.store.transaction(scope, work)
        },
      })
      for (let i = 0; i < 3; i++) {
        one.observe(approved)
        await one.save()
      }
      expect(await counted()).toEqual({ periods: 0, blocks: 0 })
      isDown = false
      await one.save()
      expect(await counted()).toEqual({ periods: 3, blocks: 3 })
    })

    it('counts nothing for a deleted tenant', async () => {
      const one = recorder()
      one.observe(approved)
      await stores.store.transaction('installation', (tx) => tx.closeTenant('ten_a', START))
      await one.save()
      expect(await stores.store.read.statements(driftReader).since('ten_a', 0)).toEqual([])
    })
  })

  describe('a watch', () => {
    const log: Array<{ level: number; measure?: string; model?: string; msg: string }> = []
    const watch = (leaderLease: Pick<LeaderLease, 'current'>) =>
      new DriftWatch({
        ...{ store: stores.store, clock, leaderLease, calibrationOf: () => undefined, modelOf },
        log: pino({ level: 'info' }, { write: (line: string) => void log.push(JSON.parse(line)) }),
      })
    const leading = { current: () => ({ id: 'ours', signal: new AbortController().signal }) }

    it('notices a camera release that blurs, logs it once, and is shown by the leader only', async () => {
      log.length = 0
      const one = recorder()
      const stream = new SimulatedVerifies({ people: 300, perDay: 120, seed: 4 }, START)
      const send = async (verifies: number) => {
        for (const verify of stream.verifies(verifies)) {
          clock.jump(stream.now - clock.now())
          one.observe(verify)
        }
        await one.save()
      }
      while (stream.now < START + 36 * DAY_MS) await send(30)
      const leader = watch(leading)
      await leader.now()
      expect(leader.watched).toMatchObject([{ tenantId: 'ten_a', tenantName: 'a', model: MODEL, alarms: [] }])
      stream.change = { quality: 0.25, score: 0.1 }
      for (let sent = 0; sent < 300; sent += 30) {
        await send(30)
        await leader.now()
      }
      expect(leader.watched[0]!.alarms).toContain('quality')
      expect(log.filter(({ measure }) => measure === 'quality')).toMatchObject([{ level: 40 }])
      // Another model decides: what this one has judged is compared no more.
      const setModels = (deciding: string | null) => {
        const json = deciding && tenantModelsJson({ deciding, following: null, strictFmr: null })
        return stores.store.transaction('installation', (tx) => tx.setTenantModels('ten_a', json))
      }
      await setModels(OTHER)
      await leader.now()
      expect(leader.watched).toEqual([])
      expect(log.filter(({ measure }) => measure === 'quality').slice(1)).toMatchObject([
        { level: 30, model: MODEL, msg: 'alarm of drift has ended: another model decides for the tenant' },
      ])
      await setModels(null)
      await leader.now()
      expect(leader.watched[0]!.alarms).toContain('quality')
      // The operator knows of the change.
      await stores.store.transaction('installation', (tx) =>
        tx.setDriftSince('ten_a', Math.ceil(clock.now())),
      )
      await leader.now()
      expect(leader.watched[0]).toMatchObject({ alarms: [] })
      const follower = watch({ current: () => null })
      await follower.now()
      expect(follower.watched).toEqual([])
      // A tenant without verifies for a week is left out.
      clock.advance(8 * DAY_MS + MINUTE_MS)
      await leader.now()
      expect(leader.watched).toEqual([])
    }, 120_000)
  })
})
