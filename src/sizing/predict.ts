/** What a cluster of services over one database makes of a load: how busy everything is, and how long a verify takes. */
import { Delay } from './delay.js'
import type { Figures } from './figures.js'
import { laneState, mostPerMs } from './lane.js'
import { waitOf } from './queues.js'
import {
  GROUP_TRIPS,
  LANE_TRIPS,
  MOST_IN_GROUP,
  READ_TRIPS,
  TASKS_PER_WORKER,
  VISITS,
  visitOf,
} from './verify-shape.js'

export interface Cluster {
  /** Service processes over the database, all machines together. */
  services: number
  /** Of each service, its main thread's included. */
  cores: number
  /** Of each service. */
  workers: number
}

export interface Prediction {
  engineUtilisation: number
  mainUtilisation: number
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
  lane: number
}

export function capacityOf({ services, cores }: Cluster, figures: Figures): Capacity {
  const engine = (services * cores * 1000) / (figures.engineMs + figures.mainMs)
  const main = (services * 1000) / figures.mainMs
  // The busier the main threads are, the longer the lane is held.
  let [low, high] = [0, Math.min(main, mostPerMs(laneTimes(figures, 0)) * 1000)]
  for (let round = 0; round < HALVINGS; round++) {
    const middle = (low + high) / 2
    if (mostPerMs(laneTimes(figures, middle / 1000 / services)) * 1000 > middle) low = middle
    else high = middle
  }
  return { engine, main, lane: low }
}

const HALVINGS = 30
const NEVER = Number.POSITIVE_INFINITY

export function predict(cluster: Cluster, figures: Figures, perSecond: number): Prediction {
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
  const lane = laneState({
    perMs: perSecond / 1000,
    nodes: services,
    ...laneTimes(figures, servicePerMs),
  })
  const state = { engineUtilisation, mainUtilisation, laneUtilisation: lane?.utilisation ?? 1 }
  if (engineUtilisation >= 1 || mainUtilisation >= 1 || lane === null)
    return { ...state, p50Ms: NEVER, p99Ms: NEVER, commitsPerSecond: 0, jobsPerCommit: 0 }
  const onMain = Delay.wait(mainWait.probability, mainWait.meanMs)
  const before = Delay.fixed(READ_TRIPS * (figures.roundTripMs + visit.smallMs) + visit.smallMs)
  const after = Delay.fixed(visit.largestMs + visit.smallMs)
  const total = [
    // Those in the lane are part of its turns.
    ...Array.from({ length: VISITS - LANE_TRIPS }, () => onMain),
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
function laneTimes({ roundTripMs, syncMs, laneMs, mainMs }: Figures, servicePerMs: number) {
  const { smallMs, largestMs } = visitOf(mainMs)
  const tripMs = roundTripMs + laneMs / LANE_TRIPS + smallMs
  // A long visit that one trip has met has gone on during the next trip: it is not met whole again.
  const metMs = Math.min(largestMs, tripMs)
  const squaredMs2 = largestMs * metMs - metMs ** 2 / 2 + ((VISITS - 1) * smallMs ** 2) / 2
  const others = servicePerMs * (mainMs - LANE_TRIPS * smallMs)
  const waitMs = (servicePerMs * squaredMs2) / Math.max(1 - others, 1e-9)
  return {
    groupMs: GROUP_TRIPS * roundTripMs + syncMs,
    overlapMs: roundTripMs,
    jobMs: LANE_TRIPS * (tripMs + waitMs),
    savedMs: roundTripMs + smallMs + waitMs,
    // Of waits that are there or not, and as long as the long visit when they are.
    jobVarianceMs2: 2 * LANE_TRIPS * waitMs * largestMs,
    most: MOST_IN_GROUP,
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
