/** Opens the resources that a service opens first and closes last: database, model pack, engine and metrics. */
import type { Logger } from 'pino'
import { loadModelPack } from '../../models/pack/model-pack.js'
import { assertLivenessServed, assertMayFollow, assertServable } from '../../models/pack/pack-grade.js'
import type { Core } from '../admin/core.js'
import { Engine } from '../biometrics/engine/engine.js'
import { type Config, followingPackDirs, isPostgres, modelPackDir } from '../config/config.js'
import type { Feature, ListedFeature } from '../features/feature.js'
import { FEATURES, loadFeatures } from '../features/index.js'
import { chooseTransport, type Transport } from '../http/listeners/transport.js'
import { Metrics, type MetricsPlace } from '../http/metrics/metrics.js'
import { type Clock, systemClock } from '../lib/clock.js'
import { whenDatabaseIsReachable } from '../storage/await-database.js'
import { type CoreOptions, openCore } from './core.js'
import { engineOptions } from './engine-options.js'
import { createLog } from './log.js'

export interface ServiceOptions {
  clock?: Clock
  log?: Logger
  /** Serve with a pack of any grade, as `serve --demo` does. */
  acceptsAnyPack?: boolean
  /** Set for one of several processes of this machine that listen at the same addresses. */
  place?: MetricsPlace | undefined
  /** Ends a start that waits for its database. */
  signal?: AbortSignal
  /** Default: all features. */
  features?: readonly ListedFeature[]
}

export interface ServiceResources {
  config: Config
  clock: Clock
  log: Logger
  core: Core
  engine: Engine
  metrics: Metrics
  /** The HTTP server behind all listeners. */
  transport: Transport
  /** Other processes of this machine listen at the same addresses. */
  sharesPorts: boolean
  features: readonly Feature[]
}

/** Closes what a start that failed has opened. */
export async function closeResources({ core, engine }: ServiceResources): Promise<void> {
  await engine.close()
  await core.store.close()
}

/**
 * Starts the engine, and meanwhile loads the features and opens the database: the networks are loaded by another process. Waits for a
 * PostgreSQL database that does not answer yet. When this rejects, nothing is left open.
 */
export async function openResources(config: Config, options: ServiceOptions = {}): Promise<ServiceResources> {
  const log = options.log ?? createLog(config)
  const place = {
    clock: options.clock ?? systemClock,
    log,
    metrics: new Metrics(config.metricsTenants, options.place),
    sharesPorts: options.place !== undefined,
  }
  const acceptPacks = await assertPacksServable(config, options)
  const ending = new AbortController()
  const signal = AbortSignal.any([ending.signal, ...(options.signal ? [options.signal] : [])])
  const engine = Engine.start({
    ...engineOptions(config),
    followingPackDirs: followingPackDirs(config),
    signal,
    onIncident: (incident) => {
      place.metrics.countIncident(incident)
      log.error({ kind: incident.kind, err: incident.error }, 'engine incident')
    },
  })
  const opening = openParts(config, options.features ?? FEATURES, { ...place, signal })
  try {
    const [started, opened] = await Promise.all([engine, opening])
    return { ...place, ...opened, engine: started, config: { ...config, acceptPacks } }
  } catch (error) {
    // The first failure ends the other part too, whose own reason is then only that it was ended.
    ending.abort(error)
    await Promise.allSettled([
      engine.then((started) => started.close()),
      opening.then(({ core }) => core.store.close()),
    ])
    if (options.signal?.aborted) log.info('stopped')
    throw error
  }
}

/** @returns the packs that are accepted by name @throws ModelPackError, ConfigError for a pack that may not be served */
async function assertPacksServable(config: Config, { acceptsAnyPack }: ServiceOptions): Promise<string[]> {
  const pack = await loadModelPack(modelPackDir(config))
  const following = await Promise.all(followingPackDirs(config).map(loadModelPack))
  const acceptPacks = acceptsAnyPack
    ? [pack, ...following].map(({ manifest }) => manifest.id)
    : config.acceptPacks
  assertServable(pack, config.fmr, acceptPacks)
  for (const one of following) assertMayFollow(one, config.fmr, acceptPacks)
  for (const one of [pack, ...following])
    assertLivenessServed(one, config.requireLiveness, 'COUNTERSIGN_REQUIRE_LIVENESS')
  return acceptPacks
}

type OpenedParts = Pick<ServiceResources, 'core' | 'features' | 'transport'>

/** Loads the features and opens what they and the service read. When this rejects, nothing is left open. */
async function openParts(
  config: Config,
  listed: readonly ListedFeature[],
  { clock, log, signal }: { clock: Clock; log: Logger; signal: AbortSignal },
): Promise<OpenedParts> {
  const offered = await loadFeatures(listed)
  const transport = await chooseTransport(config.http)
  const open = () => openToWrite(config, clock, { serving: true, features: listed })
  const core = isPostgres(config) ? await whenDatabaseIsReachable(open, { log, signal }) : await open()
  try {
    const features = await Promise.all(
      offered.map(async (feature) => ({ ...feature, ...(await feature.open?.(core, config, clock)) })),
    )
    log.info({ workers: config.workers, limit: config.workersLimit }, 'the workers load their networks')
    return { core, features, transport }
  } catch (error) {
    await core.store.close()
    throw error
  }
}

/** Checks that the database can be written: opening it only reads, so the first call would find out otherwise. */
async function openToWrite(config: Config, clock: Clock, options: CoreOptions): Promise<Core> {
  const core = await openCore(config, clock, options)
  try {
    await core.store.assertWritable()
    return core
  } catch (error) {
    await core.store.close()
    throw error
  }
}
