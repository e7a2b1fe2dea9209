/** The result of the cluster suite: its tables, charts, notes and summary. */
import { availableParallelism } from 'node:os'
import { SAVE_MS } from '../../src/features/insight/traffic/traffic.js'
import type { SuiteOptions } from '../suite.js'
import type { ClusterDatabase, SavedByDashboard } from './cluster-database.js'
import { type Round, type Summary, summarise } from './cluster-round.js'
import { CALLERS, ENGINE_WORKERS } from './cluster-under-load.js'
import type { SuiteResult } from './report.js'
import { round, shown } from './statistics.js'

const TARGETS = { efficiency: 0.9, hotTenantPerSecond: 1000 } as const

/** A database and the median duration of a single commit there, in milliseconds. */
export interface MeasuredDatabase extends ClusterDatabase {
  commitMs: number
}

export interface ClusterFigures {
  /** The rounds of each number of nodes, in ascending order. */
  rounds: ReadonlyMap<number, Round[]>
  roundSeconds: number
  hot: Round
  hotNodes: number
  /** Milliseconds by which each sync of the one tenant's disk was delayed. */
  syncMs: number
  database: MeasuredDatabase
  slow: MeasuredDatabase
  saved: SavedByDashboard
}

interface Row extends Summary {
  nodes: number
  /** Rate as a share of as many times the rate of one node. */
  efficiency: number
}

export function reportCluster(options: SuiteOptions, figures: ClusterFigures): SuiteResult {
  const { tenants, engineMs, pack, seconds } = options
  const { rounds, hot, hotNodes, slow, database } = figures
  const rows = rowsOf(rounds)
  const hotRow = summarise([hot])
  const some = `${tenants} ${tenants === 1 ? 'tenant' : 'tenants'}`
  return {
    suite: 'cluster',
    model: pack.modelId,
    seconds,
    summary: {
      tenants,
      nodes: rows.map(({ nodes }) => nodes),
      per_s: rows.map(({ perSecond }) => round(perSecond, 1)),
      efficiency: rows.map(({ efficiency }) => round(efficiency, 3)),
      main_thread_ms: rows.map(({ mainThreadMs }) => rounded(mainThreadMs)),
      database_ms: rows.map(({ databaseMs }) => rounded(databaseMs)),
      table_lock_share: rows.map(({ tableLockShare }) => round(tableLockShare, 3)),
      lock_wait_share: rows.map(({ waitingShare }) => round(waitingShare, 3)),
      hot_tenant_per_s: round(hotRow.perSecond, 1),
      engine_ms: engineMs,
      hot_tenant_commit_ms: round(slow.commitMs, 2),
      cores: availableParallelism(),
    },
    tables: [
      {
        title: some,
        rows: [
          ['nodes', 'verifies per second', 'of as many times one', ...SERVICE_HEADING],
          ...rows.map((row) => [
            String(row.nodes),
            row.perSecond.toFixed(1),
            row.efficiency.toFixed(3),
            ...serviceCells(row),
          ]),
        ],
      },
      {
        title: `One tenant, ${hotNodes} nodes, ${slow.commitMs.toFixed(1)} ms a commit (${slow.description}; the other database ${database.commitMs.toFixed(1)})`,
        rows: [
          ['verifies per second', ...SERVICE_HEADING],
          [hotRow.perSecond.toFixed(1), ...serviceCells(hotRow)],
        ],
      },
      {
        title: 'The database meanwhile',
        rows: [
          ['tenants, nodes', ...DATABASE_HEADING],
          ...rows.map((row) => [`${tenants}, ${row.nodes}`, ...databaseCells(row)]),
          [`${tenants}, all`, ...databaseCells(summarise([...rounds.values()].flat()))],
          [`1, ${hotNodes}`, ...databaseCells(hotRow)],
        ],
      },
    ],
    charts: [
      {
        title: some,
        unit: 'verifies per second',
        bars: rows.map(({ nodes, perSecond }) => ({
          label: `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`,
          value: perSecond,
        })),
      },
      {
        title: `One tenant, ${slow.commitMs.toFixed(1)} ms a commit`,
        unit: 'verifies per second',
        bars: [{ label: `${hotNodes} nodes`, value: hotRow.perSecond }],
      },
    ],
    notes: notesOf(
      options,
      figures,
      [...rows, hotRow].map(({ loadShare }) => loadShare),
    ),
    details: {
      commit_ms: database.commitMs,
      slow_commit_ms: slow.commitMs,
      slow_database: slow.description,
      saved_by_dashboard: figures.saved,
      rounds: [...rounds].flatMap(([nodes, each]) => each.map((one) => withoutSamples(nodes, one))),
      hot: withoutSamples(hotNodes, hot),
    },
    failures: [],
  }
}

function rowsOf(rounds: ReadonlyMap<number, Round[]>): Row[] {
  const summaries = [...rounds].map(([nodes, each]) => ({ nodes, ...summarise(each) }))
  const [alone] = summaries
  return summaries.map((one) => ({
    ...one,
    efficiency: (one.perSecond * alone!.nodes) / (one.nodes * alone!.perSecond),
  }))
}

const SERVICE_HEADING = [
  'p50, ms',
  'p99, ms',
  'refused',
  'main thread, ms a verify',
  'busiest main thread',
  'busy cores',
]

function serviceCells(row: Summary): string[] {
  return [
    shown(row.p50Ms, 1),
    shown(row.p99Ms, 1),
    String(row.refused),
    shown(row.mainThreadMs, 2),
    shown(row.mainThreadShare, 2),
    row.busyCores.toFixed(1),
  ]
}

const DATABASE_HEADING = [
  'CPU, ms a verify',
  'samples',
  'share with a table lock',
  'share with a waiting lock',
  'locked tables',
]

function databaseCells({ databaseMs, locks, tableLockShare, waitingShare }: Summary): string[] {
  const tables = Object.entries(locks.byTable).map(([table, count]) => `${table} ${count}`)
  return [
    shown(databaseMs, 2),
    String(locks.all),
    tableLockShare.toFixed(3),
    waitingShare.toFixed(3),
    tables.join(', ') || '–',
  ]
}

function notesOf({ engineMs }: SuiteOptions, figures: ClusterFigures, loadShares: number[]): string[] {
  const { roundSeconds, syncMs, database, saved } = figures
  const load = Math.round(Math.max(...loadShares) * 100)
  return [
    `The engine is simulated: a picture takes a worker ${engineMs} ms of waiting, and each node has ${ENGINE_WORKERS} workers. All else is the service as it is, each node a process of its own: HTTP, keys, rate limits, idempotency, the picture's way to the engine process and back, replay check, transaction, audit log, signatures.`,
    `Every node counts the dashboard's traffic and keeps the request log, and saves both every ${SAVE_MS / 1000} s; a round took ${roundSeconds.toFixed(1)} s. In the end there were ${saved.traffic} rows of counts and ${saved.requests} logged requests.`,
    `This machine had ${availableParallelism()} cores for nodes, database, load generators and simulated engines together. Four nodes with their database want about twelve; where there are fewer, the cores are what is measured and not the nodes.`,
    `The database: ${database.description}. Its CPU time is that of all processes of the server but the one that samples the locks; a dash stands where the server runs elsewhere.`,
    'Locks are sampled ten times a second. A table lock keeps all other writers out of a table (SHARE mode and stronger), held or waited for; a waiting lock is any for which a session waits, such as that of a row. Expired rows are deleted once a minute, so that the locks of this work fall into some rounds by chance: the row of all rounds is the one to compare.',
    `One generator a node, with ${CALLERS} callers, each on a connection that is kept; the busiest took ${load} % of a core.`,
    `Goals: ${TARGETS.efficiency} of four times one node with four; ${TARGETS.hotTenantPerSecond} a second for one tenant over two nodes and a disk that takes ${syncMs} ms a sync.`,
    'Rates and CPU times are means of two rounds, percentiles and shares those of both together. The main threads are those of all nodes under load.',
  ]
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : round(ms, 3)
}

function withoutSamples(nodes: number, { latenciesMs, ...figures }: Round) {
  return { nodes, verifies: latenciesMs.length, ...figures }
}
