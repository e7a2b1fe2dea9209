/** The model behind `countersign size` beside the simulation, and beside what runs have measured. */
import { ASSUMED, type Figures, MEASURED } from '../../src/sizing/figures.js'
import type { Tenants } from '../../src/sizing/lanes.js'
import { type Cluster, capacityOf, predict } from '../../src/sizing/predict.js'
import {
  LANES,
  MAX_IN_GROUP,
  MAX_MISSES,
  READ_TRIPS,
  TASKS_PER_WORKER,
  visitOf,
} from '../../src/sizing/verify-shape.js'
import { type SimulatedLoad, simulate } from '../simulation/simulation.js'

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
/** What comes in, by what the model says can be done: where main threads are full, less may come out the more comes in. */
const OVERLOADS = [0.95, 1, 1.1, 1.3] as const
const VERIFIES = 30_000
const SEED = 14

const USUAL: Figures = { ...MEASURED, ...ASSUMED }
const QUICK = { roundTripMs: 0.1, syncMs: 0.5, laneMs: 0.2 }
const MANY: Tenants = { tenants: 1000, hottestShare: 0 }
const ONE: Tenants = { tenants: 1, hottestShare: 1 }
const THIRD: Tenants = { tenants: 100, hottestShare: 0.33 }

interface Place {
  name: string
  cluster: Cluster
  figures: Figures
  tenants: Tenants
}

/** Each limited by something else: engine, lane of the busiest tenant, main thread. */
const GRID: readonly Place[] = [
  {
    name: 'one service of 2 cores, database on the same machine',
    cluster: { services: 1, cores: 2, workers: 2 },
    figures: { ...USUAL, roundTripMs: 0.05, syncMs: 0.5 },
    tenants: MANY,
  },
  {
    name: 'one service of 8 cores, database on the same machine',
    cluster: { services: 1, cores: 8, workers: 8 },
    figures: { ...USUAL, mainMs: 1, roundTripMs: 0.05, syncMs: 0.5, laneMs: 0.2 },
    tenants: MANY,
  },
  {
    name: '2 services of 4 cores',
    cluster: { services: 2, cores: 4, workers: 4 },
    figures: USUAL,
    tenants: MANY,
  },
  {
    name: '2 services of 8 cores, one tenant, database quick',
    cluster: { services: 2, cores: 8, workers: 8 },
    figures: { ...USUAL, ...QUICK },
    tenants: ONE,
  },
  {
    name: '4 services of 8 cores, database 2 ms away',
    cluster: { services: 4, cores: 8, workers: 8 },
    figures: { ...USUAL, roundTripMs: 2, syncMs: 5 },
    tenants: MANY,
  },
  {
    name: '4 services of 8 cores, one tenant, database 2 ms away',
    cluster: { services: 4, cores: 8, workers: 8 },
    figures: { ...USUAL, roundTripMs: 2, syncMs: 5 },
    tenants: ONE,
  },
  {
    name: '4 services of 8 cores',
    cluster: { services: 4, cores: 8, workers: 8 },
    figures: USUAL,
    tenants: MANY,
  },
  {
    name: '4 services of 8 cores, one tenant',
    cluster: { services: 4, cores: 8, workers: 8 },
    figures: USUAL,
    tenants: ONE,
  },
  {
    name: '4 services of 8 cores, a tenant with a third',
    cluster: { services: 4, cores: 8, workers: 8 },
    figures: USUAL,
    tenants: THIRD,
  },
  {
    name: '8 services of 8 cores, a tenant with a tenth',
    cluster: { services: 8, cores: 8, workers: 8 },
    figures: USUAL,
    tenants: { tenants: 100, hottestShare: 0.1 },
  },
  {
    name: '8 services of 8 cores',
    cluster: { services: 8, cores: 8, workers: 8 },
    figures: USUAL,
    tenants: MANY,
  },
]

/** Of the parts of a cluster, the one that ends it. */
function limitOf({ cluster, figures, tenants }: Omit<Place, 'name'>): number {
  return Math.min(...Object.values(capacityOf(cluster, figures, tenants)))
}

function simulated({ cluster, figures, tenants }: Omit<Place, 'name'>, arrivals: SimulatedLoad['arrivals']) {
  const { smallMs, largestMs, inLaneMs } = visitOf(figures.mainMs)
  return simulate(
    {
      ...cluster,
      ...figures,
      visitMs: { small: smallMs, largest: largestMs, inLane: inLaneMs },
      tasksPerWorker: TASKS_PER_WORKER,
      readTrips: READ_TRIPS,
      most: MAX_IN_GROUP,
      mostMisses: MAX_MISSES,
      lanes: LANES,
    },
    { ...tenants, arrivals, verifies: VERIFIES, seed: SEED },
  )
}

export function compareWithSimulation(): Comparison[] {
  return GRID.flatMap((place) =>
    SHARES.map((share) => {
      const perSecond = share * limitOf(place)
      const { name, cluster, figures, tenants } = place
      return {
        ...{ name, share, perSecond },
        found: simulated(place, { perSecond }),
        predicted: predict(cluster, figures, { ...tenants, perSecond }),
      }
    }),
  )
}

/** The most that comes out when as much comes in as can, or more. */
export function compareCapacity(): CapacityComparison[] {
  return GRID.map((place) => {
    const predicted = limitOf(place)
    const out = OVERLOADS.map((overload) => simulated(place, { perSecond: overload * predicted }).perSecond)
    return { name: place.name, found: Math.max(...out), predicted }
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
    capacity: { name, found: capacity, predicted: limitOf({ cluster, figures, tenants: MANY }) },
    latencies: run.rates.map(({ utilisation, perSecond, p50_ms, p99_ms }) => ({
      ...{ name, share: utilisation, perSecond },
      found: { p50Ms: p50_ms, p99Ms: p99_ms },
      predicted: predict(cluster, figures, { ...MANY, perSecond }),
    })),
  }
}

/** Of the cluster suite on sixteen cores, in docs/benchmarks.md: an engine of 5 ms that only waits, callers who come back at once. */
const CLUSTER_RUNS = [
  { nodes: 1, tenants: 64, mainMs: 1.68, syncMs: 0.3, perSecond: 583 },
  { nodes: 2, tenants: 64, mainMs: 1.69, syncMs: 0.3, perSecond: 1141 },
  { nodes: 4, tenants: 64, mainMs: 1.77, syncMs: 0.3, perSecond: 2141 },
  { nodes: 2, tenants: 1, mainMs: 1.52, syncMs: 2.6, perSecond: 1180 },
] as const
const CLUSTER_FIGURES = { ...MEASURED, engineMs: 5, engineCv: 0, roundTripMs: 0.05 }
const CLUSTER_WORKERS = 8
const CLUSTER_CALLERS = 48

/** Each run beside the model, and beside the simulation with callers as that run had them. */
export function compareWithClusterRuns(): Array<CapacityComparison & { simulated: number }> {
  return CLUSTER_RUNS.map(({ nodes, tenants: count, mainMs, syncMs, perSecond }) => {
    const figures = { ...CLUSTER_FIGURES, mainMs, syncMs }
    const tenants = { tenants: count, hottestShare: 0 }
    // An engine that waits takes no core from anybody.
    const cluster = { services: nodes, cores: CLUSTER_WORKERS + 1, workers: CLUSTER_WORKERS }
    const place = { cluster, figures, tenants }
    return {
      name: `${nodes} ${nodes === 1 ? 'node' : 'nodes'}, ${count} ${count === 1 ? 'tenant' : 'tenants'}, ${syncMs} ms a sync, measured`,
      found: perSecond,
      predicted: limitOf(place),
      simulated: simulated(place, { callers: CLUSTER_CALLERS }).perSecond,
    }
  })
}

/** By how much the model is off, as a share of what was found. */
export function errorOf(found: number, predicted: number): number {
  return predicted / found - 1
}

export function largestError(errors: number[]): number {
  return Math.max(...errors.map(Math.abs))
}
