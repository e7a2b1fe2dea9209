/** Opens the resources that a service opens first and closes last: database, model pack, engine, metrics and traces. */
import type { Logger } from 'pino'
import { loadModelPack } from '../../models/pack/model-pack.js'
import { assertLivenessServed, assertMayFollow, assertServable } from '../../models/pack/pack-grade.js'
import type { Core } from '../admin/core.js'
import { Engine } from '../biometrics/engine/engine.js'
import { type Config, followingPackDirs, isPostgres, modelPackDir } from '../config/config.js'
import type { Feature, ListedFeature } from '../features/feature.js'
import { FEATURES, loadFeatures, tablesOf } from '../features/index.js'
import { chooseTransport, type Transport } from '../http/listeners/transport.js'
import { Metrics, type MetricsPlace } from '../http/metrics/metrics.js'
import type { Tracing } from '../http/observation/tracing.js'
import { type Clock, systemClock } from '../lib/clock.js'
import { whenDatabaseIsReachable } from '../storage/await-database.js'
import { type CoreOptions, openCore } from './core.js'
import { serviceEngineOptions } from './engine-options.js'
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
  /** Null where no traces are asked for. */
  tracing: Tracing | null
  /** The HTTP server behind all listeners. */
  transport: Transport
  /** Other processes of this machine listen at the same addresses. */
  sharesPorts: boolean
  features: readonly Feature[]
}

/** Closes what a start that failed has opened. */
export async function closeResources({ core, engine, tracing }: ServiceResources): Promise<void> {
  await engine.close()
  await core.store.close()
  await tracing?.stop()
}

/** Waits for a PostgreSQL database that does not answer yet. When this rejects, nothing is left open. */
export async function openResources(config: Config, options: ServiceOptions = {}): Promise<ServiceResources> {
  const clock = options.clock ?? systemClock
  const log = options.log ?? createLog(config)
  const listed = options.features ?? FEATURES
  const offered = await loadFeatures(listed)
  const opening = { serving: true, tables: tablesOf(listed) }
  const pack = await loadModelPack(modelPackDir(config))
  const following = await Promise.all(followingPackDirs(config).map(loadModelPack))
  const acceptPacks = options.acceptsAnyPack
    ? [pack, ...following].map(({ manifest }) => manifest.id)
    : config.acceptPacks
  assertServable(pack, config.fmr, acceptPacks)
  for (const one of following) assertMayFollow(one, config.fmr, acceptPacks)
  for (const one of [pack, ...following])
    assertLivenessServed(one, config.requireLiveness, 'COUNTERSIGN_REQUIRE_LIVENESS')
  for (const feature of offered) feature.assertSettings?.(config)
  const transport = await chooseTransport(config.http)
  const core = isPostgres(config)
    ? await whenDatabaseIsReachable(() => openToWrite(config, clock, opening), {
        log,
        signal: options.signal,
      })
    : await openToWrite(config, clock, opening)
  try {
    const metrics = new Metrics(config.metricsTenants, options.place)
    const features = await Promise.all(
      offered.map(async (feature) => ({ ...feature, ...(await feature.open?.(core, config)) })),
    )
    const tracing = await startTracing(config, log)
    log.info({ workers: config.workers, limit: config.workersLimit }, 'the workers load their networks')
    const engine = await Engine.start({
      ...serviceEngineOptions(config),
      signal: options.signal,
      onIncident: (incident) => {
        metrics.engine.countIncident(incident)
        log.error({ kind: incident.kind, err: incident.error }, 'engine incident')
      },
    })
    return {
      config: { ...config, acceptPacks },
      clock,
      log,
      core,
      engine,
      metrics,
      tracing,
      transport,
      sharesPorts: options.place !== undefined,
      features,
    }
  } catch (error) {
    await core.store.close()
    if (options.signal?.aborted) log.info('stopped')
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

/** Loads the packages of OpenTelemetry, which are large, only where traces are wanted. */
async function startTracing(
  { otlpEndpoint, otelServiceName, otelVariables }: Config,
  log: Logger,
): Promise<Tracing | null> {
  if (!otlpEndpoint) return null
  const { Tracing } = await import('../http/observation/tracing.js')
  // OpenTelemetry reads the environment itself, where a variable wins over the configuration file.
  for (const [name, value] of Object.entries(otelVariables)) process.env[name] ??= value
  return Tracing.start(otlpEndpoint, otelServiceName, log)
}
