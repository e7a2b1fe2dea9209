/** Formulas against what is known exactly. */
import { describe, expect, it } from 'vitest'
import { Delay } from '../../src/sizing/delay.js'
import { mostPerMs, writingState } from '../../src/sizing/lanes.js'
import { erlangC, waitOf } from '../../src/sizing/queues.js'
import { MAX_MISSES } from '../../src/sizing/verify-shape.js'

describe('the probability of waiting', () => {
  it.each([
    // Of one server it is the utilisation; of two 2ρ² / (1 + ρ).
    [1, 0.7, 0.7],
    [2, 1, 1 / 3],
    [2, 1.8, (2 * 0.81) / 1.9],
    // Tables of Erlang's C formula.
    [10, 8, 0.4092],
    [20, 16, 0.2561],
  ])('of %i servers with %f busy is Erlang C', (servers, offered, expected) => {
    expect(erlangC(servers, offered)).toBeCloseTo(expected, 4)
  })
})

describe('the mean wait', () => {
  const meanMs = (servers: number, queue: { perMs: number; serviceMs: number; cv2: number }) => {
    const { probability, meanMs } = waitOf(servers, queue)
    return probability * meanMs
  }

  it.each([0.1, 0.5, 0.9, 0.99])('of M/M/1 at %f is ρ / (μ − λ)', (utilisation) => {
    const found = meanMs(1, { perMs: utilisation / 10, serviceMs: 10, cv2: 1 })
    expect(found).toBeCloseTo((utilisation * 10) / (1 - utilisation), 9)
  })

  it.each([0, 0.3, 2])('of M/G/1 with a variability of %f is what Pollaczek and Khinchine say', (cv2) => {
    const found = meanMs(1, { perMs: 0.08, serviceMs: 10, cv2 })
    expect(found).toBeCloseTo((0.08 * 100 * (1 + cv2)) / (2 * (1 - 0.8)), 9)
  })

  it('of M/D/c lies within 2 % of the exact one (Crommelin, 1932)', () => {
    // Mean number in the queue by mean wait: E(Lq) = λ E(Wq).
    for (const [servers, utilisation, queued] of [
      [2, 0.5, 0.1767],
      [2, 0.9, 3.8659],
      [5, 0.8, 1.156],
    ] as const) {
      const perMs = utilisation * servers
      const found = perMs * meanMs(servers, { perMs, serviceMs: 1, cv2: 0 })
      expect(Math.abs(found / queued - 1), `${servers} ${utilisation}`).toBeLessThan(0.02)
    }
  })

  it('has no end where more comes than is done, and is nothing where nobody comes', () => {
    expect(meanMs(2, { perMs: 0.2, serviceMs: 10, cv2: 0 })).toBe(Number.POSITIVE_INFINITY)
    expect(meanMs(2, { perMs: 0, serviceMs: 10, cv2: 0 })).toBe(0)
  })
})

describe('a delay', () => {
  it('has the percentiles of M/M/1', () => {
    const { probability, meanMs } = waitOf(1, { perMs: 0.08, serviceMs: 10, cv2: 1 })
    const wait = Delay.wait(probability, meanMs)
    for (const share of [0.5, 0.9, 0.99])
      expect(Math.abs(wait.percentileMs(share) - 50 * Math.log(0.8 / (1 - share)))).toBeLessThan(0.51)
  })

  it('is the sum of its parts: two exponential ones are an Erlang distribution', () => {
    const one = Delay.wait(1, 20)
    // 1 − e^(−x) (1 + x) = 0.99 at x = 6.6384.
    expect(Math.abs(one.plus(one).percentileMs(0.99) - 132.77)).toBeLessThan(1)
    expect(one.plus(Delay.fixed(7)).percentileMs(0.5)).toBeCloseTo(one.percentileMs(0.5) + 7)
  })

  it('that is one of two has the percentiles of both', () => {
    const mixed = Delay.fixed(10).or(0.25, Delay.fixed(30))
    expect([0.7, 0.8].map((share) => mixed.percentileMs(share))).toEqual([10, 30])
    expect(Delay.uniform(100).percentileMs(0.99)).toBeCloseTo(99, 0)
  })

  it('is met in proportion to its length, and of a fixed one half is left', () => {
    const mixed = Delay.fixed(10).or(0.25, Delay.fixed(30))
    // A quarter of the turns, and half of the time.
    expect([0.49, 0.51].map((share) => mixed.asMet().percentileMs(share))).toEqual([10, 30])
    expect(Delay.fixed(10).residual().percentileMs(0.5)).toBeCloseTo(5)
    // What is left of an exponential time is like the whole.
    expect(Math.abs(Delay.wait(1, 20).residual().percentileMs(0.99) - 92.1)).toBeLessThan(1)
  })

  it('has the spread that it was given: a gamma distribution with the shape of an exponential one', () => {
    const delay = Delay.atLeast(5, { meanMs: 20, varianceMs2: 400 })
    expect(Math.abs(delay.percentileMs(0.99) - (5 + 20 * Math.log(100)))).toBeLessThan(0.6)
  })

  it('beyond a second has no end', () => {
    expect(Delay.wait(1, 1000).percentileMs(0.99)).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('the lanes', () => {
  const group = { heldMs: (jobs: number) => 3 + jobs, wayMs: 0, jobMs: 1, groupVarianceMs2: 0, most: 64 }
  const one = { ...group, tenants: 1, hottestShare: 1 }
  const many = { ...group, tenants: 100_000, hottestShare: 0 }

  it('carry of one tenant as much as full groups one after the other', () => {
    expect(mostPerMs({ ...one, nodes: 3 })).toBeCloseTo(64 / 67)
    expect(writingState({ ...one, perMs: 64 / 67 - 0.001, nodes: 3 })).not.toBeNull()
    expect(writingState({ ...one, perMs: 64 / 67, nodes: 3 })).toBeNull()
  })

  it('carry of many tenants as much as the groups of all nodes, and between the two what passes the busiest', () => {
    expect(Math.abs(mostPerMs({ ...many, nodes: 3 }) / ((3 * 64) / 67) - 1)).toBeLessThan(0.01)
    // Half is the busiest tenant's, and of the other half a fourth is in the groups of each node.
    const half = { ...group, tenants: 100_000, hottestShare: 0.5, nodes: 4 }
    expect(Math.abs(mostPerMs(half) / (64 / 67 / (0.5 + 0.5 / 4)) - 1)).toBeLessThan(0.01)
  })

  it('commit one by one while little comes, and take a group as long as it is held', () => {
    const state = writingState({ ...one, perMs: 0.001, nodes: 1 })!
    expect(state.jobsPerGroup).toBeCloseTo(1, 2)
    expect(state.utilisation).toBeCloseTo(0.004, 4)
    expect(Math.abs(state.delay.percentileMs(0.9) - 4)).toBeLessThan(0.5)
  })

  it('of one tenant make groups as large as what comes in a round, the more of them the more nodes there are', () => {
    // A round of full turns is as long as n fixed parts and what comes meanwhile: n a / (1 − λ b).
    const state = writingState({ ...one, perMs: 0.8, nodes: 4 })!
    expect(state.jobsPerGroup).toBeCloseTo((0.8 * 3) / (1 - 0.8), 0)
    expect(state.utilisation).toBeCloseTo(1, 2)
  })

  it('of many tenants leave nodes alone, each with groups of what comes in a turn of its own', () => {
    const state = writingState({ ...many, perMs: 3.2, nodes: 4 })!
    expect(state.jobsPerGroup / ((0.8 * 3) / (1 - 0.8))).toBeCloseTo(1, 1)
    expect(state.utilisation).toBeLessThan(0.2)
  })

  it('keep the busiest tenant waiting for turns, and after several of them its node too', () => {
    const busiest = (nodes: number) =>
      writingState({ ...group, perMs: 0.2 * nodes, nodes, tenants: 1000, hottestShare: 0.2 })!
    const slowest = [1, 2, 4].map((nodes) => busiest(nodes).delay.percentileMs(0.99))
    expect(slowest).toEqual(slowest.toSorted((a, b) => a - b))
    expect(slowest[2]! - slowest[0]!).toBeLessThan(MAX_MISSES * 4 * slowest[0]!)
  })
})
