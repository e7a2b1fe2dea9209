/** The faults of the campaign. Each one strikes, lasts, ends, and then returns since when each node could write again. */
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

/** Times at which the database was reachable again, by node, on the axis of `performance.now()`; a node without an entry never lost it. */
export type Since = ReadonlyMap<ChaosNode, number>

export interface Fault {
  name: string
  /** Why the fault cannot be made on this machine; null when it can. */
  obstacle?(scene: Scene): string | null
  strike(scene: Scene): Promise<Since>
}

const COMMIT_LOSSES: readonly CommitLoss[] = ['done and cut', 'done in silence', 'cut before']
const NO_STANDBY = 'PostgreSQL has no pg_basebackup here'

/** Waits for a random time within these bounds, in milliseconds. */
function lasting({ random }: Scene, leastMs: number, mostMs: number): Promise<void> {
  return sleep(leastMs + random.next() * (mostMs - leastMs))
}

/** A fault between the database and one node or all of them; nodes that it spares must continue meanwhile. */
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

/** A fault of the database itself: no node can write until the database confirms commits again. */
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
      // Less than makes a node unready, so load balancers keep sending requests to it.
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
      // A server without space for its log ends without help.
      await sleep(200)
      if (!primary.isRunning) await primary.start()
    },
    ({ database }) => (database.room ? null : 'no file system can be mounted here'),
  ),
]
