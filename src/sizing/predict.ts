/** What a cluster of services over one database makes of a load: how busy everything is, and how long a verify takes. */
import { Delay } from './delay.js'
import type { Figures } from './figures.js'
import { mostPerMs, type Tenants, writingState } from './lanes.js'
import { waitOf } from './queues.js'
import { HELD_TRIPS, MAX_IN_GROUP, READ_TRIPS, TASKS_PER_WORKER, VISITS, visitOf } from './verify-shape.js'

export interface Cluster {
  /** Service processes over the database, all machines together. */
  services: number
  /** Of each service, its main thread's included. */
  cores: number
  /** Of each service. */
  workers: number
}

/** What comes to it. */
export interface Rate extends Tenants {
  perSecond: number
}

export interface Prediction {
  engineUtilisation: number
  mainUtilisation: number
  /** Of the busiest tenant's. */
  laneUtilisation: number
  /** Infinity where something cannot keep up, or beyond a second. */
  p50Ms: number
  p99Ms: number
  commitsPerSecond: number
  jobsPerCommit: number
}

/** Verifies a second, more than which each part of the cluster can by no means do. */
export interface Capacity {
  engine: number
  main: number
  /** Of the busiest tenant. No more than the main threads: a group of one that has no time holds it for all. */
  lane: number
}

export function capacityOf({ services, cores }: Cluster, figures: Figures, tenants: Tenants): Capacity {
  const engine = (services * cores * 1000) / (figures.engineMs + figures.mainMs)
  const main = (services * 1000) / figures.mainMs
  const most = (perSecond: number) =>
    mostPerMs({ ...tenants, ...laneTimes(figures, services, perSecond / 1000 / services) }) * 1000
  // The busier the main threads are, the longer lanes are held.
  let [low, high] = [0, Math.min(main, most(0))]
  for (let round = 0; round < HALVINGS; round++) {
    const middle = (low + high) / 2
    if (most(middle) > middle) low = middle
    else high = middle
  }
  return { engine, main, lane: low }
}

const HALVINGS = 30
const NEVER = Number.POSITIVE_INFINITY

export function predict(cluster: Cluster, figures: Figures, rate: Rate): Prediction {
  const { perSecond } = rate
  const { services, cores, workers } = cluster
  const servicePerMs = perSecond / 1000 / services
  const visit = visitOf(figures.mainMs)
  const mainUtilisation = servicePerMs * figures.mainMs
  // The engine has the lower priority: what the main thread takes of the cores is not there for it.
  const engineMs = figures.engineMs * Math.max(1, workers / Math.max(cores - mainUtilisation, 1e-9))
  const engineUtilisation = (servicePerMs * engineMs) / workers
  const mainWait = waitOf(1, {
    perMs: servicePerMs * VISITS,
    serviceMs: visit.meanMs,
    cv2: visit.squaredMs2 / visit.meanMs ** 2 - 1,
  })
  const lane = writingState({
    ...rate,
    perMs: perSecond / 1000,
    ...laneTimes(figures, services, servicePerMs),
  })
  const state = { engineUtilisation, mainUtilisation, laneUtilisation: lane?.utilisation ?? 1 }
  if (engineUtilisation >= 1 || mainUtilisation >= 1 || lane === null)
    return { ...state, p50Ms: NEVER, p99Ms: NEVER, commitsPerSecond: 0, jobsPerCommit: 0 }
  const onMain = Delay.wait(mainWait.probability, mainWait.meanMs)
  const before = Delay.fixed(READ_TRIPS * (figures.roundTripMs + visit.smallMs) + visit.smallMs)
  const after = Delay.fixed(visit.largestMs + visit.smallMs)
  const total = [
    // Those with lanes in hand are part of its turns.
    ...Array.from({ length: VISITS - 1 }, () => onMain),
    engineDelay(workers, { perMs: servicePerMs, engineMs, cv: figures.engineCv }),
    lane.delay,
    after,
  ].reduce((sum, delay) => sum.plus(delay), before)
  return {
    ...state,
    p50Ms: total.percentileMs(0.5),
    p99Ms: total.percentileMs(0.99),
    commitsPerSecond: lane.groupsPerMs * 1000,
    jobsPerCommit: lane.jobsPerGroup,
  }
}

/** @param servicePerMs verifies of each service: their visits of its main thread are in the way of its lane's */
function laneTimes({ roundTripMs, syncMs, laneMs, mainMs }: Figures, services: number, servicePerMs: number) {
  const { smallMs, largestMs, inLaneMs } = visitOf(mainMs)
  const others = servicePerMs * (mainMs - inLaneMs)
  const squaredMs2 = (largestMs ** 2 + (VISITS - 2) * smallMs ** 2) / 2
  const waitMs = (servicePerMs * squaredMs2) / Math.max(1 - others, 1e-9)
  // While answers come in, what others want of the main thread is done among them.
  const paceMs = Math.max(laneMs / 2, inLaneMs + (others * laneMs) / 2)
  // The server goes on with one transaction while the main thread decides another; it waits for the first alone, and for a slow main thread.
  const workMs = (jobs: number) =>
    Math.max(jobs * laneMs, laneMs + roundTripMs + waitMs + inLaneMs + (jobs - 1) * paceMs)
  return {
    heldMs: (jobs: number) => HELD_TRIPS * roundTripMs + workMs(jobs) + syncMs,
    wayMs: roundTripMs,
    jobMs: Math.max(laneMs, paceMs),
    groupVarianceMs2: 2 * waitMs * largestMs,
    most: MAX_IN_GROUP,
    nodes: services,
  }
}

/**
 * A worker that has several tasks computes on them in turns: two that overlap make each other longer, by up to the whole of one, and
 * more of them the more are there. What finds all workers full waits.
 */
function engineDelay(
  workers: number,
  { perMs, engineMs, cv }: { perMs: number; engineMs: number; cv: number },
): Delay {
  const spreadMs = engineMs * cv * Math.sqrt(3)
  const own = Delay.fixed(engineMs - spreadMs).plus(Delay.uniform(2 * spreadMs))
  const wait = waitOf(workers, { perMs, serviceMs: engineMs, cv2: cv ** 2 })
  let sum = own.plus(Delay.wait(wait.probability, wait.meanMs))
  for (let others = 1; others < TASKS_PER_WORKER; others++) {
    // Each who comes to a busy worker is met by one who was there: two are longer for it.
    const met = 2 * wait.probability * Math.exp(-((others - 1) * engineMs) / 2 / wait.meanMs)
    sum = sum.plus(Delay.fixed(0).or(Math.min(1, met), Delay.uniform(engineMs)))
  }
  return sum
}
