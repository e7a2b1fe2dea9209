/** A size as JSON and as text. */
import { ACCURACY } from '../sizing/accuracy.js'
import { DATABASE_BUSIEST, DATABASE_CPU_MS, type Figures, MEMORY_MIB } from '../sizing/figures.js'
import type { Load, Obstacle, Plan } from '../sizing/plan.js'
import type { Capacity, Prediction } from '../sizing/predict.js'
import { CONNECTIONS_PER_SERVICE, storageOf } from '../sizing/storage.js'
import { counted, fields } from './style.js'

export interface Size {
  load: Load & { users: number }
  /** Of a node. */
  cores: number
  databaseCores: number
  spare: number
  figures: Figures
  databasePerSecond: number
  plan: Plan
}

const MIB_PER_GIB = 1024

export function sizeView(size: Size) {
  const { load, cores, figures, plan, databasePerSecond } = size
  const { clusters, clusterPerSecond, nodes, servicesPerNode, workersPerService, whole, reduced } = plan
  const storage = storageOf({ perSecond: clusterPerSecond, users: load.users / clusters })
  return {
    clusters,
    nodes: clusters * nodes,
    cores: clusters * nodes * cores,
    cluster: {
      verifies_per_s: round(clusterPerSecond, 1),
      nodes,
      spare_nodes: size.spare,
      services_per_node: servicesPerNode,
      workers_per_service: workersPerService,
      memory_gib_per_node: round(memoryMib(plan) / MIB_PER_GIB, 1),
      most_verifies_per_s: endsView(plan.capacity),
      all_nodes: predictionView(whole),
      spare_nodes_lost: predictionView(reduced),
    },
    database: {
      most_verifies_per_s: Math.floor(databasePerSecond),
      commits_per_s: round(whole.commitsPerSecond, 1),
      cores: Math.max(1, Math.ceil((clusterPerSecond * DATABASE_CPU_MS) / 1000 / DATABASE_BUSIEST)),
      log_mb_per_s: round(storage.logBytesPerSecond / 1e6, 2),
      users_gb: round(storage.usersBytes / 1e9, 1),
      kept_a_day_gb: round(storage.dayBytes / 1e9, 1),
      growth_gb_per_day: round(storage.growthBytesPerDay / 1e9, 1),
      connections: nodes * servicesPerNode * CONNECTIONS_PER_SERVICE,
    },
    figures: {
      engine_ms: round(figures.engineMs, 2),
      main_ms: round(figures.mainMs, 2),
      lane_ms: figures.laneMs,
      sync_ms: figures.syncMs,
      round_trip_ms: figures.roundTripMs,
    },
    accuracy: ACCURACY,
  }
}

export function sizeText(size: Size): string {
  const { load, cores, plan } = size
  const { cluster, database, figures, ...all } = sizeView(size)
  const isSplit = plan.clusters > 1
  const rows: Array<[string, string]> = [
    [
      'Load',
      `${load.perSecond} verifies a second, p99 at most ${load.p99Ms} ms; ${counted(load.tenants, 'tenant')}, the busiest with ${percent(Math.max(load.hottestShare, 1 / load.tenants))}; ${counted(load.users, 'user')}`,
    ],
    ['Machines', `${all.nodes} nodes of ${counted(cores, 'core')}: ${all.cores} cores`],
    [
      isSplit ? 'Clusters' : 'Cluster',
      isSplit
        ? `${all.clusters}, each a database with ${counted(cluster.nodes, 'node')}, up to ${cluster.verifies_per_s} verifies a second`
        : `one database, ${counted(cluster.nodes, 'node')}`,
    ],
    ['Spare', `${counted(cluster.spare_nodes, 'node')} of a cluster may be lost`],
    [
      'Node',
      `${counted(cluster.services_per_node, 'service')} of ${counted(cluster.workers_per_service, 'worker')}, ${cluster.memory_gib_per_node} GiB`,
    ],
    ['All nodes', predictionText(plan.whole)],
    ...(size.spare > 0 ? [['Spare lost', predictionText(plan.reduced)] as [string, string]] : []),
    ['Ends at', endsText(plan.capacity)],
    [
      isSplit ? 'Each database' : 'Database',
      `${database.commits_per_s} commits a second, log ${database.log_mb_per_s} MB/s, ${counted(database.cores, 'core')}, ${database.connections} connections`,
    ],
    [
      'Its disk',
      `${database.users_gb} GB of users, ${database.kept_a_day_gb} GB kept for a day, and ${database.growth_gb_per_day} GB of audit log more a day, at this load all day`,
    ],
    [
      'Figures',
      `engine ${figures.engine_ms} ms, main thread ${figures.main_ms} ms, in its lane ${figures.lane_ms} ms, sync ${figures.sync_ms} ms, round trip ${figures.round_trip_ms} ms`,
    ],
    [
      'Accuracy',
      `p99 within ${percent(ACCURACY.simulation.p99)} of the simulation, ${percent(ACCURACY.runs.p99)} of the measured runs; capacity within ${percent(ACCURACY.simulation.capacity)} and ${percent(ACCURACY.runs.capacity)}`,
    ],
  ]
  if (!isSplit) return fields(rows)
  return `${fields(rows)}\n\nNo number of nodes carries this load over one database: with ${counted(size.databaseCores, 'core')} it carries ${database.most_verifies_per_s} verifies a second of these tenants at this p99.\nDivide the tenants among ${all.clusters} clusters (docs/scale.md).`
}

/** What to do where no number of machines is enough. */
export function obstacleText(obstacle: Obstacle, p99Ms: number): string {
  switch (obstacle.kind) {
    case 'too_slow':
      return `No number of machines makes 99 of 100 verifies in ${p99Ms} ms: on machines that have nothing else to do they take ${Math.ceil(obstacle.alone.p99Ms)} ms. Allow more with --p99, bring the database nearer, or take faster cores.`
    case 'tenant_too_large':
      return `No number of nodes carries the busiest tenant: it brings ${Math.round(obstacle.tenantPerSecond)} verifies a second, and one database commits ${Math.floor(obstacle.most)} of one tenant at this p99, one group after the other. Divide it into several tenants, or bring the database nearer (--round-trip-ms, --sync-ms).`
  }
}

function predictionView(prediction: Prediction) {
  return {
    p50_ms: round(prediction.p50Ms, 1),
    p99_ms: round(prediction.p99Ms, 1),
    engine_busy: round(prediction.engineUtilisation, 3),
    main_thread_busy: round(prediction.mainUtilisation, 3),
    lane_busy: round(prediction.laneUtilisation, 3),
    verifies_per_commit: round(prediction.jobsPerCommit, 2),
  }
}

/** The lane is null where the main threads end before it. */
function endsView({ engine, main, lane }: Capacity) {
  return {
    engine: Math.floor(engine),
    main_threads: Math.floor(main),
    lane: Math.floor(lane) < Math.floor(main) ? Math.floor(lane) : null,
  }
}

/** First what ends first. */
function endsText(capacity: Capacity): string {
  const { engine, main_threads, lane } = endsView(capacity)
  const ends: Array<[string, number | null]> = [
    ['engine', engine],
    ['main threads', main_threads],
    ['busiest lane', lane],
  ]
  const found = ends.filter((end): end is [string, number] => end[1] !== null)
  const told = found.toSorted(([, a], [, b]) => a - b).map(([name, most]) => `${name} ${most}`)
  return `${told.join(', ')} verifies a second${lane === null ? '; the busiest lane after the main threads' : ''}`
}

function predictionText(prediction: Prediction): string {
  const { engineUtilisation, mainUtilisation, laneUtilisation, p50Ms, p99Ms } = prediction
  return `p50 ${Math.round(p50Ms)} ms, p99 ${Math.round(p99Ms)} ms; busy: engine ${percent(engineUtilisation)}, main thread ${percent(mainUtilisation)}, busiest lane ${percent(laneUtilisation)}`
}

function memoryMib({ servicesPerNode, workersPerService }: Plan): number {
  return servicesPerNode * (MEMORY_MIB.service + workersPerService * MEMORY_MIB.worker)
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
