import { describe, expect, it } from 'vitest'
import { errorRates, type ScoredPair } from '../../tools/evaluation/error-rates.js'

const pairs = (genuine: Array<number | null>, impostor: number[]): ScoredPair[] => [
  ...genuine.map((score) => ({ score, genuine: true })),
  ...impostor.map((score) => ({ score, genuine: false })),
]

describe('error rates', () => {
  it('error rates are zero for scores that separate', () => {
    const rates = errorRates(pairs([0.8, 0.9], [0.1, 0.2, 0.3]), [0])
    expect(rates).toMatchObject({ eer: 0, balancedAccuracy: 1 })
    expect(rates.points).toEqual([{ fmr: 0, threshold: 0.3, fnmr: 0 }])
  })

  it('exactly the requested share of impostors matches', () => {
    const impostor = Array.from({ length: 1000 }, (_, i) => i / 1000)
    const { points } = errorRates(pairs([0.9985, 0.5], impostor), [0.001, 0.01])
    expect(points[0]).toEqual({ fmr: 0.001, threshold: 0.998, fnmr: 0.5 })
    expect(points[1]!.threshold).toBe(0.989)
  })

  it('a rate is left out if there are too few pairs for it', () => {
    expect(errorRates(pairs([1], [0, 0.5]), [0.001]).points).toEqual([])
  })

  it('an unusable image counts as a miss', () => {
    expect(errorRates(pairs([null, 0.9], [0.1, 0.2]), [0]).points[0]!.fnmr).toBe(0.5)
  })

  it('the equal error rate lies where misses and false matches are equally frequent', () => {
    expect(errorRates(pairs([0.2, 0.6, 0.7, 0.8], [0.1, 0.3, 0.4, 0.65]), []).eer).toBe(0.25)
  })
})
