/** What goes wrong: each fault strikes, lasts, and is over, and then says since when which node could write again. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../hostile/random.js'
import type { ChaosNode } from './chaos-node.js'
import type { DatabasePair } from './database-pair.js'
import type { CommitLoss } from './tcp-proxy.js'

export interface Scene {
  database: DatabasePair
  nodes: readonly ChaosNode[]
  random: Random
}

/** By node, when the database could be reached again, or never could not, on the axis of `performance.now()`. */
export type Since = ReadonlyMap<ChaosNode, number>

export interface Fault {
  name: string
  /** Why it cannot be had here; null where it can. */
  obstacle?(scene: Scene): string | null
  strike(scene: Scene): Promise<Since>
}

const COMMIT_LOSSES: readonly CommitLoss[] = ['done and cut', 'done in silence', 'cut before']
const NO_STANDBY = 'PostgreSQL has no pg_basebackup here'

/** A time within these bounds. */
function lasting({ random }: Scene, leastMs: number, mostMs: number): Promise<void> {
  return sleep(leastMs + random.next() * (mostMs - leastMs))
}

/** On the way of one node, or of all; those whose way is free must go on meanwhile. */
function ofNetwork(name: string, during: (scene: Scene, ways: Ways) => Promise<void>): Fault {
  return {
    name,
    async strike(scene) {
      const { nodes, random } = scene
      const struck = random.next() < 0.3 ? nodes : [random.pick(nodes)]
      const startedMs = performance.now()
      const proxies = struck.flatMap((node) => node.proxies)
      await during(scene, { each: (act) => proxies.forEach(act) })
      for (const proxy of proxies) proxy.heal()
      const healedMs = performance.now()
      return new Map(nodes.map((node) => [node, struck.includes(node) ? healedMs : startedMs]))
    },
  }
}

interface Ways {
  each(act: (proxy: ChaosNode['proxies'][number]) => void): void
}

/** Of the database itself: no node can write until it confirms again. */
function ofDatabase(
  name: string,
  during: (scene: Scene) => Promise<void>,
  obstacle?: (scene: Scene) => string | null,
): Fault {
  return {
    name,
    ...(obstacle ? { obstacle } : {}),
    async strike(scene) {
      await during(scene)
      const reachableMs = await scene.database.reachable()
      return new Map(scene.nodes.map((node) => [node, reachableMs]))
    },
  }
}

const withoutStandby = ({ database }: Scene) => (database.standby ? null : NO_STANDBY)

export const FAULTS: readonly Fault[] = [
  ofNetwork('connections cut', async (_, ways) => ways.each((proxy) => proxy.cut())),
  ofNetwork('connections ended', async (_, ways) => ways.each((proxy) => proxy.finish())),
  ofNetwork('connections refused', async (scene, ways) => {
    ways.each((proxy) => proxy.refuse())
    await lasting(scene, 200, 4000)
  }),
  ofNetwork('network hangs', async (scene, ways) => {
    ways.each((proxy) => proxy.hang())
    await lasting(scene, 500, 7000)
  }),
  ofNetwork('black hole', async (scene, ways) => {
    ways.each((proxy) => proxy.blackHole())
    await lasting(scene, 500, 12_000)
  }),
  ofNetwork('network slow', async (scene, ways) => {
    const ms = 10 + scene.random.below(150)
    ways.each((proxy) => proxy.delay(ms))
    await lasting(scene, 1000, 4000)
  }),
  ofNetwork('replies swallowed', async (scene, ways) => {
    ways.each((proxy) => proxy.swallow())
    await lasting(scene, 200, 4000)
  }),
  ofNetwork('answers of COMMIT lost', async (scene, ways) => {
    const how = scene.random.pick(COMMIT_LOSSES)
    ways.each((proxy) => proxy.loseCommits(how))
    await lasting(scene, 200, 1500)
  }),
  {
    name: 'node killed',
    async strike(scene) {
      const { nodes, random } = scene
      const killed = random.pick(nodes)
      const startedMs = performance.now()
      await killed.kill()
      const others = nodes.filter((node) => node !== killed)
      await lasting(scene, 0, 3000)
      await killed.start()
      return new Map(others.map((node) => [node, startedMs]))
    },
  },
  {
    name: 'node stands still',
    async strike(scene) {
      const { nodes, random } = scene
      const halted = random.pick(nodes)
      const startedMs = performance.now()
      halted.halt()
      await lasting(scene, 300, 9000)
      halted.goOn()
      const resumedMs = performance.now()
      return new Map(nodes.map((node) => [node, node === halted ? resumedMs : startedMs]))
    },
  },
  {
    name: 'clock wrong',
    async strike(scene) {
      const { nodes, random } = scene
      const startedMs = performance.now()
      const wrong = random.pick(nodes)
      // Below what makes a node unready: load balancers go on sending to it.
      wrong.skew(Math.round((random.next() - 0.5) * 3000))
      await lasting(scene, 1000, 4000)
      wrong.skew(0)
      return new Map(nodes.map((node) => [node, startedMs]))
    },
  },
  ofDatabase('server killed', async (scene) => {
    const { primary } = scene.database
    await primary.kill()
    await lasting(scene, 0, 2500)
    await primary.start()
  }),
  ofDatabase('backend killed', async ({ database, random }) =>
    database.primary.killBackend((among) => random.pick(among)),
  ),
  ofDatabase('server stands still', async (scene) => {
    const { primary } = scene.database
    primary.halt()
    await lasting(scene, 300, 9000)
    primary.goOn()
  }),
  ofDatabase(
    'standby gone',
    async (scene) => {
      const standby = scene.database.standby!
      await standby.kill()
      await lasting(scene, 300, 9000)
      await standby.start()
    },
    withoutStandby,
  ),
  ofDatabase('failover', async ({ database }) => database.failOver(), withoutStandby),
  ofDatabase(
    'disk full',
    async (scene) => {
      const { primary, room } = scene.database
      room!.fill()
      await lasting(scene, 1000, 4000)
      room!.empty()
      // Without room for its log it has ended itself.
      await sleep(200)
      if (!primary.isRunning) await primary.start()
    },
    ({ database }) => (database.room ? null : 'no file system can be mounted here'),
  ),
]
