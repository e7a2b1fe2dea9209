/** A candidate is shown the right part of a verify at the right time: the service's own parts, with a gate that says whether a worker is idle. */
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import type { Candidate } from '../../../../src/features/insight/shadow/candidate.js'
import { Shadow } from '../../../../src/features/insight/shadow/shadow.js'
import { noShadowCounts, type ShadowCounts } from '../../../../src/features/insight/shadow/shadow-counts.js'
import { ShadowRecorder } from '../../../../src/features/insight/shadow/shadow-recorder.js'
import { tenantModelsJson } from '../../../../src/tenants/tenant-models.js'
import type { Film } from '../../../../src/verification/biometric-provider.js'
import type { AnsweredCall, CaptureInput, UserCall } from '../../../../src/verification/call.js'
import { EngineProvider } from '../../../../src/verification/engine-provider.js'
import type { Examination } from '../../../../src/verification/verdict.js'
import { evidenceOf } from '../../../support/evidence.js'
import { base64, face, landscape, photoOf } from '../../../support/faces.js'
import { blurredFace } from '../../../support/images.js'
import { writeShiftedPack } from '../../../support/packs.js'
import { serviceOfFile } from '../../../support/service.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const MODEL = 'baseline@1.0.0'
const OTHER = 'shifted@1.0.0'
const APPROVED: AnsweredCall = { verdict: 'approved', reason: null, score: 0.9 }
let isFree: boolean
let told: string[]
let shadows: Shadow[]
let recorder: ShadowRecorder

const folder = temporaryFolder()
await writeShiftedPack(folder, inject('modelsDir'))
const running = await serviceOfFile({
  COUNTERSIGN_FOLLOWING_PACKS: folder,
  COUNTERSIGN_ACCEPT_PACK: 'baseline,shifted',
})
const tenant = await running.tenant()
const api = await running.production(tenant)
const models = tenantModelsJson({ deciding: MODEL, following: OTHER, strictFmr: null })
await running.service.core.store.transaction({ tenantId: tenant.id }, (tx) =>
  tx.setTenantModels(tenant.id, models),
)
beforeEach(async () => {
  isFree = true
  told = []
  shadows = []
  await api.enroll({ user_id: 'ada', image: await photoOf('ada') })
})
afterEach(async () => {
  for (const shadow of shadows) await shadow.stop()
  await api.erase('ada')
})

function shadowOf(candidate: Partial<Candidate>): Shadow {
  const { core, engine, clock, log } = running.service
  recorder = new ShadowRecorder({ store: core.store, clock, log })
  const shadow = new Shadow({
    ...{ vault: core.vault, store: core.store, recorder, log },
    candidate: { model: null, fmr: null, bounds: null, ...candidate },
    provider: new EngineProvider(engine),
    config: { fmr: 1e-3 },
    settings: { shadowShare: 1 },
    observer: {
      countVerdict: (_name, change) => told.push(change),
      countUncompared: (why) => told.push(why),
    },
    hasPlace: () => isFree && engine.hasSparePlace,
  })
  shadows.push(shadow)
  return shadow
}

/** Shows a verify of Ada to the candidate, as it is answered. @param frame index of the frame that was compared, for a challenge */
async function show(shadow: Shadow, images: Buffer[], answer: AnsweredCall, frame?: number): Promise<void> {
  const { core } = running.service
  const record = (await core.store.read.tenantById(tenant.id))!
  const user = { id: 'ada', blindIndex: core.vault.blindIndex(tenant.id, 'production', 'ada') }
  const call = { tenant: record, user, afterAnswer: [] } as unknown as UserCall<CaptureInput>
  const point = new EngineProvider(running.service.engine).operatingPoint(1e-3)
  const film = frame === undefined ? null : ({ method: null } as Film)
  const evidence = evidenceOf(images, film)
  const watched = shadow.watch(call, evidence, { model: MODEL, point, conditions: [] })
  const subject = await core.vault.find(core.store.read, user.blindIndex, user.id)
  const samples = frame === undefined ? [] : [{ imageIndex: frame }]
  watched.examined({
    subject,
    evidence,
    refusal: null,
    replay: null,
    comparison: { samples },
  } as unknown as Examination)
  for (const work of call.afterAnswer) work(answer)
}

/** Everything that an object holds by its own properties, itself included. */
function reachableFrom(value: unknown, found = new Set<unknown>()): Set<unknown> {
  if (typeof value !== 'object' || value === null || found.has(value)) return found
  found.add(value)
  if (!ArrayBuffer.isView(value)) for (const one of Object.values(value)) reachableFrom(one, found)
  return found
}

const counts = (candidate: string): ShadowCounts =>
  recorder.countsOf({ tenantId: tenant.id, model: MODEL, candidate })

it('a user who was erased before the candidate looked leaves nothing', async () => {
  const shadow = shadowOf({ bounds: { minFacePx: 20 } })
  isFree = false
  await show(shadow, [await face('ada')], APPROVED)
  expect((await api.erase('ada')).status).toBe(200)
  await api.enroll({ user_id: 'ada', image: await photoOf('grace') })
  isFree = true
  await new Promise((resolve) => setTimeout(resolve, 300))
  await shadow.stop()
  expect(told).toEqual([])
  expect(counts('face >= 20 px')).toEqual(noShadowCounts())
})

it('a verify that finds no idle worker is counted as dropped', async () => {
  const shadow = shadowOf({ bounds: { minFacePx: 20 } })
  isFree = false
  await show(shadow, [await face('ada')], APPROVED)
  await expect.poll(() => told).toEqual(['dropped'])
  expect(counts('face >= 20 px').uncompared).toEqual({ dropped: 1 })
})

it('only the compared frame of a challenge is looked at, without bounds and liveness of photos', async () => {
  const blurry = await blurredFace()
  const photo = await api.verify({ user_id: 'ada', image: base64(blurry), action: 'pay' })
  expect(photo.body.code).toBe('low_quality')
  const frames = [await landscape(), blurry, await landscape()]
  await show(shadowOf({ model: OTHER }), frames, APPROVED, 1)
  await expect.poll(() => told).toHaveLength(1)
  told = []
  expect(Object.keys(counts(OTHER).candidateScores)).toHaveLength(1)
  expect(counts(OTHER).outcomes).not.toHaveProperty('approved low_quality')
  const bounded = shadowOf({ bounds: { minFacePx: 20 } })
  await show(bounded, frames, APPROVED, 1)
  expect(told).toEqual(['not_comparable'])
})

it('only the compared frame of a challenge waits for an idle worker', async () => {
  const shadow = shadowOf({ model: OTHER })
  isFree = false
  const frames = await Promise.all([landscape(), face('ada'), landscape()])
  await show(shadow, frames, APPROVED, 1)
  const kept = [...reachableFrom(shadow)]
  expect(frames.map((frame) => kept.includes(frame))).toEqual([false, true, false])
})

it('a tenant that decides by the candidate already has nothing to see', async () => {
  const shadow = shadowOf({ model: MODEL })
  await show(shadow, [await face('ada')], APPROVED)
  await shadow.stop()
  expect([told, counts(MODEL)]).toEqual([[], noShadowCounts()])
})

it('a rejection without a look at the pictures, and a rejected replay, are not shown', async () => {
  const shadow = shadowOf({ bounds: { minFacePx: 20 } })
  const photo = await face('ada')
  for (const reason of ['locked_out', 'reference_disabled', 'replayed_capture'] as const)
    await show(shadow, [photo], { verdict: 'rejected', reason, score: null })
  await show(shadow, [photo], { code: 'policy_not_met' })
  await shadow.stop()
  expect(told).toEqual([])
})

it('a match that waits for a second person counts as an approval', async () => {
  const shadow = shadowOf({ bounds: { minFacePx: 4000 } })
  await show(shadow, [await face('ada')], {
    verdict: 'rejected',
    reason: 'second_approval_required',
    score: 0.9,
  })
  await expect.poll(() => told).toEqual(['rejected'])
  expect(counts('face >= 4000 px').outcomes).toEqual({ 'approved face_too_small': 1 })
})
