/**
 * A cluster of services as a discrete-event simulation: verifies arrive at random, take their turns on main threads and in engines,
 * and commit in groups, those of a service one after the other, each with the lanes of its tenants. It knows nothing of the formulas
 * that it is there to check.
 */
import { seededRandom } from '../../src/evaluation/random.js'
import { SimulatedEngine } from './engine.js'
import { EventQueue } from './event-queue.js'
import { SimulatedLanes } from './lanes.js'
import { MainThread } from './main-thread.js'
import { SimulatedWriter } from './writer.js'

/** Times are milliseconds. */
export interface SimulatedCluster {
  services: number
  /** Of each service, its main thread's included. */
  cores: number
  workers: number
  tasksPerWorker: number
  engineMs: number
  engineCv: number
  /** On the main thread: each visit before the pictures go to the engine, and the last; the one after the engine; the one in the lane. */
  visitMs: { small: number; largest: number; inLane: number }
  readTrips: number
  most: number
  mostMisses: number
  lanes: number
  roundTripMs: number
  syncMs: number
  /** In the database server, with the lane in hand. */
  laneMs: number
}

export interface SimulatedLoad {
  /** At random moments; or callers of each service, each of which comes back as soon as it is answered. */
  arrivals: { perSecond: number } | { callers: number }
  tenants: number
  /** Of all verifies, the part of the busiest tenant; the others have the rest in equal parts. */
  hottestShare: number
  /** Verifies; the first tenth is not counted. */
  verifies: number
  seed: number
}

export interface SimulatedResult {
  perSecond: number
  meanMs: number
  p50Ms: number
  p99Ms: number
  jobsPerGroup: number
}

export function simulate(cluster: SimulatedCluster, load: SimulatedLoad): SimulatedResult {
  const random = seededRandom(load.seed)
  const events = new EventQueue()
  const lanes = new SimulatedLanes()
  const { arrivals } = load
  const visitsMs =
    (cluster.readTrips + 2) * cluster.visitMs.small + cluster.visitMs.largest + cluster.visitMs.inLane
  const mainCores = 'perSecond' in arrivals ? (arrivals.perSecond / 1000 / cluster.services) * visitsMs : 1
  const services = Array.from({ length: cluster.services }, () => {
    const main = new MainThread(events)
    const engine = new SimulatedEngine(cluster, mainCores, events)
    return { main, engine, writer: new SimulatedWriter(lanes, main, cluster, events) }
  })
  const laneOfTenant = Array.from({ length: load.tenants }, () => Math.floor(random() * cluster.lanes))
  const anyLane = () => {
    const others = load.tenants - 1
    const tenant = others === 0 || random() < load.hottestShare ? 0 : 1 + Math.floor(random() * others)
    return laneOfTenant[tenant]!
  }
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
  const verify = ({ main, engine, writer }: (typeof services)[number], then: () => void): void => {
    if (arrived === load.verifies) return
    const index = arrived++
    const arrivedMs = events.nowMs
    const done = () => {
      if (index >= warmUp) {
        if (latenciesMs.length === 0) firstMs = events.nowMs
        lastMs = events.nowMs
        latenciesMs.push(events.nowMs - arrivedMs)
      }
      then()
    }
    read(main, cluster.readTrips, () =>
      engine.run(serviceMs(cluster, random), () =>
        main.visit(cluster.visitMs.largest, () =>
          writer.write(anyLane(), () => main.visit(cluster.visitMs.small, done)),
        ),
      ),
    )
  }
  if ('perSecond' in arrivals) {
    const arrive = (): void => {
      verify(services[Math.floor(random() * services.length)]!, () => {})
      if (arrived < load.verifies) events.after((-Math.log(1 - random()) / arrivals.perSecond) * 1000, arrive)
    }
    arrive()
  } else {
    for (const service of services) {
      const call = () => verify(service, call)
      for (let caller = 0; caller < arrivals.callers; caller++) call()
    }
  }
  events.run()
  const sorted = Float64Array.from(latenciesMs).sort()
  const percentileMs = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]!
  return {
    perSecond: ((latenciesMs.length - 1) / (lastMs - firstMs)) * 1000,
    meanMs: sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length,
    p50Ms: percentileMs(0.5),
    p99Ms: percentileMs(0.99),
    jobsPerGroup: lanes.jobs / lanes.groups,
  }
}

/** As often shorter as longer than the mean, evenly. */
function serviceMs({ engineMs, engineCv }: SimulatedCluster, random: () => number): number {
  return engineMs * (1 + engineCv * Math.sqrt(3) * (2 * random() - 1))
}
