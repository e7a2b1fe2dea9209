/** The population stability index: its value, and what chance makes of it. */
import { describe, expect, it } from 'vitest'
import { chiSquareAbove, StabilityReference } from '../../../../src/features/insight/drift/stability-index.js'
import type { Histogram } from '../../../../src/features/insight/histogram.js'
import { seededRandom } from '../../../../tools/evaluation/random.js'

/** Chance of a window without a change to exceed its noise. */
const CHANCE = 0.001

/** Draws values from bins 0 to 19 that are equally likely, or from those from `lowest` on. */
function draw(random: () => number, count: number, lowest = 0): Histogram {
  const histogram: Histogram = {}
  for (let i = 0; i < count; i++) {
    const bin = lowest + Math.floor(random() * (20 - lowest))
    histogram[bin] = (histogram[bin] ?? 0) + 1
  }
  return histogram
}

function added(parts: readonly Histogram[]): Histogram {
  const sum: Histogram = {}
  for (const part of parts) for (const bin in part) sum[bin] = (sum[bin] ?? 0) + part[bin]!
  return sum
}

describe('a quantile of chi-square', () => {
  it('is that of the tables', () => {
    for (const [degrees, chance, value] of [
      [9, 0.01, 21.67],
      [9, 0.001, 27.88],
      [4, 0.001, 18.47],
      [1, 0.01, 6.63],
    ] as const)
      expect(Math.abs(chiSquareAbove(degrees, chance) / value - 1)).toBeLessThan(0.03)
  })
})

describe('the population stability index', () => {
  it('is the sum of (p - q) ln(p / q) over the groups, and 0 for equal shares', () => {
    const reference = new StabilityReference({ low: 5e5, high: 5e5 }, 'names')
    expect(reference.compare({ low: 1e6, high: 1e6 }, 0, CHANCE).psi).toBeCloseTo(0, 9)
    const expected = 0.3 * Math.log(0.8 / 0.5) - 0.3 * Math.log(0.2 / 0.5)
    expect(reference.compare({ low: 8e5, high: 2e5 }, 0, CHANCE).psi).toBeCloseTo(expected, 4)
  })

  it('sees a name that the reference never had, and values outside of a reference of one bin', () => {
    const named = new StabilityReference({ approved: 10_000 }, 'names')
    expect(named.compare({ approved: 150, low_quality: 50 }, 1, CHANCE).psi).toBeGreaterThan(0.5)
    const single = new StabilityReference({ 60: 10_000 }, 'bins')
    expect(single.compare({ 40: 200 }, 1, CHANCE).psi).toBeGreaterThan(0.5)
  })

  it('stays finite where a group is empty on one side', () => {
    const reference = new StabilityReference({ 10: 500, 20: 500 }, 'bins')
    expect(reference.compare({ 20: 200 }, 0, CHANCE).psi).toBeLessThan(10)
  })

  it('exceeds its noise about as often as the chance says, for independent values', () => {
    const random = seededRandom(1)
    const reference = new StabilityReference(draw(random, 10_000), 'bins')
    let beyond = 0
    for (let i = 0; i < 4000; i++) {
      const { psi, noise } = reference.compare(draw(random, 250), 0, 0.01)
      if (psi > noise) beyond++
    }
    // 40 are expected.
    expect(beyond).toBeGreaterThan(20)
    expect(beyond).toBeLessThan(60)
  })

  it('has more noise where the stretches of the reference differ from each other', () => {
    const random = seededRandom(2)
    const steady = Array.from({ length: 40 }, () => draw(random, 250))
    const varied = Array.from({ length: 40 }, (_, i) => draw(random, 250, i % 2 === 0 ? 0 : 5))
    const noiseOf = (parts: Histogram[]) =>
      new StabilityReference(added(parts), 'bins', parts, 1 / 40).compare(draw(random, 250), 1, CHANCE).noise
    expect(noiseOf(varied)).toBeGreaterThan(3 * noiseOf(steady))
  })

  it('has less noise where the window has more values', () => {
    const random = seededRandom(3)
    const reference = new StabilityReference(draw(random, 100_000), 'bins')
    const noise = (count: number) => reference.compare(draw(random, count), 0, CHANCE).noise
    expect(noise(200) / noise(2000)).toBeCloseTo(10, 0)
  })
})
