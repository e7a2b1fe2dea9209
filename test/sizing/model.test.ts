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
import { DEFAULT_TASKS_PER_WORKER } from '../../src/biometrics/engine/dispatcher.js'
import { packageFile } from '../../src/lib/package-root.js'
import { ACCURACY } from '../../src/sizing/accuracy.js'
import { ASSUMED, MEASURED, POSTGRES_MAIN_FACTOR } from '../../src/sizing/figures.js'
import { capacityOf, predict } from '../../src/sizing/predict.js'
import {
  GROUP_TRIPS,
  HIDDEN_TRIPS,
  LANES,
  MAX_IN_GROUP,
  MAX_MISSES,
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
  mostMisses: 4,
  lanes: 256,
  roundTripMs: 0,
  syncMs: 0,
  laneMs: 0,
}

const ONE_TENANT = { tenants: 1, hottestShare: 1 }
const MANY_TENANTS = { tenants: 1000, hottestShare: 0 }

describe('the simulation', () => {
  it.each([0.5, 0.8])('has the mean of M/D/1 at %f', (utilisation) => {
    const { meanMs } = simulate(
      { ...BARE, cores: 1, workers: 1 },
      { ...ONE_TENANT, arrivals: { perSecond: utilisation * 100 }, verifies: 100_000, seed: 1 },
    )
    const exactMs = 10 + (10 * utilisation) / (2 * (1 - utilisation))
    expect(Math.abs(meanMs / exactMs - 1)).toBeLessThan(0.03)
  })

  it('has the mean of processor sharing where a worker takes turns among all', () => {
    const { meanMs } = simulate(
      { ...BARE, cores: 1, workers: 1, tasksPerWorker: 1000 },
      { ...ONE_TENANT, arrivals: { perSecond: 70 }, verifies: 100_000, seed: 1 },
    )
    expect(Math.abs(meanMs / (10 / 0.3) - 1)).toBeLessThan(0.05)
  })

  const committing = (services: number, tenants: typeof ONE_TENANT) =>
    simulate(
      { ...BARE, services, cores: 64, workers: 64, roundTripMs: 1, syncMs: 2, laneMs: 1 },
      { ...tenants, arrivals: { perSecond: 2000 * services }, verifies: 20_000 * services, seed: 1 },
    )
  // Held for a trip and half of one there and back, the sync and the work; and asked for and answered.
  const held = 2 + 2 + 64
  const turn = held + 1

  it('commits of one tenant as much as full groups do one after the other, whoever has it', () => {
    const { perSecond, jobsPerGroup } = committing(2, ONE_TENANT)
    // One service's group asks for the lane while the other holds it: one way of the commit's is not in the way.
    expect(perSecond).toBeGreaterThan((64 / turn) * 1000 * 0.95)
    expect(perSecond).toBeLessThan((64 / held) * 1000 * 1.05)
    expect(jobsPerGroup).toBeGreaterThan(55)
  })

  it('commits of many tenants the more the more services there are', () => {
    const { perSecond: alone } = committing(1, MANY_TENANTS)
    const { perSecond } = committing(4, MANY_TENANTS)
    expect(alone).toBeLessThan((64 / turn) * 1000 * 1.05)
    expect(perSecond / alone).toBeGreaterThan(2.5)
    expect(perSecond / alone).toBeLessThan(4.1)
  })

  it('is the same for the same seed', () => {
    const once = () =>
      simulate(
        { ...BARE, services: 2, cores: 2, workers: 2 },
        { ...MANY_TENANTS, arrivals: { perSecond: 300 }, verifies: 2000, seed: 7 },
      )
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

  it('is within the stated error of the runs of several nodes, and so is the simulation of those with many tenants', {
    timeout: 300_000,
  }, () => {
    const compared = compareWithClusterRuns()
    expect(compared.length).toBeGreaterThan(3)
    for (const { name, found, predicted, simulated } of compared) {
      expect(Math.abs(errorOf(found, predicted)), name).toBeLessThan(ACCURACY.runs.capacity)
      // Of one tenant it finds a third less than the run: its nodes hand the lane over more often.
      const bound = name.includes('1 tenant,') ? 0.35 : 0.1
      expect(Math.abs(errorOf(found, simulated)), name).toBeLessThan(bound)
    }
  })

  it('says what ends first: main threads, or several nodes of one tenant at its lane', () => {
    const figures = { ...MEASURED, ...ASSUMED, engineMs: 5 }
    const ends = (services: number, tenants: typeof ONE_TENANT) =>
      capacityOf({ services, cores: 16, workers: 15 }, figures, tenants)
    for (const [services, tenants] of [
      [1, ONE_TENANT],
      [4, MANY_TENANTS],
    ] as const) {
      const { main, engine, lane } = ends(services, tenants)
      expect(main).toBeLessThan(engine)
      expect(lane).toBeCloseTo(main, 0)
    }
    const { main, lane } = ends(4, ONE_TENANT)
    expect(lane).toBeLessThan(main)
    expect(ends(8, ONE_TENANT).lane).toBeCloseTo(lane, 0)
  })

  it('has the wait of a busy tenant: the larger its share, the longer the slowest take', () => {
    const p99Ms = [0, 0.1, 0.5, 1].map((hottestShare) => {
      const rate = { perSecond: 1000, tenants: 1000, hottestShare }
      return predict({ services: 4, cores: 8, workers: 8 }, { ...MEASURED, ...ASSUMED }, rate).p99Ms
    })
    expect(p99Ms).toEqual(p99Ms.toSorted((a, b) => a - b))
    expect(p99Ms.at(-1)!).toBeGreaterThan(2 * p99Ms[0]!)
  })

  it('starts from figures that the committed runs have', () => {
    const { engineMs, mainMs } = measuredRun()
    // A new run on another day is no other machine.
    expect(Math.abs(errorOf(engineMs, MEASURED.engineMs))).toBeLessThan(0.25)
    expect(Math.abs(errorOf(mainMs, MEASURED.mainMs / POSTGRES_MAIN_FACTOR))).toBeLessThan(0.5)
  })

  it('counts what the product does', () => {
    const constant = (file: string, name: string) => {
      const source = readFileSync(packageFile('src', 'storage', file), 'utf8')
      return Number(new RegExp(`^(?:export )?const ${name} = (\\d+)$`, 'm').exec(source)?.[1])
    }
    expect(constant('postgres/postgres-writer.ts', 'MAX_GROUP_SIZE')).toBe(MAX_IN_GROUP)
    expect(constant('postgres/postgres-writer.ts', 'MAX_SKIPPED_ROUNDS')).toBe(MAX_MISSES)
    expect(constant('postgres/postgres-migrations.ts', 'LOCK_PARTITIONS')).toBe(LANES)
    expect(DEFAULT_TASKS_PER_WORKER).toBe(TASKS_PER_WORKER)
    // Of a verify that is alone in its group; test/storage/postgres/postgres-round-trips.test.ts counts them.
    const page = readFileSync(packageFile('docs', 'postgresql.md'), 'utf8')
    const [, all, locked] = /^\| `POST \/v1\/verify` \| (\d+):.*\| (\d+) \|$/m.exec(page)!
    expect([all, locked].map(Number)).toEqual([READ_TRIPS + HIDDEN_TRIPS + GROUP_TRIPS, GROUP_TRIPS - 1])
  })
})
