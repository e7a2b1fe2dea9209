import { describe, expect, it } from 'vitest'
import { ageingBounds, distanceOfScore } from '../../../models/pack/ageing-bounds.js'
import type { ModelPack } from '../../../models/pack/model-pack.js'
import { scoreOf } from '../../../src/biometrics/pipeline/judge/match.js'
import { agedTemplate } from '../../../src/features/learning-references/aged-template.js'
import { seededRandom } from '../../../tools/evaluation/random.js'

const DIMENSIONS = 16
/** Rounding of float32. */
const ROUNDING = 1e-5

describe.each(['euclidean', 'cosine'] as const)('an aged template by the %s metric', (metric) => {
  const points = [
    { fmr: 1e-2, threshold: 0.5 },
    { fmr: 1e-3, threshold: 0.56 },
    { fmr: 1e-4, threshold: 0.6 },
  ]
  const embedder = { dimensions: DIMENSIONS, metric }
  const pack = { modelId: 'x@1', manifest: { embedder, calibration: { points } } } as unknown as ModelPack
  const bounds = ageingBounds(pack)!
  const random = seededRandom(7)
  const anyEmbedding = () => {
    const values = Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5)
    const length = Math.hypot(...values)
    return values.map((value) => value / length)
  }
  const distance = (a: Float32Array, b: Float32Array) => distanceOfScore(pack, scoreOf(pack, a, b))

  it('is one step nearer to the capture than the template before', () => {
    const [first, capture] = [anyEmbedding(), anyEmbedding()]
    const aged = agedTemplate(pack, bounds, { first, present: first, capture })
    expect(distance(first, aged)).toBeCloseTo(bounds.step, 3)
    expect(distance(aged, capture)).toBeCloseTo(distance(first, capture) - bounds.step, 3)
  })

  it('moves by no more than a step, and stays near the first template, by any captures', () => {
    for (let user = 0; user < 20; user++) {
      const [first, target] = [anyEmbedding(), anyEmbedding()]
      let present: Float32Array = first
      for (let i = 0; i < 60; i++) {
        const capture = i % 3 === 0 ? target : anyEmbedding()
        const aged = agedTemplate(pack, bounds, { first, present, capture })
        expect(distance(present, aged)).toBeLessThan(bounds.step * (1 + 1e-2) + ROUNDING)
        expect(distance(first, aged)).toBeLessThan(bounds.fromFirst * (1 + 1e-2) + ROUNDING)
        present = aged
      }
    }
  })

  it('walked straight to another face is at the bound after three captures, and stays there', () => {
    const [first, target] = [anyEmbedding(), anyEmbedding()]
    let present: Float32Array = first
    for (let i = 1; i <= 10; i++) {
      present = agedTemplate(pack, bounds, { first, present, capture: target })
      expect(distance(first, present)).toBeCloseTo(Math.min(i, 3) * bounds.step, 3)
      expect(distance(present, target)).toBeCloseTo(distance(first, target) - Math.min(i, 3) * bounds.step, 3)
    }
  })

  it('is the capture itself where that is nearer than a step', () => {
    const first = anyEmbedding()
    const capture = agedTemplate(
      pack,
      { ...bounds, step: bounds.step / 2 },
      { first, present: first, capture: anyEmbedding() },
    )
    const aged = agedTemplate(pack, bounds, { first, present: first, capture })
    expect(distance(aged, capture)).toBeLessThan(1e-3)
  })
})
