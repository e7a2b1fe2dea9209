import { expect, it } from 'vitest'
import { ageingBounds, distanceOfScore } from '../../../models/pack/ageing-bounds.js'
import { type ModelPack, thresholdForFmr } from '../../../models/pack/model-pack.js'

function packOf(metric: 'euclidean' | 'cosine', points: Array<[fmr: number, threshold: number]>): ModelPack {
  const calibration = { points: points.map(([fmr, threshold]) => ({ fmr, threshold })) }
  return {
    modelId: 'x@1',
    manifest: { embedder: { dimensions: 2, metric }, calibration },
  } as unknown as ModelPack
}

const POINTS: Array<[number, number]> = [
  [1e-2, 0.7],
  [1e-3, 0.74],
  [1e-4, 0.77],
  [5e-5, 0.781],
]

it('the bound is the smallest distance between thresholds of which one has ten times the rate of the other', () => {
  const euclidean = ageingBounds(packOf('euclidean', POINTS))!
  expect(euclidean.fromFirst).toBeCloseTo(2 * (0.77 - 0.74), 12)
  expect(euclidean.step).toBeCloseTo(euclidean.fromFirst / 3, 12)
  const cosine = ageingBounds(packOf('cosine', POINTS))!
  expect(cosine.fromFirst).toBeCloseTo(Math.acos(0.74) - Math.acos(0.77), 12)
})

it('there is no bound for a pack whose rates span less than a factor of ten', () => {
  expect(ageingBounds(packOf('cosine', POINTS.slice(0, 1)))).toBeNull()
  expect(ageingBounds(packOf('cosine', [POINTS[2]!, POINTS[3]!]))).toBeNull()
})

it('a match of a template at the bound is a match of the first one at ten times the rate', () => {
  for (const metric of ['euclidean', 'cosine'] as const) {
    const pack = packOf(metric, POINTS)
    const { fromFirst } = ageingBounds(pack)!
    for (const [fmr, threshold] of POINTS.slice(1)) {
      const furthest = distanceOfScore(pack, threshold) + fromFirst
      const laxer = distanceOfScore(pack, thresholdForFmr(pack, 10 * fmr).threshold)
      expect([metric, fmr, furthest <= laxer + 1e-12]).toEqual([metric, fmr, true])
    }
  }
})
