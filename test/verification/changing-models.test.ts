/** Tests of a change from one model pack to another: templates that follow, the decision that moves, and what is left at the end. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { strictThreshold } from '../../models/pack/strict-threshold.js'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { DAY_MS, MINUTE_MS } from '../../src/lib/clock.js'
import { tenantModels } from '../../src/tenants/tenant-models.js'
import { expectCode } from '../support/answers.js'
import type { ApiClient } from '../support/client.js'
import { altered, base64, type FaceName, face } from '../support/faces.js'
import { scrape } from '../support/metrics.js'
import { writeShiftedPack } from '../support/packs.js'
import { setPolicy } from '../support/policies.js'
import { serviceOfFile, type TestTenant } from '../support/service.js'

const OLD = 'baseline@1.0.0'
const NEW = 'shifted@1.0.0'
const action = 'log in'
let tenant: TestTenant
let api: ApiClient
const photo: Partial<Record<FaceName, string>> = {}

const folder = await mkdtemp(join(tmpdir(), 'countersign-shifted-'))
await writeShiftedPack(folder, inject('modelsDir'))
const running = await serviceOfFile(
  {
    COUNTERSIGN_FOLLOWING_PACKS: folder,
    COUNTERSIGN_ACCEPT_PACK: 'baseline,shifted',
    COUNTERSIGN_REPLAY_POLICY: 'report',
  },
  { ownEngine: true },
)
for (const name of ['ada', 'adaToday', 'adaElsewhere', 'grace'] as const)
  photo[name] = base64(await face(name))
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  // A change that a test has finished at the new pack is over: its tenant takes no part in the next one.
  if (tenant) await store().transaction({ tenantId: tenant.id }, (tx) => tx.setTenantModels(tenant.id, null))
  tenant = await running.tenant({ ratePerSecond: 1000, fmr: 1e-3 })
  api = await running.production(tenant)
})

const store = () => running.service.core.store
/** Lowest score of which a template is made, at a tenth of the tenants' rate. */
const strictBound = () => strictThreshold(running.service.engine.pack, 1e-4)!.threshold
const begin = (changes = {}) =>
  running.operations.models.begin(COMMAND_LINE, {
    ...{ from: OLD, to: NEW, strictFmr: null, atCoverage: null, atTime: null },
    ...changes,
  })
const decide = async (by: 'from' | 'to', isForced = false) =>
  running.operations.models.decide(await tenant.record(), COMMAND_LINE, by, { isForced })
/** Ends the change with every tenant at the model of this one. */
async function finish(by: 'from' | 'to' = 'to') {
  await running.operations.models.decide(null, COMMAND_LINE, by, { isForced: true })
  const migration = await running.operations.models.finish(COMMAND_LINE)
  running.clock.advance(2 * MINUTE_MS)
  return running.operations.modelSweep.sweep(migration)
}
/** Begins a change that ends with the test, at the old model. */
async function during(changes = {}) {
  await begin(changes)
  onTestFinished(async () => void (await finish('from')))
}
const subjectOf = async (userId: string) => {
  const { vault } = running.service.core
  return (await vault.find(store().read, vault.blindIndex(tenant.id, 'production', userId), userId))!
}
const modelsOf = async (userId: string) => {
  const { reference, following } = await subjectOf(userId)
  return [reference!.model, ...following.map(({ model }) => model)]
}
const photosOf = async (userId: string, model: string) => {
  const subject = await subjectOf(userId)
  const template = [subject.reference!, ...subject.following].find((one) => one.model === model)!
  return running.service.core.vault.describeReference(subject, template).photoCount
}
const enroll = async (user_id: string, name: FaceName = 'ada', more = {}) =>
  (await api.enroll({ user_id, image: photo[name], ...more })).status
const verify = async (user_id: string, name: FaceName = 'adaToday') =>
  (await api.verify({ user_id, image: photo[name], action })).body
const lastVerify = async () => (await tenant.audit('verify')).at(-1)

describe('templates of the new pack', () => {
  it('are added by a strong verify, in its transaction, and named in its audit entry', async () => {
    expect(await enroll('ada')).toBe(201)
    expect(await modelsOf('ada')).toEqual([OLD])
    await during()
    const { jwt, ...verdict } = await verify('ada')
    expect(verdict).toMatchObject({ verdict: 'approved', model: OLD })
    expect(await modelsOf('ada')).toEqual([OLD, NEW])
    expect((await lastVerify()).reference_followed).toBe(NEW)
    await verify('ada')
    expect(await lastVerify()).not.toHaveProperty('reference_followed')
  })

  it('are added by no rejected verify, and by no match below the strict bound', async () => {
    for (const name of ['stranger', 'weak']) expect(await enroll(name)).toBe(201)
    await during({ strictFmr: 1e-12 })
    expect((await verify('stranger', 'grace')).verdict).toBe('rejected')
    expect((await verify('weak')).verdict).toBe('approved')
    for (const name of ['stranger', 'weak']) expect(await modelsOf(name)).toEqual([OLD])
  })

  it('are added by no replay and no capture with signals', async () => {
    for (const name of ['replay', 'signals']) expect(await enroll(name)).toBe(201)
    await during()
    expect(await verify('replay', 'ada')).toMatchObject({
      verdict: 'approved',
      replay: { suspected: true },
    })
    const capture_integrity = { signals: ['virtual_camera'] }
    const reported = await api.verify({
      user_id: 'signals',
      image: photo.adaToday,
      action,
      capture_integrity,
    })
    expect(reported.body).toMatchObject({ verdict: 'approved' })
    expect(reported.body.capture_integrity.signals).not.toEqual([])
    for (const name of ['replay', 'signals']) expect([name, await modelsOf(name)]).toEqual([name, [OLD]])
  })

  it('are added by no capture that an enrollment would refuse, however well it matches', async () => {
    expect(await enroll('ada')).toBe(201)
    await during()
    for (const [blur, models] of [
      [4.5, [OLD]],
      [2, [OLD, NEW]],
    ] as const) {
      running.clock.advance(2 * DAY_MS)
      const image = base64(await altered('ada', (photo) => photo.blur(blur)))
      const assessed = await api.enroll({ user_id: 'anybody', image, dry_run: true })
      expect(assessed.body.quality.passed).toBe(models.length === 2)
      const { body } = await api.verify({ user_id: 'ada', image, action })
      expect(body).toMatchObject({ verdict: 'approved', replay: { suspected: false } })
      expect(body.score).toBeGreaterThan(strictBound())
      expect([blur, await modelsOf('ada')]).toEqual([blur, models])
    }
  })

  it('are added by no verify that waits for a second person, and by the one that the second person completes', async () => {
    expect([await enroll('first'), await enroll('second', 'grace')]).toEqual([201, 201])
    const policy = { rules: [{ name: 'two', require: { second_approver: { within_minutes: 30 } } }] }
    await setPolicy(running, tenant.id, policy, ['production'])
    await during()
    const first = await verify('first')
    expect(first).toMatchObject({ verdict: 'rejected', reason: 'second_approval_required' })
    expect(first.score).toBeGreaterThan(strictBound())
    expect(await modelsOf('first')).toEqual([OLD])
    const image = base64(await altered('grace', (photo) => photo.blur(2)))
    const second = await api.verify({
      ...{ user_id: 'second', image, action },
      approval_id: first.verification_id,
    })
    expect(second.body.verdict).toBe('approved')
    expect([await modelsOf('first'), await modelsOf('second')]).toEqual([[OLD], [OLD, NEW]])
  })

  it('are written with every enrollment, and go with a reference that is replaced', async () => {
    await during()
    expect(await enroll('ada')).toBe(201)
    expect(await modelsOf('ada')).toEqual([OLD, NEW])
    const before = (await subjectOf('ada')).following[0]!.id
    expect(await enroll('ada', 'adaToday', { replace: true })).toBe(201)
    expect(await modelsOf('ada')).toEqual([OLD, NEW])
    expect((await subjectOf('ada')).following[0]!.id).not.toBe(before)
  })

  it('take in the photos that are added to the reference, or are dropped where there is none to add them to', async () => {
    expect(await enroll('late')).toBe(201)
    await during()
    expect(await enroll('ada')).toBe(201)
    for (const name of ['ada', 'late']) expect(await enroll(name, 'adaToday', { add: true })).toBe(201)
    expect([await photosOf('ada', OLD), await photosOf('ada', NEW)]).toEqual([2, 2])
    expect(await modelsOf('late')).toEqual([OLD])
  })

  it('grow by strong verifies until they have as many photos as the reference', async () => {
    expect(await enroll('ada')).toBe(201)
    expect(await enroll('ada', 'adaToday', { add: true })).toBe(201)
    await during()
    for (const [side, photos] of [
      [400, 1],
      [380, 2],
      [360, 2],
    ]) {
      // A day later no earlier photo is remembered, which would make this one a replay.
      running.clock.advance(2 * DAY_MS)
      const image = base64(await face('ada', side))
      expect((await api.verify({ user_id: 'ada', image, action })).body.verdict).toBe('approved')
      expect([side, await photosOf('ada', NEW)]).toEqual([side, photos])
    }
  })
})

describe('the decision', () => {
  it('moves to the new pack where enough users have its template, and back', async () => {
    for (const name of ['ada', 'late']) expect(await enroll(name)).toBe(201)
    await during()
    expect((await verify('ada')).verdict).toBe('approved')
    await expect(decide('to')).rejects.toMatchObject({ code: 'model_coverage_too_low' })
    expect(tenantModels(await tenant.record())!.deciding).toBe(OLD)
    expect((await tenant.record()).driftSince).toBeNull()
    expect(await decide('to', true)).toHaveLength(1)
    // Verifies of another model are compared with each other only.
    expect((await tenant.record()).driftSince).toBe(running.clock.now())
    expect(await verify('ada')).toMatchObject({ verdict: 'approved', model: NEW })
    expect(await verify('ada', 'grace')).toMatchObject({ verdict: 'rejected', model: NEW })
    expect(await verify('late')).toMatchObject({ code: 'reference_model_mismatch' })
    expect((await api.call('GET', '/v1/users/ada')).body.reference).toMatchObject({ comparable: true })
    expect((await api.call('GET', '/v1/users/late')).body.reference).toMatchObject({ comparable: false })
    expect(await enroll('late', 'ada', { replace: true })).toBe(201)
    expect(await modelsOf('late')).toEqual([NEW, OLD])
    expect(await decide('from')).toHaveLength(1)
    for (const name of ['ada', 'late'])
      expect(await verify(name)).toMatchObject({ verdict: 'approved', model: OLD })
  })

  it('moves automatically at a coverage, and at a time', async () => {
    const isOn = () => true
    for (const name of ['ada', 'late']) expect(await enroll(name)).toBe(201)
    await during({ atCoverage: 1 })
    await verify('ada')
    await running.operations.modelSweep.advance(isOn)
    expect(tenantModels(await tenant.record())!.deciding).toBe(OLD)
    await verify('late')
    // The coverage is not counted again at once.
    running.clock.advance(60 * MINUTE_MS)
    await running.operations.modelSweep.advance(isOn)
    expect(tenantModels(await tenant.record())!.deciding).toBe(NEW)
    await decide('from')
    const atTime = running.clock.now() + MINUTE_MS
    await running.operations.models.setConditions(COMMAND_LINE, { atCoverage: null, atTime })
    await running.operations.modelSweep.advance(isOn)
    expect(tenantModels(await tenant.record())!.deciding).toBe(OLD)
    running.clock.advance(MINUTE_MS)
    await running.operations.modelSweep.advance(isOn)
    expect(tenantModels(await tenant.record())!.deciding).toBe(NEW)
  })

  it('moves for one tenant only, where one is named', async () => {
    const other = await running.tenant({ ratePerSecond: 1000, fmr: 1e-3 })
    await during()
    expect((await decide('to', true)).map(({ id }) => id)).toEqual([tenant.id])
    const decidingOf = async (id: string) => tenantModels((await store().read.tenantById(id))!)!.deciding
    expect([await decidingOf(tenant.id), await decidingOf(other.id)]).toEqual([NEW, OLD])
  })

  it('is refused for a pack that a running service has not loaded', async () => {
    await expect(begin({ to: 'other@1.0.0' })).rejects.toMatchObject({ code: 'model_pack_not_served' })
    expect(await store().read.modelMigration()).toBeUndefined()
  })
})

describe('the end of a change', () => {
  it('keeps ids, times, photos and consent of references, and deletes every template of the old pack', async () => {
    const consent = { id: 'c-1', agreed_at: '2026-11-01T00:00:00Z' }
    expect(await enroll('ada', 'ada', { consent })).toBe(201)
    expect(await enroll('late')).toBe(201)
    const before = (await subjectOf('ada')).reference!
    await begin()
    await verify('ada')
    expect(await running.operations.models.status()).toMatchObject({ migration: { from: OLD, to: NEW } })
    const swept = await finish()
    expect(swept).toMatchObject({ moved: 1 })
    expect(await store().read.modelMigration()).toBeUndefined()
    const after = await subjectOf('ada')
    expect(after).toMatchObject({
      reference: { id: before.id, createdAt: before.createdAt, model: NEW },
      following: [],
    })
    const { vault } = running.service.core
    expect(vault.describeReference(after, after.reference!)).toEqual({
      photoCount: 1,
      consent: { id: 'c-1', at: '2026-11-01T00:00:00Z' },
    })
    expect(await verify('ada')).toMatchObject({ verdict: 'approved', model: NEW })
    expect(await verify('late')).toMatchObject({ code: 'reference_model_mismatch' })
    const late = await subjectOf('late')
    expect(vault.isDropped(late, late.reference!)).toBe(true)
    expect(() => vault.openReference(late, late.reference!)).toThrow(/deleted with its model pack/)
  })

  it('touches nothing of the next change, when a sweep of the change before is late', async () => {
    expect(await enroll('ada')).toBe(201)
    await begin()
    await verify('ada')
    await running.operations.models.decide(null, COMMAND_LINE, 'from', { isForced: true })
    const late = await running.operations.models.finish(COMMAND_LINE)
    running.clock.advance(2 * MINUTE_MS)
    await running.operations.modelSweep.sweep(late)
    expect(await modelsOf('ada')).toEqual([OLD])
    const entries = async () => (await store().read.counts()).auditEntries
    running.clock.advance(2 * DAY_MS)
    await during()
    await verify('ada')
    expect(await modelsOf('ada')).toEqual([OLD, NEW])
    const before = await entries()
    expect(await running.operations.modelSweep.sweep(late)).toEqual({ moved: 0, emptied: 0, deleted: 0 })
    expect(await modelsOf('ada')).toEqual([OLD, NEW])
    expect(await store().read.modelMigration()).toMatchObject({ from: OLD, to: NEW, finishingAt: null })
    expect(await entries()).toBe(before)
    const subject = await subjectOf('ada')
    expect(running.service.core.vault.isDropped(subject, subject.reference!)).toBe(false)
  })

  it('is refused while tenants decide by different models', async () => {
    await running.tenant()
    await during()
    expect(await decide('to')).toHaveLength(1)
    await expectCode(running.operations.models.finish(COMMAND_LINE), 'model_decisions_differ')
  })
})

it('names the packs that follow in health and metrics, next to the one that serves', async () => {
  const { engine } = (await api.health()).body.checks
  expect(engine).toMatchObject({ model: OLD, following_models: [NEW] })
  const metrics = await scrape(running)
  expect(metrics).toContain(`countersign_engine_info{model="${OLD}",provider="cpu"} 1`)
  expect(metrics).not.toContain(`countersign_engine_info{model="${NEW}"`)
  expect(metrics).toContain(`countersign_engine_pack_info{model="${OLD}",role="primary"} 1`)
  expect(metrics).toContain(`countersign_engine_pack_info{model="${NEW}",role="following"} 1`)
})
