/** The nodes of a cluster over one database, each under the load of a generator of its own. */
import { randomBytes } from 'node:crypto'
import { cpus } from 'node:os'
import type { SuiteOptions } from '../suite.js'
import type { ClusterDatabase } from './cluster-database.js'
import type { NodeOrder, NodeResult } from './cluster-orders.js'
import type { Round } from './cluster-round.js'
import { DatabaseWatch } from './database-watch.js'
import { HelperProcess } from './helper-process.js'
import type { LoadGenerator } from './load-generator.js'
import { temporaryDir } from './temporary-dir.js'

/** Simulated workers per node: together they do more than a main thread can feed. */
export const ENGINE_WORKERS = 8
/** Callers per node: no worker waits for the network or for other calls' commits. */
export const CALLERS = 48
const WARM_UP_SECONDS = 1
const MASTER_KEY = randomBytes(32).toString('base64')

type Node = HelperProcess<NodeOrder, NodeResult>

export interface ClusterSetting {
  /** Photos that the users verify with. */
  images: Buffer[]
  options: Pick<SuiteOptions, 'pack' | 'engineMs'>
  /** At least one a node. */
  generators: LoadGenerator[]
}

/** The tenants that are served, each with the same number of users. */
export interface ServedTenants {
  /** Production keys, one a tenant. */
  keys: string[]
  usersOfEach: number
}

export class ClusterUnderLoad {
  private readonly nodes: Node[] = []
  private readonly origins: string[] = []

  private constructor(
    private readonly watch: DatabaseWatch,
    private readonly setting: ClusterSetting,
  ) {}

  static async start(
    count: number,
    database: ClusterDatabase,
    setting: ClusterSetting,
  ): Promise<ClusterUnderLoad> {
    const cluster = new ClusterUnderLoad(await DatabaseWatch.open(database.url), setting)
    while (cluster.nodes.length < count) await cluster.startNode(database)
    return cluster
  }

  /** Creates tenants and enrols their users at the first node; the tenants are divided among the load generators. */
  async enrol(count: number, usersOfEach: number, images: Buffer[]): Promise<ServedTenants> {
    const { keys } = await this.nodes[0]!.ask({ type: 'tenants', count })
    const { generators } = this.setting
    await Promise.all(
      generators.map(async (generator, i) => {
        for (let j = i; j < keys.length; j += generators.length) {
          const target = { origin: this.origins[0]!, key: keys[j]! }
          await generator.ask({ type: 'enrol', target, users: usersOfEach, images })
        }
      }),
    )
    return { keys, usersOfEach }
  }

  /** Loads the first `used` nodes, and measures while the load runs, its warm-up included. */
  async measure(tenants: ServedTenants, used: number, seconds: number): Promise<Round> {
    const { value, use } = await this.watch.during(() => this.load(tenants, used, seconds))
    const { results, spentMs, wallMs, busyCores } = value
    const requests = results.reduce((sum, one) => sum + one.requests, 0)
    const isKnown = spentMs.length === used
    return {
      perSecond: results.reduce((sum, { verifiedAtMs }) => sum + verifiedAtMs.length / seconds, 0),
      latenciesMs: results.flatMap(({ latenciesMs }) => latenciesMs.verify),
      refused: results.reduce((sum, { refusals }) => sum + refusals.length, 0),
      mainThreadMs: isKnown ? spentMs.reduce((a, b) => a + b, 0) / requests : null,
      mainThreadShare: isKnown ? Math.max(...spentMs) / wallMs : null,
      databaseMs: use.cpuMs === null ? null : use.cpuMs / requests,
      loadShare: Math.max(...results.map(({ cpuMs, wallMs }) => cpuMs / wallMs)),
      busyCores,
      locks: use.locks,
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()))
    await this.watch.close()
  }

  private async startNode(database: ClusterDatabase): Promise<void> {
    const { pack, engineMs } = this.setting.options
    const node: Node = HelperProcess.start(new URL('./cluster-node.js', import.meta.url))
    const { origin } = await node.ask({
      type: 'start',
      databaseUrl: database.url,
      masterKey: MASTER_KEY,
      dataDir: await temporaryDir(),
      packDir: pack.dir,
      packId: pack.manifest.id,
      engineMs,
      workers: ENGINE_WORKERS,
    })
    this.nodes.push(node)
    this.origins.push(origin)
  }

  /** @returns the generators' results, and the CPU times that the system reports of the main threads in use */
  private async load({ keys, usersOfEach }: ServedTenants, used: number, seconds: number) {
    const { images, generators } = this.setting
    const before = { busyMs: busyCoreMs(), threads: await this.mainThreads(used), atMs: performance.now() }
    const results = await Promise.all(
      this.origins.slice(0, used).map((origin, i) =>
        generators[i]!.ask({
          type: 'tenants',
          origin,
          keys,
          users: usersOfEach,
          images,
          callers: CALLERS,
          first: Math.floor((i * usersOfEach * keys.length) / used),
          warmUpSeconds: WARM_UP_SECONDS,
          seconds,
        }),
      ),
    )
    const wallMs = performance.now() - before.atMs
    const busyCores = (busyCoreMs() - before.busyMs) / wallMs
    const threads = await this.mainThreads(used)
    const spentMs = threads
      .map((ms, i) => (ms === null ? null : ms - before.threads[i]!))
      .filter((ms) => ms !== null)
    return { results, spentMs, wallMs, busyCores }
  }

  private mainThreads(used: number): Promise<Array<number | null>> {
    return Promise.all(
      this.nodes.slice(0, used).map(async (node) => (await node.ask({ type: 'cpu' })).mainThreadMs),
    )
  }
}

/** CPU time of all cores since the machine's start, in milliseconds, without idle time. */
function busyCoreMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0)
}
