import { describe, expect, it } from 'vitest'
import { percentileInterval, rateInterval, ruleOfThree, wilson } from '../../src/evaluation/intervals.js'

describe('Wilson’s interval', () => {
  // Newcombe 1998 (Statistics in Medicine 17:857), Table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('of %i errors in %i trials is the published one', (errors, trials, low, high) => {
    expect(wilson(errors, trials)[0]).toBeCloseTo(low, 4)
    expect(wilson(errors, trials)[1]).toBeCloseTo(high, 4)
  })
})

describe('the rule of three', () => {
  it('is close to the exact bound, under which no error in so many trials has a chance of 5 %', () => {
    for (const trials of [30, 300, 30_000])
      expect((1 - ruleOfThree(trials)) ** trials).toBeCloseTo(0.05, trials < 100 ? 1 : 2)
  })

  it('promises nothing for a handful', () => {
    expect(ruleOfThree(2)).toBe(1)
  })
})

describe('an interval by percentiles', () => {
  it('leaves out a fortieth at either end', () => {
    const replicates = Float64Array.from({ length: 1001 }, (_, i) => ((i * 8) % 1001) / 1000)
    expect(percentileInterval(replicates)).toEqual([0.025, 0.975])
  })
})

describe('the interval of a rate', () => {
  const narrow = Float64Array.from({ length: 100 }, () => 0.02)
  const wide = Float64Array.from({ length: 101 }, (_, i) => i / 1000)

  it('is never narrower than for independent pairs', () => {
    expect(rateInterval(20, 1000, 1000, narrow)).toEqual(wilson(20, 1000))
  })

  it('is as wide as the people make it', () => {
    expect(rateInterval(20, 1000, 1000, wide)).toEqual([0.0025, 0.0975])
  })

  it('goes by the rule of three where there was no error: over pairs of people, not over pairs of photos', () => {
    expect(rateInterval(0, 9000, 1000, new Float64Array(100))).toEqual([0, 0.003])
  })

  it('of no pairs is everything', () => {
    expect(rateInterval(0, 0, 0, new Float64Array(0))).toEqual([0, 1])
  })
})
