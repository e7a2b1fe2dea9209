/** How many machines carry a load, over how many databases, so that the loss of one is not felt. */
import { ACCURACY } from './accuracy.js'
import { DATABASE_BUSIEST, DATABASE_CPU_MS, type Figures } from './figures.js'
import { type Capacity, type Cluster, capacityOf, type Prediction, predict, type Rate } from './predict.js'

/** Verifies, at the busiest moment. */
export interface Load extends Rate {
  /** What the 99th percentile of a verify may be. Planned is for less, by what measured runs have exceeded the model. */
  p99Ms: number
}

export interface Machine {
  cores: number
  /** Of each database's machine. */
  databaseCores: number
  /** Machines of each cluster that may be lost while it carries its load. */
  spare: number
}

/** All clusters are alike: as large as the fullest has to be. */
export interface Plan {
  /** Databases, each with nodes of its own. */
  clusters: number
  /** Verifies a second of the fullest. */
  clusterPerSecond: number
  /** Of each cluster, the spare ones included. */
  nodes: number
  servicesPerNode: number
  workersPerService: number
  /** Of a cluster with all its nodes. */
  capacity: Capacity
  /** With all nodes, and after the loss of the spare ones. */
  whole: Prediction
  reduced: Prediction
}

/** Why no number of machines carries a load. */
export type Obstacle =
  /** A verify takes longer on machines that have nothing else to do. */
  | { kind: 'too_slow'; alone: Prediction }
  /** One tenant's verifies are committed one group after the other in one database: no more than `most`. */
  | { kind: 'tenant_too_large'; tenantPerSecond: number; most: number }

export type Outcome =
  | {
      /** What one database carries at most, with as many nodes as it takes. */
      databasePerSecond: number
      plan: Plan
    }
  | { plan: null; obstacle: Obstacle }

/** Of what can be done at all: beyond it, a little more load is a lot more waiting. */
const FULLEST = 0.85
/** A main thread that is busier keeps its engine waiting. */
const BUSIEST_MAIN = 0.6
/** Of the load, where the search for what a database carries ends. */
const PRECISION = 0.01
/** Nodes beyond those that compute enough: where so many more do not help, none do. */
const MORE_NODES = 3

export function plan(load: Load, machine: Machine, figures: Figures): Outcome {
  const { tenants, perSecond, p99Ms } = load
  const most = databaseMost(load, machine, figures)
  if (most === 0) {
    const cluster = clusterOf(1, 0, machine, figures)
    const alone = predict(cluster, figures, { ...load, perSecond: Number.EPSILON })
    return { plan: null, obstacle: { kind: 'too_slow', alone } }
  }
  const tenantPerSecond = hottestOf(load)
  const tenantAlone = { perSecond: tenantPerSecond, tenants: 1, hottestShare: 1, p99Ms }
  const tenantTooLarge = (): Outcome => {
    const carried = databaseMost(tenantAlone, machine, figures)
    return { plan: null, obstacle: { kind: 'tenant_too_large', tenantPerSecond, most: carried } }
  }
  if (fewestNodes(tenantAlone, machine, figures) === null) return tenantTooLarge()
  let clusters = Math.max(1, Math.ceil(perSecond / most))
  let needed: number | null = null
  // What is less can be too much where it takes a service less or more.
  for (; clusters <= tenants; clusters++) {
    needed = fewestNodes({ ...fullest(load, clusters), p99Ms }, machine, figures)
    if (needed !== null) break
  }
  if (needed === null) return tenantTooLarge()
  const rate = fullest(load, clusters)
  const nodes = needed + machine.spare
  const cluster = clusterOf(needed, rate.perSecond, machine, figures)
  const at = (count: number) => predict(scaled(cluster, count / needed), figures, rate)
  return {
    databasePerSecond: most,
    plan: {
      clusters,
      clusterPerSecond: rate.perSecond,
      nodes,
      servicesPerNode: cluster.services / needed,
      workersPerService: cluster.workers,
      capacity: capacityOf(scaled(cluster, nodes / needed), figures, rate),
      whole: at(nodes),
      reduced: at(needed),
    },
  }
}

/** Verifies a second of the busiest tenant. */
function hottestOf({ perSecond, tenants, hottestShare }: Rate): number {
  return perSecond * Math.max(hottestShare, 1 / tenants)
}

/** What comes to the fullest of so many databases, when tenants are spread over them as evenly as whole tenants can be. */
function fullest(load: Rate, databases: number): Rate {
  if (databases === 1) return load
  const { perSecond, tenants } = load
  const hottest = hottestOf(load)
  const other = tenants > 1 ? (perSecond - hottest) / (tenants - 1) : 0
  const beside = (count: number) =>
    Math.max(hottest + count * other, Math.ceil((tenants - 1 - count) / (databases - 1)) * other)
  const even = Math.max(0, Math.floor((perSecond / databases - hottest) / (other || 1)))
  const [rate, count] = [even, even + 1]
    .map((count) => Math.min(count, tenants - 1))
    .map((count) => [beside(count), count] as const)
    .reduce((least, one) => (one[0] < least[0] ? one : least))
  // As if the busiest were in the fullest: at worst it is.
  return { perSecond: rate, tenants: count + 1, hottestShare: Math.min(1, hottest / rate) }
}

/** Verifies a second. 0 where not even a single one is fast enough. */
function databaseMost(load: Load, machine: Machine, figures: Figures): number {
  const carries = (perSecond: number) => fewestNodes({ ...load, perSecond }, machine, figures) !== null
  let low = 0
  let high = load.perSecond
  while (carries(high) && high < MAX_PER_SECOND) [low, high] = [high, high * 2]
  while (high - low > PRECISION * high && high > 1) {
    const middle = (low + high) / 2
    if (carries(middle)) low = middle
    else high = middle
  }
  return low
}

/** Beyond it nobody has asked. */
const MAX_PER_SECOND = 1e6

/** Null where no number of nodes over one database is enough. */
function fewestNodes(load: Load, machine: Machine, figures: Figures): number | null {
  const { perSecond, p99Ms } = load
  if (perSecond * DATABASE_CPU_MS > machine.databaseCores * 1000 * DATABASE_BUSIEST) return null
  const alone = { services: 1, cores: machine.cores, workers: machine.cores }
  const { engine } = capacityOf(alone, figures, load)
  const least = Math.max(1, Math.ceil(perSecond / (FULLEST * engine)))
  for (let nodes = least; nodes <= least + MORE_NODES; nodes++) {
    const cluster = clusterOf(nodes, perSecond, machine, figures)
    const { main, lane } = capacityOf(cluster, figures, load)
    // More nodes want the lane of a busy tenant more often: both with the spare ones and without.
    const isFast = [nodes, nodes + machine.spare].every(
      (count) =>
        predict(scaled(cluster, count / nodes), figures, load).p99Ms <= p99Ms * (1 - ACCURACY.runs.p99),
    )
    if (perSecond <= FULLEST * Math.min(main, lane) && isFast) return nodes
  }
  return null
}

function scaled(cluster: Cluster, times: number): Cluster {
  return { ...cluster, services: cluster.services * times }
}

/** As many service processes a node as its main threads need, and no more: each wants the lane of a busy tenant. */
function clusterOf(nodes: number, perSecond: number, { cores }: Machine, { mainMs }: Figures): Cluster {
  const mainThreads = ((perSecond / nodes) * mainMs) / 1000
  const perNode = Math.min(cores, Math.max(1, Math.ceil(mainThreads / BUSIEST_MAIN)))
  return {
    services: nodes * perNode,
    cores: cores / perNode,
    workers: Math.max(1, Math.floor(cores / perNode)),
  }
}
