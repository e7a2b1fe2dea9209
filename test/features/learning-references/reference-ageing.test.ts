/** Tests of references that take captures in after strong matches, and of the way back. */

import { join } from 'node:path'
import sharp from 'sharp'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { ageingBounds, distanceOfScore } from '../../../models/pack/ageing-bounds.js'
import { loadModelPack } from '../../../models/pack/model-pack.js'
import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import { scoreOf } from '../../../src/biometrics/pipeline/judge/match.js'
import { agedReferenceReader } from '../../../src/features/learning-references/aged-references.js'
import { undoAgeing } from '../../../src/features/learning-references/undo-ageing.js'
import { DAY_MS, MINUTE_MS } from '../../../src/lib/clock.js'
import type { ApiClient } from '../../support/client.js'
import { base64, face, photoOf } from '../../support/faces.js'
import { writeShiftedPack } from '../../support/packs.js'
import { serviceOfFile, type TestTenant } from '../../support/service.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const OLD = 'baseline@1.0.0'
const NEW = 'shifted@1.0.0'
const DAYS = 30
const action = 'log in'
let tenant: TestTenant
let api: ApiClient
/** Photos of one day each: the widths of their squares, in pixels. */
let side = 400

const folder = temporaryFolder()
await writeShiftedPack(folder, inject('modelsDir'))
const pack = await loadModelPack(join(inject('modelsDir'), 'baseline'))
const running = await serviceOfFile(
  {
    COUNTERSIGN_REFERENCE_AGEING_DAYS: String(DAYS),
    COUNTERSIGN_FOLLOWING_PACKS: folder,
    COUNTERSIGN_ACCEPT_PACK: 'baseline,shifted',
    COUNTERSIGN_REPLAY_POLICY: 'report',
  },
  { ownEngine: true },
)
beforeEach(async () => {
  tenant = await running.tenant({ ratePerSecond: 1000, fmr: 1e-3 })
  api = await running.production(tenant)
})

const store = () => running.service.core.store
const subjectOf = async (userId: string) => {
  const { vault } = running.service.core
  return (await vault.find(store().read, vault.blindIndex(tenant.id, 'production', userId), userId))!
}
/** Embeddings of the reference and of what it has become, and when; null where it has taken nothing in. */
async function templatesOf(userId: string) {
  const { vault } = running.service.core
  const subject = await subjectOf(userId)
  const open = (template: { id: string; sealed: Buffer }) => vault.openReference(subject, template).embedding
  const { aged } = subject
  return {
    first: open(subject.reference!),
    aged: aged && { embedding: open(aged), at: aged.createdAt, id: aged.id },
  }
}
const distance = (a: Float32Array, b: Float32Array) => distanceOfScore(pack, scoreOf(pack, a, b))
const enroll = async (user_id: string, more = {}) =>
  (await api.enroll({ user_id, image: await photoOf('ada'), ...more })).status
/** Verifies by a photo of another size each time, so that no two are the same file. */
async function verify(user_id: string, image?: Buffer, more = {}) {
  side = side <= 300 ? 400 : side - 4
  const photo = base64(image ?? (await face('ada', side)))
  return (await api.verify({ user_id, image: photo, action, ...more })).body
}
const wait = (days: number) => running.clock.advance(days * DAY_MS)
const lastEntry = async (event: string) => (await tenant.audit(event)).at(-1)
/** A user who was enrolled so long ago that a capture may be taken in. */
async function due(userId = 'ada') {
  expect(await enroll(userId)).toBe(201)
  wait(DAYS)
}
const undo = async (userId: string | null) =>
  undoAgeing(running.service.core, await tenant.record(), COMMAND_LINE, userId)
async function aged(userId = 'ada') {
  await due(userId)
  expect(await verify(userId)).toMatchObject({ verdict: 'approved' })
  expect((await templatesOf(userId)).aged).not.toBeNull()
}

describe('a reference', () => {
  it('takes a strong match in, one step towards it, and the audit entry of the verdict says so', async () => {
    await due()
    const { jwt, ...verdict } = await verify('ada')
    expect(verdict).toMatchObject({ verdict: 'approved', model: OLD })
    const { first, aged } = await templatesOf('ada')
    const bounds = ageingBounds(pack)!
    expect(distance(first, aged!.embedding)).toBeCloseTo(bounds.step, 4)
    const exported = await running.operations.exports.run(await tenant.record(), COMMAND_LINE, {
      environment: 'production',
      userId: 'ada',
    })
    expect(exported.templates).toMatchObject([{ model: OLD }, { model: OLD, aged: true, views: 1 }])
    const { reference_aged } = await lastEntry('verify')
    expect(reference_aged.similarity).toBeCloseTo(scoreOf(pack, first, aged!.embedding), 3)
  })

  it('takes nothing in before the days are over, counted from the enrollment and from the last capture', async () => {
    expect(await enroll('ada')).toBe(201)
    wait(DAYS - 1)
    expect((await verify('ada')).verdict).toBe('approved')
    expect((await templatesOf('ada')).aged).toBeNull()
    expect(await lastEntry('verify')).not.toHaveProperty('reference_aged')
    wait(1)
    expect((await verify('ada')).verdict).toBe('approved')
    const { aged: once } = await templatesOf('ada')
    wait(DAYS - 1)
    expect((await verify('ada')).verdict).toBe('approved')
    expect((await templatesOf('ada')).aged).toEqual(once)
    wait(1)
    expect((await verify('ada')).verdict).toBe('approved')
    const { first, aged: twice } = await templatesOf('ada')
    expect(twice!.id).not.toBe(once!.id)
    expect(distance(first, twice!.embedding)).toBeGreaterThan(distance(first, once!.embedding))
  })

  it('stays within its bound however many captures it takes in, and stays as it was enrolled itself', async () => {
    await due()
    const { first: enrolled } = await templatesOf('ada')
    for (let i = 0; i < 5; i++) {
      expect((await verify('ada')).verdict).toBe('approved')
      wait(DAYS)
    }
    const { first, aged } = await templatesOf('ada')
    expect(first).toEqual(enrolled)
    const { fromFirst, step } = ageingBounds(pack)!
    expect(distance(first, aged!.embedding)).toBeGreaterThan(2 * step)
    expect(distance(first, aged!.embedding)).toBeLessThan(fromFirst + 1e-5)
  })

  it('is compared as it has become by captures, until that is undone', async () => {
    await aged()
    const image = await face('ada', 350)
    const { score: now } = await verify('ada', image)
    await undo('ada')
    const { score: enrolled } = await verify('ada', image)
    // The difference depends on whether the processor runs the network in 8 bits.
    expect(now - enrolled).toBeGreaterThan(1e-4)
    expect(await enroll('eve')).toBe(201)
    expect((await verify('eve', image)).score).toBe(enrolled)
  })

  it('takes in no rejected capture, no replay, no capture with signals, and none that is of too poor a quality to enroll', async () => {
    await due()
    expect((await verify('ada', await face('grace'))).verdict).toBe('rejected')
    const image = await face('ada', 360)
    const captureIntegrity = { capture_integrity: { signals: ['virtual_camera'] } }
    expect(await verify('ada', image, captureIntegrity)).toMatchObject({ verdict: 'approved' })
    expect(await verify('ada', image)).toMatchObject({ verdict: 'approved', replay: { suspected: true } })
    wait(2)
    const blurred = await sharp(await face('ada', 380))
      .blur(5)
      .jpeg()
      .toBuffer()
    expect((await api.enroll({ user_id: 'other', image: base64(blurred) })).body.code).toBe('low_quality')
    expect(await verify('ada', blurred)).toMatchObject({ verdict: 'approved', replay: { suspected: false } })
    expect((await templatesOf('ada')).aged).toBeNull()
    wait(2)
    expect(await verify('ada')).toMatchObject({ verdict: 'approved', replay: { suspected: false } })
    expect((await templatesOf('ada')).aged).not.toBeNull()
  })

  it('takes in no capture that matches below the strict bound', async () => {
    await due()
    const other = await face('adaElsewhere')
    expect((await verify('ada', other)).verdict).toBe('approved')
    expect((await templatesOf('ada')).aged).toBeNull()
  })

  it('begins again with the next enrollment, and is erased with its user', async () => {
    for (const name of ['ada', 'eve']) await aged(name)
    expect(await enroll('ada', { replace: true })).toBe(201)
    expect((await templatesOf('ada')).aged).toBeNull()
    const { body } = await api.call('DELETE', '/v1/delete', { user_id: 'eve' })
    expect(body.erased).toMatchObject({ references: 2 })
    expect(await store().read.statements(agedReferenceReader).count(tenant.id)).toBe(0)
  })
})

describe('undoing', () => {
  it('restores the reference of one user as it was enrolled, and is audited', async () => {
    for (const name of ['ada', 'eve']) await aged(name)
    expect(await undo('ada')).toBe(1)
    const { pseudonym } = await subjectOf('ada')
    const facts = { subject: pseudonym, references: 1, actor: 'operator' }
    expect(await lastEntry('ageing_undone')).toMatchObject(facts)
    expect((await templatesOf('ada')).aged).toBeNull()
    expect((await templatesOf('eve')).aged).not.toBeNull()
    await expect(undo('nobody')).rejects.toMatchObject({ code: 'reference_not_found' })
  })

  it('restores the references of all users of a tenant, and of no other tenant', async () => {
    await aged()
    const [other, theirs] = [await tenant.record(), api]
    tenant = await running.tenant({ ratePerSecond: 1000, fmr: 1e-3 })
    api = await running.production(tenant)
    for (const name of ['ada', 'eve']) await aged(name)
    expect(await undo(null)).toBe(2)
    expect(await lastEntry('ageing_undone')).toMatchObject({ references: 2 })
    for (const name of ['ada', 'eve']) expect((await templatesOf(name)).aged).toBeNull()
    ;[tenant, api] = [{ ...tenant, id: other.id }, theirs]
    expect((await templatesOf('ada')).aged).not.toBeNull()
  })
})

describe('a change of the model pack', () => {
  it('lets references take nothing in, and ends with references of the new model as they were made', async () => {
    await aged('ada')
    await due('eve')
    const given = { from: OLD, to: NEW, strictFmr: null, atCoverage: null, atTime: null }
    await running.operations.models.begin(COMMAND_LINE, given)
    try {
      const before = (await templatesOf('ada')).aged
      wait(DAYS)
      for (const name of ['ada', 'eve']) expect((await verify(name)).verdict).toBe('approved')
      expect((await templatesOf('ada')).aged).toEqual(before)
      expect((await templatesOf('eve')).aged).toBeNull()
      await running.operations.models.decide(await tenant.record(), COMMAND_LINE, 'to', { isForced: true })
      expect(await verify('ada')).toMatchObject({ verdict: 'approved', model: NEW })
    } finally {
      await running.operations.models.decide(null, COMMAND_LINE, 'to', { isForced: true })
      const migration = await running.operations.models.finish(COMMAND_LINE)
      running.clock.advance(2 * MINUTE_MS)
      await running.operations.modelSweep.sweep(migration)
    }
    expect((await subjectOf('ada')).reference!.model).toBe(NEW)
    expect((await templatesOf('ada')).aged).toBeNull()
    wait(DAYS)
    expect(await verify('ada')).toMatchObject({ verdict: 'approved', model: NEW })
    await store().transaction({ tenantId: tenant.id }, (tx) => tx.setTenantModels(tenant.id, null))
  })
})
