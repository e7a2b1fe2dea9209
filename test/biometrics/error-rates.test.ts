import { describe, expect, it } from 'vitest'
import { errorRates, type ScoredPair } from '../../src/evaluation/error-rates.js'

const pairs = (genuine: Array<number | null>, impostor: number[]): ScoredPair[] => [
  ...genuine.map((score) => ({ score, genuine: true })),
  ...impostor.map((score) => ({ score, genuine: false })),
]

describe('error rates', () => {
  it('are zero for scores that separate', () => {
    const rates = errorRates(pairs([0.8, 0.9], [0.1, 0.2, 0.3]), [0])
    expect(rates).toMatchObject({ eer: 0, balancedAccuracy: 1 })
    expect(rates.points).toEqual([{ fmr: 0, threshold: 0.3, fnmr: 0 }])
  })

  it('let exactly the share of impostors match that was asked for', () => {
    const impostor = Array.from({ length: 1000 }, (_, i) => i / 1000)
    const { points } = errorRates(pairs([0.9985, 0.5], impostor), [0.001, 0.01])
    expect(points[0]).toEqual({ fmr: 0.001, threshold: 0.998, fnmr: 0.5 })
    expect(points[1]!.threshold).toBe(0.989)
  })

  it('leave out a rate that there are too few pairs for', () => {
    expect(errorRates(pairs([1], [0, 0.5]), [0.001]).points).toEqual([])
  })

  it('count an unusable image as a miss', () => {
    expect(errorRates(pairs([null, 0.9], [0.1, 0.2]), [0]).points[0]!.fnmr).toBe(0.5)
  })

  it('meet where misses and false matches are as many', () => {
    expect(errorRates(pairs([0.2, 0.6, 0.7, 0.8], [0.1, 0.3, 0.4, 0.65]), []).eer).toBe(0.25)
  })
})
