/**
 * A cluster of services as a discrete-event simulation: verifies arrive at random, take their turns on main threads and in engines,
 * and commit in groups, one after the other over all services. It knows nothing of the formulas that it is there to check.
 */
import { seededRandom } from '../../src/evaluation/random.js'
import { SimulatedEngine } from './engine.js'
import { EventQueue } from './event-queue.js'
import { SimulatedLane } from './lane.js'
import { MainThread } from './main-thread.js'

/** Times are milliseconds. */
export interface SimulatedCluster {
  services: number
  /** Of each service, its main thread's included. */
  cores: number
  workers: number
  tasksPerWorker: number
  engineMs: number
  engineCv: number
  /** On the main thread: each visit before the pictures go to the engine, the one after it, one of each trip in the lane. */
  visitMs: { small: number; largest: number }
  readTrips: number
  laneTrips: number
  groupTrips: number
  most: number
  roundTripMs: number
  syncMs: number
  /** In the database server, inside the lane. */
  laneMs: number
}

export interface SimulatedLoad {
  perSecond: number
  /** Verifies; the first tenth is not counted. */
  verifies: number
  seed: number
}

export interface SimulatedResult {
  perSecond: number
  meanMs: number
  p50Ms: number
  p99Ms: number
  laneUtilisation: number
  jobsPerGroup: number
}

export function simulate(cluster: SimulatedCluster, load: SimulatedLoad): SimulatedResult {
  const random = seededRandom(load.seed)
  const events = new EventQueue()
  const lane = new SimulatedLane(cluster, events)
  const services = Array.from({ length: cluster.services }, () => {
    const main = new MainThread(events)
    const visitsMs =
      (cluster.readTrips + cluster.laneTrips + 2) * cluster.visitMs.small + cluster.visitMs.largest
    const mainCores = (load.perSecond / 1000 / cluster.services) * visitsMs
    return { main, engine: new SimulatedEngine(cluster, mainCores, events), writer: lane.writerOf(main) }
  })
  const latenciesMs: number[] = []
  const warmUp = load.verifies / 10
  let arrived = 0
  let firstMs = 0
  let lastMs = 0

  const read = (main: MainThread, trips: number, then: () => void): void => {
    main.visit(cluster.visitMs.small, () =>
      trips === 0 ? then() : events.after(cluster.roundTripMs, () => read(main, trips - 1, then)),
    )
  }
  const arrive = (): void => {
    const index = arrived++
    const arrivedMs = events.nowMs
    const { main, engine, writer } = services[Math.floor(random() * services.length)]!
    read(main, cluster.readTrips, () =>
      engine.run(serviceMs(cluster, random), () =>
        main.visit(cluster.visitMs.largest, () =>
          writer.write(() =>
            main.visit(cluster.visitMs.small, () => {
              if (index < warmUp) return
              if (latenciesMs.length === 0) firstMs = events.nowMs
              lastMs = events.nowMs
              latenciesMs.push(events.nowMs - arrivedMs)
            }),
          ),
        ),
      ),
    )
    if (arrived < load.verifies) events.after((-Math.log(1 - random()) / load.perSecond) * 1000, arrive)
  }
  arrive()
  events.run()
  const sorted = Float64Array.from(latenciesMs).sort()
  const percentileMs = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]!
  return {
    perSecond: ((latenciesMs.length - 1) / (lastMs - firstMs)) * 1000,
    meanMs: sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length,
    p50Ms: percentileMs(0.5),
    p99Ms: percentileMs(0.99),
    laneUtilisation: lane.heldMs / events.nowMs,
    jobsPerGroup: lane.jobs / lane.groups,
  }
}

/** As often shorter as longer than the mean, evenly. */
function serviceMs({ engineMs, engineCv }: SimulatedCluster, random: () => number): number {
  return engineMs * (1 + engineCv * Math.sqrt(3) * (2 * random() - 1))
}
