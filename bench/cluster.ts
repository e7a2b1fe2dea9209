/**
 * The cluster suite: verifies per second and latency (milliseconds) of one, two and more nodes over one PostgreSQL.
 * The engine is simulated and only waits, so that the rest of the service is measured.
 */
import { randomBytes } from 'node:crypto'
import { availableParallelism, cpus } from 'node:os'
import { progressSteps } from '../src/cli/lib/progress.js'
import { takeCaptures } from './lib/captures.js'
import { measureCommitMs, openDatabase, openSlowDatabase } from './lib/cluster-database.js'
import type { NodeOrder, NodeResult } from './lib/cluster-orders.js'
import { HelperProcess } from './lib/helper-process.js'
import { type LoadGenerator, startLoadGenerator } from './lib/load-generator.js'
import { carriedPercentile, mean, median, round, shown } from './lib/statistics.js'
import { temporaryDir } from './lib/temporary-dir.js'
import type { Suite, SuiteOptions } from './suite.js'

const NODES = [1, 2, 4] as const
const MAX_NODES = NODES.at(-1)!
const HOT_NODES = 2
/** Simulated workers per node: together they do more than a main thread can feed. */
const ENGINE_WORKERS = 8
/** Callers per node: no worker waits for the network or for other calls' commits. */
const CALLERS = 48
const TENANTS = 64
/**
 * Number of users of all tenants together. Each user verifies only a few times in the run, as in a day: each capture
 * is compared with those before.
 */
const USERS = 1024
/** Delay of the disk, in milliseconds, in the row of one tenant. */
const SYNC_MS = 2
/**
 * Rounds of each number of nodes, first in ascending and then in descending order, because the database grows
 * meanwhile.
 */
const ROUNDS = 2
const HOT_SHARE = 0.25
const WARM_UP_SECONDS = 1
/** Load in seconds before the first round, so that the processes' JavaScript is compiled. */
const SETTLING_SECONDS = 4
const TARGETS = { efficiency: 0.9, hotTenantPerSecond: 1000 } as const

type Node = HelperProcess<NodeOrder, NodeResult>

interface Visit {
  keys: string[]
  nodes: number
  seconds: number
}

interface Round {
  perSecond: number
  latenciesMs: number[]
  /** Verifies that the service refused because it was at capacity; their callers retried. */
  refused: number
  /**
   * CPU time of a main thread per verify, in milliseconds; null where the system does not report it, as in the next
   * two.
   */
  mainThreadMs: number | null
  /** The busiest main thread's CPU time, as a share of one core. */
  mainThreadShare: number | null
  /** The busiest load generator's CPU time, as a share of one core. */
  loadShare: number
  /** Number of the machine's cores that were busy, with any process. */
  busyCores: number
}

export const cluster: Suite = {
  name: 'cluster',
  description: 'verifies per second of several nodes over one PostgreSQL, the engine simulated',
  defaultSeconds: 40,
  async run(options) {
    const { pack, seconds, engineMs } = options
    const { enrolImages, verifyImages: images } = await takeCaptures()
    const database = await openDatabase(options.database)
    const slow = await openSlowDatabase(options.database, SYNC_MS)
    const commitMs = await measureCommitMs(database)
    const slowCommitMs = await measureCommitMs(slow)
    const generators = Array.from({ length: MAX_NODES }, startLoadGenerator)
    const progress = progressSteps('cluster')
    const steps = ROUNDS * NODES.length + 3
    let step = 0
    const announce = (label: string) => progress.update(step++, steps, label)
    const masterKey = randomBytes(32).toString('base64')

    const rounds = new Map<number, Round[]>(NODES.map((nodes) => [nodes, []]))
    let hot: Round
    try {
      announce('starting')
      const visit = await startNodes(MAX_NODES, database.url, { masterKey, images, options, generators })
      const [first] = visit.nodes
      const { keys } = await first!.ask({ type: 'tenants', count: TENANTS })
      announce('enrolling')
      await visit.enrol(keys, USERS / TENANTS, enrolImages)
      await visit.measure({ keys, nodes: MAX_NODES, seconds: SETTLING_SECONDS })
      const roundSeconds = (seconds * (1 - HOT_SHARE)) / (ROUNDS * NODES.length)
      for (let turn = 0; turn < ROUNDS; turn++)
        for (const nodes of turn % 2 === 0 ? NODES : NODES.toReversed()) {
          announce(`${nodes} ${nodes === 1 ? 'node' : 'nodes'}`)
          rounds.get(nodes)!.push(await visit.measure({ keys, nodes, seconds: roundSeconds }))
        }
      await visit.stop()
      announce('one tenant')
      const again = await startNodes(HOT_NODES, slow.url, {
        masterKey,
        images,
        options,
        generators,
      })
      const { keys: hotKeys } = await again.nodes[0]!.ask({ type: 'tenants', count: 1 })
      await again.enrol(hotKeys, USERS, enrolImages)
      await again.measure({ keys: hotKeys, nodes: HOT_NODES, seconds: SETTLING_SECONDS })
      hot = await again.measure({ keys: hotKeys, nodes: HOT_NODES, seconds: seconds * HOT_SHARE })
      await again.stop()
      progress.update(steps, steps, 'done')
      for (const generator of generators) await generator.stop()
    } finally {
      progress.stop()
    }

    const rows = NODES.map((nodes) => ({ nodes, ...summarise(rounds.get(nodes)!) }))
    const [alone] = rows
    const efficiency = rows.map(({ nodes, perSecond }) => perSecond / (nodes * alone!.perSecond))
    const cores = availableParallelism()
    const sync = `${slowCommitMs.toFixed(1)} ms a commit (${slow.description}; the other database ${commitMs.toFixed(1)})`
    return {
      suite: 'cluster',
      model: pack.modelId,
      seconds,
      summary: {
        nodes: NODES,
        per_s: rows.map(({ perSecond }) => round(perSecond, 1)),
        efficiency: efficiency.map((share) => round(share, 3)),
        hot_tenant_per_s: round(hot.perSecond, 1),
        main_thread_ms: alone!.mainThreadMs === null ? null : round(alone!.mainThreadMs, 3),
        engine_ms: engineMs,
        hot_tenant_commit_ms: round(slowCommitMs, 2),
        cores,
      },
      tables: [
        {
          title: `${TENANTS} tenants`,
          rows: [
            ['nodes', 'verifies per second', 'of as many times one', ...FIGURES],
            ...rows.map((row, i) => [
              String(row.nodes),
              row.perSecond.toFixed(1),
              efficiency[i]!.toFixed(3),
              ...figuresOf(row),
            ]),
          ],
        },
        {
          title: `One tenant, ${HOT_NODES} nodes, ${sync}`,
          rows: [
            ['verifies per second', ...FIGURES],
            [hot.perSecond.toFixed(1), ...figuresOf(summarise([hot]))],
          ],
        },
      ],
      charts: [
        {
          title: `${TENANTS} tenants`,
          unit: 'verifies per second',
          bars: rows.map(({ nodes, perSecond }) => ({
            label: `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`,
            value: perSecond,
          })),
        },
        {
          title: `One tenant, ${slowCommitMs.toFixed(1)} ms a commit`,
          unit: 'verifies per second',
          bars: [{ label: `${HOT_NODES} nodes`, value: hot.perSecond }],
        },
      ],
      notes: [
        `The engine is simulated: a picture takes a worker ${engineMs} ms of waiting, and each node has ${ENGINE_WORKERS} workers. All else is the service as it is, each node a process of its own: HTTP, keys, rate limits, idempotency, the picture's way to the engine process and back, replay check, transaction, audit log, signatures.`,
        `This machine had ${cores} cores for nodes, database, load generators and simulated engines together. Four nodes with their database want about twelve; where there are fewer, the cores are what is measured and not the nodes.`,
        `The database: ${database.description}.`,
        `One generator a node, with ${CALLERS} callers, each on a connection that is kept; the busiest took ${Math.round(Math.max(...rows.map(({ loadShare }) => loadShare), hot.loadShare) * 100)} % of a core.`,
        `Goals: ${TARGETS.efficiency} of four times one node with four; ${TARGETS.hotTenantPerSecond} a second for one tenant over two nodes and a disk that takes ${SYNC_MS} ms a sync.`,
        'Rates are means of two rounds. Figures of the main thread are those of a single node.',
      ],
      details: {
        commit_ms: commitMs,
        slow_commit_ms: slowCommitMs,
        slow_database: slow.description,
        rounds: [...rounds].flatMap(([nodes, some]) => some.map((one) => withoutSamples(nodes, one))),
        hot: withoutSamples(HOT_NODES, hot),
      },
      failures: [],
    }
  },
}

interface Setting {
  masterKey: string
  images: Buffer[]
  options: SuiteOptions
  generators: LoadGenerator[]
}

async function startNodes(
  count: number,
  databaseUrl: string,
  { masterKey, images, options, generators }: Setting,
) {
  const { pack, engineMs } = options
  const nodes: Node[] = []
  const origins: string[] = []
  while (nodes.length < count) {
    const node: Node = HelperProcess.start(new URL('./lib/cluster-node.js', import.meta.url))
    const { origin } = await node.ask({
      type: 'start',
      databaseUrl,
      masterKey,
      dataDir: await temporaryDir(),
      packDir: pack.dir,
      packId: pack.manifest.id,
      engineMs,
      workers: ENGINE_WORKERS,
    })
    nodes.push(node)
    origins.push(origin)
  }
  const mainThreads = () =>
    Promise.all(nodes.map(async (node) => (await node.ask({ type: 'cpu' })).mainThreadMs))
  return {
    nodes,
    /** Enrolls the users at the first node; the tenants are divided among the load generators. */
    async enrol(keys: string[], users: number, enrolImages: Buffer[]): Promise<void> {
      await Promise.all(
        generators.map(async (generator, i) => {
          for (let j = i; j < keys.length; j += generators.length) {
            const target = { origin: origins[0]!, key: keys[j]! }
            await generator.ask({ type: 'enrol', target, users, images: enrolImages })
          }
        }),
      )
    },
    async measure({ keys, nodes: used, seconds }: Visit): Promise<Round> {
      const before = { cores: busyCoreMs(), threads: await mainThreads(), atMs: performance.now() }
      const results = await Promise.all(
        origins.slice(0, used).map((origin, i) =>
          generators[i]!.ask({
            type: 'tenants',
            origin,
            keys,
            users: USERS / keys.length,
            images,
            callers: CALLERS,
            first: Math.floor((i * USERS) / used),
            warmUpSeconds: WARM_UP_SECONDS,
            seconds,
          }),
        ),
      )
      const wallMs = performance.now() - before.atMs
      const cores = busyCoreMs()
      const threads = await mainThreads()
      const spentMs = threads
        .slice(0, used)
        .map((ms, i) => (ms === null ? null : ms - before.threads[i]!))
        .filter((ms) => ms !== null)
      const requests = results.reduce((sum, one) => sum + one.requests, 0)
      const isKnown = spentMs.length === used
      return {
        perSecond: results.reduce((sum, { verifiedAtMs }) => sum + verifiedAtMs.length / seconds, 0),
        latenciesMs: results.flatMap(({ latenciesMs }) => latenciesMs.verify),
        refused: results.reduce((sum, { refusals }) => sum + refusals.length, 0),
        mainThreadMs: isKnown ? spentMs.reduce((a, b) => a + b, 0) / requests : null,
        mainThreadShare: isKnown ? Math.max(...spentMs) / wallMs : null,
        loadShare: Math.max(...results.map(({ cpuMs, wallMs }) => cpuMs / wallMs)),
        busyCores: (cores - before.cores) / wallMs,
      }
    },
    async stop(): Promise<void> {
      await Promise.all(nodes.map((node) => node.stop()))
    },
  }
}

/** CPU time of all cores since the machine's start, in milliseconds, without idle time. */
function busyCoreMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0)
}

function summarise(rounds: Round[]) {
  const known = (pick: (one: Round) => number | null) => {
    const figures = rounds.map(pick).filter((figure) => figure !== null)
    return figures.length === rounds.length ? mean(figures) : null
  }
  const latenciesMs = rounds.flatMap((one) => one.latenciesMs)
  if (rounds.some(({ perSecond }) => perSecond === 0))
    throw new Error('a round went by without an answer: a longer run, or an idle machine, has some')
  return {
    perSecond: mean(rounds.map(({ perSecond }) => perSecond)),
    p50Ms: latenciesMs.length > 0 ? median(latenciesMs) : null,
    p99Ms: carriedPercentile(latenciesMs, 0.99),
    refused: rounds.reduce((sum, { refused }) => sum + refused, 0),
    mainThreadMs: known(({ mainThreadMs }) => mainThreadMs),
    mainThreadShare: known(({ mainThreadShare }) => mainThreadShare),
    loadShare: Math.max(...rounds.map(({ loadShare }) => loadShare)),
    busyCores: mean(rounds.map(({ busyCores }) => busyCores)),
  }
}

const FIGURES = [
  'p50, ms',
  'p99, ms',
  'refused',
  'main thread, ms a verify',
  'busiest main thread',
  'busy cores',
]

function figuresOf(row: ReturnType<typeof summarise>): string[] {
  return [
    shown(row.p50Ms, 1),
    shown(row.p99Ms, 1),
    String(row.refused),
    shown(row.mainThreadMs, 2),
    shown(row.mainThreadShare, 2),
    row.busyCores.toFixed(1),
  ]
}

function withoutSamples(nodes: number, { latenciesMs, ...figures }: Round) {
  return { nodes, verifies: latenciesMs.length, ...figures }
}
