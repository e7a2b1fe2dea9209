import { describe, expect, it } from 'vitest'
import {
  exactInterval,
  exactUpperBound,
  percentileInterval,
  rateInterval,
  ruleOfThree,
  wilson,
} from '../../tools/evaluation/intervals.js'

describe('Wilson’s interval', () => {
  // Newcombe 1998 (Statistics in Medicine 17:857), Table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])("Wilson's interval of %i errors in %i trials is the published one", (errors, trials, low, high) => {
    expect(wilson(errors, trials)[0]).toBeCloseTo(low, 4)
    expect(wilson(errors, trials)[1]).toBeCloseTo(high, 4)
  })
})

describe('the exact interval', () => {
  // The same table, method 5.
  it.each([
    [81, 263, 0.2527, 0.3676],
    [15, 148, 0.0578, 0.1617],
    [0, 20, 0, 0.1684],
    [1, 29, 0.0009, 0.1776],
  ])('the exact interval of %i errors in %i trials is the published one', (errors, trials, low, high) => {
    expect(exactInterval(errors, trials)[0]).toBeCloseTo(low, 4)
    expect(exactInterval(errors, trials)[1]).toBeCloseTo(high, 4)
  })

  it('the exact interval of the successes mirrors that of the errors, and is 0 to 1 without trials', () => {
    const [low, high] = exactInterval(3, 11)
    const [mirroredLow, mirroredHigh] = exactInterval(8, 11)
    expect(mirroredLow).toBeCloseTo(1 - high, 12)
    expect(mirroredHigh).toBeCloseTo(1 - low, 12)
    expect(exactInterval(0, 0)).toEqual([0, 1])
    expect(exactInterval(5, 5)[1]).toBe(1)
  })

  it('the exact bound is the rate at which so few errors have just the accepted chance', () => {
    // (1 - p)^n = 0.05 without an error.
    for (const trials of [1, 42, 150, 5000])
      expect(exactUpperBound(0, trials, 0.05)).toBeCloseTo(1 - 0.05 ** (1 / trials), 12)
    expect(exactUpperBound(0, 42, 0.05)).toBeLessThan(0.07)
    expect(exactUpperBound(0, 150, 0.05)).toBeLessThan(0.02)
  })
})

it('the rule of three is close to the exact bound, under which no error in so many trials has a chance of 5 %', () => {
  for (const trials of [30, 300, 30_000])
    expect((1 - ruleOfThree(trials)) ** trials).toBeCloseTo(0.05, trials < 100 ? 1 : 2)
})

it('the rule of three bounds nothing for a handful of trials', () => {
  expect(ruleOfThree(2)).toBe(1)
})

it('an interval by percentiles leaves out a fortieth at either end', () => {
  const replicates = Float64Array.from({ length: 1001 }, (_, i) => ((i * 8) % 1001) / 1000)
  expect(percentileInterval(replicates)).toEqual([0.025, 0.975])
})

const narrow = Float64Array.from({ length: 100 }, () => 0.02)
const wide = Float64Array.from({ length: 101 }, (_, i) => i / 1000)

it('the interval of a rate is never narrower than for independent pairs', () => {
  expect(rateInterval(20, 1000, 1000, narrow)).toEqual(wilson(20, 1000))
})

it('the interval of a rate is as wide as the people make it', () => {
  expect(rateInterval(20, 1000, 1000, wide)).toEqual([0.0025, 0.0975])
})

it('the interval of a rate without an error follows the rule of three over pairs of people, not over pairs of photos', () => {
  expect(rateInterval(0, 9000, 1000, new Float64Array(100))).toEqual([0, 0.003])
})

it('the interval of a rate without pairs is 0 to 1', () => {
  expect(rateInterval(0, 0, 0, new Float64Array(0))).toEqual([0, 1])
})
