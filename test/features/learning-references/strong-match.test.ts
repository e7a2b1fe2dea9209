/** Which captures a template is made of. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { strictThreshold } from '../../../models/pack/strict-threshold.js'
import type { Engine } from '../../../src/biometrics/engine/engine.js'
import { strongMatch } from '../../../src/features/learning-references/strong-match.js'
import type { Comparison } from '../../../src/verification/biometric-provider.js'
import { EngineProvider } from '../../../src/verification/engine-provider.js'
import type { VerdictTerms } from '../../../src/verification/verdict.js'
import { baselinePack, startEngine } from '../../biometrics/fixtures.js'
import { evidenceOf } from '../../support/evidence.js'
import { face } from '../../support/faces.js'

const call = {
  input: { user_id: 'ada' },
  deadlineMs: performance.now() + 60_000,
  signal: new AbortController().signal,
  schedulingClass: { flow: 'tests', priority: 'production' as const, weight: 1 },
}
let engine: Engine
let provider: EngineProvider
let terms: VerdictTerms
let enrolled: Float32Array
let comparison: Comparison

beforeAll(async () => {
  engine = await startEngine(baselinePack(), { tasksPerWorker: 4 })
  provider = new EngineProvider(engine)
  terms = { model: provider.model, point: provider.operatingPoint(1e-3), conditions: [] }
  const photos = evidenceOf([await face('ada')])
  enrolled = (await provider.enrol(call, photos, { assessOnly: false })).reference
  const today = evidenceOf([await face('adaToday')])
  comparison = await provider.verify(call, today, () => enrolled, terms.point.threshold)
})
afterAll(() => engine.close())

it('a capture counts by its match with the first template, not with the template that it was compared with', async () => {
  const { samples } = comparison
  expect(strongMatch(provider, comparison, terms, () => enrolled)).toBe(samples[0]!.embedding)
  const grace = evidenceOf([await face('grace')])
  const { reference: other } = await provider.enrol(call, grace, { assessOnly: false })
  expect(comparison.score).toBeGreaterThan(strictThreshold(provider.pack, 1e-4)!.threshold)
  expect(strongMatch(provider, comparison, terms, () => other)).toBeNull()
})

it('a capture that was found to be a fake does not count, also where no liveness was required', () => {
  const { sample } = comparison
  const fake = { ...comparison, sample: { ...sample, liveness: { ...sample.liveness, passed: false } } }
  expect(strongMatch(provider, fake, terms, () => enrolled)).toBeNull()
})

it('a capture below the strict bound does not count, nor one that was not compared', () => {
  expect(strongMatch(provider, comparison, terms, () => enrolled, 1e-12)).toBeNull()
  expect(strongMatch(provider, { ...comparison, score: null }, terms, () => enrolled)).toBeNull()
})
