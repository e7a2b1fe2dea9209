import { describe, expect, it } from 'vitest'
import { wilson } from '../../tools/evaluation/intervals.js'
import { PersonBootstrap } from '../../tools/evaluation/person-bootstrap.js'
import { RatesReader } from '../../tools/evaluation/rates-at.js'
import { type Population, population, sampleCurve } from './synthetic.js'

const THRESHOLD = 0.6
const GENUINE_THRESHOLD = 0.85
/** Three in ten people resemble each other, to different degrees: false matches come from people, not from pairs. */
const FAMILY = { share: 0.3, weight: 4 }

/** A loop, because a million pairs are compared. */
function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}

/** FMR and FNMR of the whole population, from far more people than any sample has. */
function truth({ face, photo }: Population): { fmr: number; fnmr: number } {
  const faces = Array.from({ length: 1500 }, face)
  const photos = faces.map(photo)
  let matches = 0
  for (const [i, a] of photos.entries())
    for (let j = i + 1; j < photos.length; j++) if (cosine(a, photos[j]!) >= THRESHOLD) matches++
  const misses = [...faces, ...faces, ...faces, ...faces].filter(
    (own) => cosine(photo(own), photo(own)) < GENUINE_THRESHOLD,
  )
  return {
    fmr: matches / ((photos.length * (photos.length - 1)) / 2),
    fnmr: misses.length / (4 * faces.length),
  }
}

describe('intervals by a bootstrap over people', () => {
  it('intervals hold the true rates about 95 times in 100, where intervals over pairs do not', () => {
    const { fmr, fnmr } = truth(population(99, FAMILY))
    const samples = 100
    const held = { fmr: 0, fnmr: 0, independentPairs: 0 }
    for (let sample = 0; sample < samples; sample++) {
      const curve = sampleCurve(population(1000 + 7 * sample, FAMILY), 80, THRESHOLD)
      const reader = new RatesReader(curve, new PersonBootstrap(curve, sample, 200))
      const [impostor, genuine] = reader.at([THRESHOLD, GENUINE_THRESHOLD])
      const holds = ([low, high]: [number, number], rate: number) => (low <= rate && rate <= high ? 1 : 0)
      held.fmr += holds(impostor!.measured_fmr_ci95, fmr)
      held.fnmr += holds(genuine!.measured_fnmr_ci95, fnmr)
      held.independentPairs += holds(wilson(impostor!.false_matches, curve.impostor.length), fmr)
    }
    expect(held.fmr).toBeGreaterThanOrEqual(91)
    expect(held.fnmr).toBeGreaterThanOrEqual(91)
    expect(held.independentPairs).toBeLessThanOrEqual(90)
  })

  const curve = sampleCurve(population(5, FAMILY), 40, THRESHOLD)

  it('intervals are the same for the same seed, and others for another', () => {
    const drawn = (seed: number) => new PersonBootstrap(curve, seed, 50).fmrAt([THRESHOLD])[0]
    expect(drawn(3)).toEqual(drawn(3))
    expect(drawn(3)).not.toEqual(drawn(4))
  })

  it('a pair is weighted by how often both its people were drawn', () => {
    const { tail, impostors } = curve
    const everybody = new Uint8Array(40).fill(1)
    const bootstrap = new PersonBootstrap(curve, 1, 400)
    const [replicates] = bootstrap.fmrAt([THRESHOLD])
    const rate = tail.scores.filter((score) => score >= THRESHOLD).length / impostors.countWith(everybody)
    const mean = replicates!.reduce((sum, value) => sum + value, 0) / replicates!.length
    expect(mean).toBeCloseTo(rate, 2)
    // Only the pair of two people out of forty counts, in replicates in which both were drawn.
    const two = Uint8Array.from({ length: 40 }, (_, person) => (person < 2 ? 1 : 0))
    const [alone] = bootstrap.fmrAt([THRESHOLD], two)
    expect(new Set(alone)).toEqual(new Set([0]))
    expect(alone!.length / 400).toBeCloseTo((1 - 1 / Math.E) ** 2, 1)
  })

  it('the equal error rate of the sample lies within its interval', () => {
    const eers = new PersonBootstrap(curve, 1, 200).eer()
    expect(eers).toHaveLength(200)
    expect(Math.min(...eers)).toBeLessThanOrEqual(curve.eer.rate)
    expect(Math.max(...eers)).toBeGreaterThanOrEqual(curve.eer.rate)
  })

  it('each replicate chooses its own threshold for a rate', () => {
    const [atRate] = new PersonBootstrap(curve, 1, 200).fnmrAtFmr([0.01])
    const [atThreshold] = new PersonBootstrap(curve, 1, 200).fnmrAt([curve.thresholdFor(0.01)!])
    const spread = (values: Float64Array) => Math.max(...values) - Math.min(...values)
    expect(spread(atRate!)).toBeGreaterThan(spread(atThreshold!))
  })
})
