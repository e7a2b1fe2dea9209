/** The model of a cluster: within what it says of itself of a simulation and of the committed runs, and true to the product. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  compareCapacity,
  compareWithClusterRuns,
  compareWithRun,
  compareWithSimulation,
  errorOf,
} from '../../bench/lib/size-comparison.js'
import { simulate } from '../../bench/simulation/simulation.js'
import { measuredRun } from '../../bench/size.js'
import { DEFAULT_TASKS_PER_WORKER } from '../../src/biometrics/engine/engine.js'
import { packageFile } from '../../src/package-root.js'
import { ACCURACY } from '../../src/sizing/accuracy.js'
import { ASSUMED, MEASURED, POSTGRES_MAIN_FACTOR } from '../../src/sizing/figures.js'
import { capacityOf } from '../../src/sizing/predict.js'
import {
  GROUP_TRIPS,
  HIDDEN_TRIPS,
  MOST_IN_GROUP,
  READ_TRIPS,
  TASKS_PER_WORKER,
} from '../../src/sizing/verify-shape.js'

/** An engine and nothing else. */
const BARE = {
  services: 1,
  tasksPerWorker: 1,
  engineMs: 10,
  engineCv: 0,
  visitMs: { small: 0, largest: 0, inLane: 0 },
  readTrips: 0,
  most: 64,
  roundTripMs: 0,
  syncMs: 0,
  laneMs: 0,
}

describe('the simulation', () => {
  it.each([0.5, 0.8])('has the mean of M/D/1 at %f', (utilisation) => {
    const { meanMs } = simulate(
      { ...BARE, cores: 1, workers: 1 },
      { arrivals: { perSecond: utilisation * 100 }, verifies: 100_000, seed: 1 },
    )
    const exactMs = 10 + (10 * utilisation) / (2 * (1 - utilisation))
    expect(Math.abs(meanMs / exactMs - 1)).toBeLessThan(0.03)
  })

  it('has the mean of processor sharing where a worker takes turns among all', () => {
    const { meanMs } = simulate(
      { ...BARE, cores: 1, workers: 1, tasksPerWorker: 1000 },
      { arrivals: { perSecond: 70 }, verifies: 100_000, seed: 1 },
    )
    expect(Math.abs(meanMs / (10 / 0.3) - 1)).toBeLessThan(0.05)
  })

  it('commits as much as full groups do, and no more', () => {
    const { perSecond, jobsPerGroup } = simulate(
      { ...BARE, services: 2, cores: 64, workers: 64, roundTripMs: 1, syncMs: 2, laneMs: 1 },
      { arrivals: { perSecond: 2000 }, verifies: 40_000, seed: 1 },
    )
    // Of two services one's group asks for the row while the other holds it: one way of the commit's is not in the way.
    expect(perSecond).toBeGreaterThan((64 / (3 + 2 + 64)) * 1000 * 0.95)
    expect(perSecond).toBeLessThan((64 / (2 + 2 + 64)) * 1000 * 1.05)
    expect(jobsPerGroup).toBeGreaterThan(55)
  })

  it('is the same for the same seed', () => {
    const once = () =>
      simulate({ ...BARE, cores: 2, workers: 2 }, { arrivals: { perSecond: 150 }, verifies: 2000, seed: 7 })
    expect(once()).toEqual(once())
  })
})

describe('the model', () => {
  it('is within the stated error of the simulation, percentile by percentile', { timeout: 300_000 }, () => {
    const compared = compareWithSimulation()
    expect(compared.length).toBeGreaterThanOrEqual(20)
    const beyond = compared.filter(
      ({ found, predicted }) => Math.abs(errorOf(found.p99Ms, predicted.p99Ms)) > ACCURACY.simulation.p99,
    )
    expect(beyond).toEqual([])
  })

  it('is within the stated error of what the simulation can do', { timeout: 300_000 }, () => {
    for (const { name, found, predicted } of compareCapacity())
      expect(Math.abs(errorOf(found, predicted)), name).toBeLessThan(ACCURACY.simulation.capacity)
  })

  it('is within the stated error of the committed runs', () => {
    const { latencies, capacity } = compareWithRun(measuredRun())
    expect(latencies.length).toBeGreaterThan(1)
    for (const { share, found, predicted } of latencies)
      expect(Math.abs(errorOf(found.p99Ms, predicted.p99Ms)), `${share}`).toBeLessThan(ACCURACY.runs.p99)
    expect(Math.abs(errorOf(capacity.found, capacity.predicted))).toBeLessThan(ACCURACY.runs.capacity)
  })

  it('is within the stated error of the runs of several nodes, and the simulation with their callers closer', {
    timeout: 300_000,
  }, () => {
    const compared = compareWithClusterRuns()
    expect(compared.length).toBeGreaterThan(3)
    for (const { name, found, predicted, simulated } of compared) {
      expect(Math.abs(errorOf(found, predicted)), name).toBeLessThan(ACCURACY.runs.capacity)
      expect(Math.abs(errorOf(found, simulated)), name).toBeLessThan(0.1)
    }
  })

  it('says what ends first: a node at its main thread, several at the lane', () => {
    const figures = { ...MEASURED, ...ASSUMED, engineMs: 5 }
    const ends = (services: number) => capacityOf({ services, cores: 16, workers: 15 }, figures)
    expect(ends(1).main).toBeLessThan(ends(1).engine)
    expect(ends(1).lane).toBeCloseTo(ends(1).main, 0)
    expect(ends(4).lane).toBeLessThan(ends(4).main)
  })

  it('starts from figures that the committed runs have', () => {
    const { engineMs, mainMs } = measuredRun()
    // A new run on another day is no other machine.
    expect(Math.abs(errorOf(engineMs, MEASURED.engineMs))).toBeLessThan(0.25)
    expect(Math.abs(errorOf(mainMs, MEASURED.mainMs / POSTGRES_MAIN_FACTOR))).toBeLessThan(0.5)
  })

  it('counts what the product does', () => {
    const lane = readFileSync(packageFile('src', 'storage', 'postgres-writer.ts'), 'utf8')
    expect(Number(/^const MOST_AT_ONCE = (\d+)$/m.exec(lane)?.[1])).toBe(MOST_IN_GROUP)
    expect(DEFAULT_TASKS_PER_WORKER).toBe(TASKS_PER_WORKER)
    // Of a verify that is alone in its group; test/storage/postgres-round-trips.test.ts counts them.
    const page = readFileSync(packageFile('docs', 'postgresql.md'), 'utf8')
    const [, all, locked] = /^\| `POST \/v1\/verify` \| (\d+):.*\| (\d+) \|$/m.exec(page)!
    expect([all, locked].map(Number)).toEqual([READ_TRIPS + HIDDEN_TRIPS + GROUP_TRIPS, GROUP_TRIPS - 1])
  })
})
