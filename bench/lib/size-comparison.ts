/** The model behind `countersign size` beside the simulation, and beside what runs have measured. */
import { ASSUMED, type Figures, MEASURED } from '../../src/sizing/figures.js'
import { type Cluster, capacityOf, predict } from '../../src/sizing/predict.js'
import {
  GROUP_TRIPS,
  LANE_TRIPS,
  MOST_IN_GROUP,
  READ_TRIPS,
  TASKS_PER_WORKER,
  visitOf,
} from '../../src/sizing/verify-shape.js'
import { simulate } from '../simulation/simulation.js'

export interface Comparison {
  name: string
  /** Of what the cluster can do. */
  share: number
  perSecond: number
  /** Simulated or measured, and what the model says. */
  found: { p50Ms: number; p99Ms: number }
  predicted: { p50Ms: number; p99Ms: number }
}

export interface CapacityComparison {
  name: string
  found: number
  predicted: number
}

const SHARES = [0.3, 0.5, 0.7, 0.85] as const
const VERIFIES = 30_000
const SEED = 14

const USUAL: Figures = { ...MEASURED, ...ASSUMED }
/** Each limited by something else: engine, lane, main thread. */
const GRID: ReadonlyArray<{ name: string; cluster: Cluster; figures: Figures }> = [
  {
    name: 'one service of 2 cores, database on the same machine',
    cluster: { services: 1, cores: 2, workers: 2 },
    figures: { ...USUAL, roundTripMs: 0.05, syncMs: 0.5 },
  },
  {
    name: 'one service of 8 cores, database on the same machine',
    cluster: { services: 1, cores: 8, workers: 8 },
    figures: { ...USUAL, mainMs: 1, roundTripMs: 0.05, syncMs: 0.5, laneMs: 0.2 },
  },
  {
    name: '2 services of 4 cores',
    cluster: { services: 2, cores: 4, workers: 4 },
    figures: USUAL,
  },
  {
    name: '2 services of 8 cores, database quick',
    cluster: { services: 2, cores: 8, workers: 8 },
    figures: { ...USUAL, roundTripMs: 0.1, syncMs: 0.5, laneMs: 0.2 },
  },
  {
    name: '4 services of 8 cores, database 2 ms away',
    cluster: { services: 4, cores: 8, workers: 8 },
    figures: { ...USUAL, roundTripMs: 2, syncMs: 5 },
  },
]

/** Of the parts of a cluster, the one that ends it. */
function limitOf(cluster: Cluster, figures: Figures): number {
  return Math.min(...Object.values(capacityOf(cluster, figures)))
}

function simulated(cluster: Cluster, figures: Figures, perSecond: number) {
  const { smallMs, largestMs } = visitOf(figures.mainMs)
  return simulate(
    {
      ...cluster,
      ...figures,
      visitMs: { small: smallMs, largest: largestMs },
      tasksPerWorker: TASKS_PER_WORKER,
      readTrips: READ_TRIPS,
      laneTrips: LANE_TRIPS,
      groupTrips: GROUP_TRIPS,
      most: MOST_IN_GROUP,
    },
    { perSecond, verifies: VERIFIES, seed: SEED },
  )
}

export function compareWithSimulation(): Comparison[] {
  return GRID.flatMap(({ name, cluster, figures }) =>
    SHARES.map((share) => {
      const perSecond = share * limitOf(cluster, figures)
      return {
        ...{ name, share, perSecond },
        found: simulated(cluster, figures, perSecond),
        predicted: predict(cluster, figures, perSecond),
      }
    }),
  )
}

/** What comes out when more comes in than can. */
export function compareCapacity(): CapacityComparison[] {
  return GRID.map(({ name, cluster, figures }) => {
    const predicted = limitOf(cluster, figures)
    return { name, found: simulated(cluster, figures, 1.3 * predicted).perSecond, predicted }
  })
}

/** What `npm run bench` measured of one service with SQLite: nothing is far away, and the lane is a commit alone. */
export interface MeasuredRun {
  cores: number
  engineMs: number
  mainMs: number
  commitMs: number
  capacity: number
  rates: Array<{ utilisation: number; perSecond: number; p50_ms: number; p99_ms: number }>
}

export function compareWithRun(run: MeasuredRun): { latencies: Comparison[]; capacity: CapacityComparison } {
  const { engineMs, mainMs, commitMs, cores, capacity } = run
  const figures = { ...MEASURED, engineMs, mainMs, laneMs: 0, syncMs: commitMs, roundTripMs: 0 }
  const cluster = { services: 1, cores, workers: cores }
  const name = `one service of ${cores} cores, SQLite, measured`
  return {
    capacity: { name, found: capacity, predicted: limitOf(cluster, figures) },
    latencies: run.rates.map(({ utilisation, perSecond, p50_ms, p99_ms }) => ({
      ...{ name, share: utilisation, perSecond },
      found: { p50Ms: p50_ms, p99Ms: p99_ms },
      predicted: predict(cluster, figures, perSecond),
    })),
  }
}

/** By how much the model is off, as a share of what was found. */
export function errorOf(found: number, predicted: number): number {
  return predicted / found - 1
}

export function largestError(errors: number[]): number {
  return Math.max(...errors.map(Math.abs))
}
