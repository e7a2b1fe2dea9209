/** The faults of the campaign. Each one strikes, lasts, ends, and then returns since when each node could write again. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../hostile/random.js'
import type { ChaosNode } from './chaos-node.js'
import type { DatabasePair } from './database-pair.js'
import type { CommitLoss, TcpProxy } from './tcp-proxy.js'

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

/**
 * A fault between the database and one node or all of them; nodes that it spares must continue meanwhile.
 * @param drawn draws what happens to every connection
 * @param lasts bounds in milliseconds
 */
function ofNetwork(
  name: string,
  drawn: (random: Random) => (proxy: TcpProxy) => void,
  lasts: [leastMs: number, mostMs: number] | null,
): Fault {
  return {
    name,
    async strike(scene) {
      const { nodes, random } = scene
      const struck = random.next() < 0.3 ? nodes : [random.pick(nodes)]
      const startedMs = performance.now()
      const proxies = struck.flatMap((node) => node.proxies)
      proxies.forEach(drawn(random))
      if (lasts) await lasting(scene, ...lasts)
      for (const proxy of proxies) proxy.heal()
      const healedMs = performance.now()
      return new Map(nodes.map((node) => [node, struck.includes(node) ? healedMs : startedMs]))
    },
  }
}

/** A fault of one node; the others must continue meanwhile. @param during answers since when the node itself can write, or with nothing */
function ofNode(name: string, during: (node: ChaosNode, scene: Scene) => Promise<Since>): Fault {
  return {
    name,
    async strike(scene) {
      const { nodes, random } = scene
      const struck = random.pick(nodes)
      const startedMs = performance.now()
      const others = new Map(nodes.filter((node) => node !== struck).map((node) => [node, startedMs]))
      return new Map([...others, ...(await during(struck, scene))])
    },
  }
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
  ofNetwork('connections cut', () => (proxy) => proxy.cut(), null),
  ofNetwork('connections ended', () => (proxy) => proxy.finish(), null),
  ofNetwork('connections refused', () => (proxy) => proxy.refuse(), [200, 4000]),
  ofNetwork('network hangs', () => (proxy) => proxy.hang(), [500, 7000]),
  ofNetwork('black hole', () => (proxy) => proxy.blackHole(), [500, 12_000]),
  ofNetwork(
    'network slow',
    (random) => {
      const ms = 10 + random.below(150)
      return (proxy) => proxy.delay(ms)
    },
    [1000, 4000],
  ),
  ofNetwork('replies swallowed', () => (proxy) => proxy.swallow(), [200, 4000]),
  ofNetwork(
    'answers of COMMIT lost',
    (random) => {
      const how = random.pick(COMMIT_LOSSES)
      return (proxy) => proxy.loseCommits(how)
    },
    [200, 1500],
  ),
  ofNode('node killed', async (node, scene) => {
    await node.kill()
    await lasting(scene, 0, 3000)
    await node.start()
    return new Map()
  }),
  ofNode('node stands still', async (node, scene) => {
    node.halt()
    await lasting(scene, 300, 9000)
    node.goOn()
    return new Map([[node, performance.now()]])
  }),
  ofNode('clock wrong', async (node, scene) => {
    const since = new Map([[node, performance.now()]])
    // Less than makes a node unready, so load balancers keep sending requests to it.
    node.skew(Math.round((scene.random.next() - 0.5) * 3000))
    await lasting(scene, 1000, 4000)
    node.skew(0)
    return since
  }),
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
