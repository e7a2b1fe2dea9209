/** The composition root: opens what a service needs, starts its parts in order, and stops them in reverse. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Core } from '../admin/core.js'
import type { Engine } from '../biometrics/engine/engine.js'
import type { Config, Environment } from '../config/config.js'
import type { PublicListener } from '../config/listener-settings.js'
import type { FirstPassword } from '../features/feature.js'
import type { ApiServer } from '../http/api-server.js'
import type { Transport } from '../http/listeners/transport.js'
import { showCalibration, watchEngine } from '../http/metrics/engine-metrics.js'
import type { MetricsSnapshot } from '../http/metrics/metrics.js'
import { watchModelMigration } from '../http/metrics/model-migration-metrics.js'
import { watchStore } from '../http/metrics/store-metrics.js'
import { watchClock, watchUpkeep } from '../http/metrics/upkeep-metrics.js'
import { Readiness } from '../http/readiness.js'
import { auditVerificationStatus } from '../jobs/audit-verification.js'
import type { StopStep } from '../jobs/job.js'
import { type Clock, SECOND_MS } from '../lib/clock.js'
import { filesState } from '../lib/replaced-files.js'
import { foreignReferences } from '../users/foreign-references.js'
import { createApiServer } from './api-servers.js'
import { type BackgroundWork, createBackgroundWork, ofAll, startBackgroundWork } from './background-work.js'
import { clusterSettings } from './cluster-settings.js'
import { ServiceListeners } from './listeners.js'
import { openListeners } from './open-listeners.js'
import { gradeWarning, rateWarnings } from './pack-warnings.js'
import { Certificates } from './reload.js'
import { closeResources, openResources, type ServiceOptions, type ServiceResources } from './resources.js'
import { createSharedParts } from './shared-parts.js'

/** How long replies under way may take beyond their own deadline. */
const DRAIN_GRACE_MS = SECOND_MS
/** They serve /readyz and metrics until all else has ended. */
const LAST_LISTENERS = ['admin', 'metrics'] as const

export class Service {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly core: Core
  readonly engine: Engine
  /** Null where nobody signs in by one. */
  readonly operatorPassword: FirstPassword | null
  /** The HTTP server behind all listeners. */
  readonly transport: Transport
  private readonly startedAt: number
  private readonly readiness: Readiness
  private readonly certificates: Certificates
  private readonly listeners: ServiceListeners
  private readonly servers: ApiServer[] = []
  private isStarted = false
  private isLeaving = false
  private stopping: Promise<void> | null = null
  private reloading: Promise<unknown> = Promise.resolve()

  private constructor(
    private readonly resources: ServiceResources,
    private readonly work: BackgroundWork,
  ) {
    const { config, clock, log, core, engine, transport, sharesPorts, features } = resources
    this.config = config
    this.clock = clock
    this.log = log
    this.core = core
    this.engine = engine
    this.operatorPassword = ofAll(work.features, 'operatorPassword')[0] ?? null
    this.transport = transport
    this.startedAt = clock.now()
    this.readiness = this.createReadiness()
    this.certificates = new Certificates(clock, log)
    const listenersOfFeatures = features.flatMap(({ listener }) => listener ?? [])
    this.listeners = new ServiceListeners(config, transport, sharesPorts, listenersOfFeatures)
  }

  /** Resolves when the engine is warm and all configured addresses listen. When it rejects, nothing is left running. */
  static async start(config: Config, options: ServiceOptions = {}): Promise<Service> {
    const resources = await openResources(config, options)
    const work = await createBackgroundWork(resources).catch(async (error) => {
      await closeResources(resources)
      throw error
    })
    const service = new Service(resources, work)
    try {
      await service.begin()
    } catch (error) {
      await service.stop()
      throw error
    }
    return service
  }

  private async begin(): Promise<void> {
    const { resources, config, core, work, listeners, certificates, readiness, startedAt } = this
    // Before the first call: the keys may have been changed while the engine started.
    await work.keyWatch.start()
    this.showStateInMetrics()
    const shared = createSharedParts(resources)
    const production = createApiServer('production', resources, work, listeners, shared)
    const sandbox = createApiServer('sandbox', resources, work, listeners, shared)
    this.servers.push(production, sandbox)
    await openListeners({
      resources,
      work,
      listeners,
      shared,
      certificates,
      readiness,
      startedAt,
      servers: { production, sandbox },
    })
    watchUpkeep(resources.metrics.registry, {
      expiries: () => certificates.expiries(),
      store: core.store,
      auditVerification: () => auditVerificationStatus(core.store, core.audit),
      dataDir: config.dataDir,
    })
    await startBackgroundWork(work, clusterSettings(config, this.engine, listeners, work.features))
    this.isStarted = true
    readiness.start()
  }

  private showStateInMetrics(): void {
    const { resources, core, engine, work, readiness } = this
    const { metrics, transport } = resources
    const { registry, tenantLimit } = metrics
    watchEngine(registry, () => engine.health())
    showCalibration(registry, engine.pack.calibration)
    watchStore(registry, core.store)
    metrics.watchReadiness(readiness)
    watchClock(registry, { jumps: work.clockWatch.jumps, aheadMs: () => work.leaderLease.clockAheadMs })
    const progress = () => (work.leaderLease.current() ? core.operations.modelSweep.progress : null)
    watchModelMigration(registry, progress, tenantLimit)
    metrics.showTransport(transport)
    metrics.showBuild(core.store.schema)
  }

  private createReadiness(): Readiness {
    const { core, engine, work, log } = this
    return new Readiness(
      {
        isStarted: () => this.isStarted,
        isStopping: () => this.isStopping,
        engine: () => engine.health(),
        isClockRight: () => work.leaderLease.isClockRight,
        areKeysCurrent: () => work.keyWatch.isCurrent,
        isSchemaCurrent: () => work.membership.isCurrent,
        filesState,
        store: core.store,
      },
      log,
    )
  }

  /** Base URL of an environment with its real port, ending in /v1. */
  url(environment: Environment): string {
    return this.listeners.url(environment)
  }

  get adminUrl(): string {
    return this.listeners.adminUrl
  }

  /** Origin under which browsers reach the listener of a feature; null where it is not served. */
  origin(listener: PublicListener): string | null {
    return this.listeners.origin(listener)
  }

  /** Addresses of the admin listener and of the other listeners that are open. */
  get addresses(): ServiceListeners['addresses'] {
    return this.listeners.addresses
  }

  /** True from the moment that `stop` was called. */
  get isStopping(): boolean {
    return this.stopping !== null
  }

  /** Sentences for the operator about the model pack, and about users who were enrolled with another one. */
  async packWarnings(): Promise<string[]> {
    const { engine, config, core } = this
    const { read } = core.store
    const warnings = [gradeWarning(engine, config), await foreignReferences(read, engine.pack.modelId)]
    return [...warnings.filter((warning) => warning !== null), ...(await rateWarnings(engine, read))]
  }

  /** Applies log level and certificates of `next`, one reload after the other. @returns whether every certificate could be used */
  reload(next: Config): Promise<boolean> {
    const reloaded = this.reloading.then(() => {
      if (this.stopping || this.isLeaving) return true
      this.log.level = next.logLevel
      return this.certificates.renew(next)
    })
    this.reloading = reloaded
    return reloaded
  }

  metricsSnapshot(): Promise<MetricsSnapshot> {
    return this.resources.metrics.snapshot()
  }

  /** Leaves new connections to the other processes that listen at the same addresses, and stops when no connection is left. */
  async leave(): Promise<void> {
    this.isLeaving = true
    await this.reloading
    await this.listeners.retire()
    await this.stop()
  }

  /** Reports `stopping` at /readyz, goes on serving for the lame-duck time, then shuts down. Later calls join the first. */
  stop(): Promise<void> {
    this.stopping ??= (async () => {
      // A process that leaves has handed its connections to others already, and a start that failed has served nobody.
      const isServing = this.isStarted && !this.isLeaving
      this.isStarted = false
      if (isServing && this.config.lameDuckMs > 0) await sleep(this.config.lameDuckMs)
      await this.shutDown()
    })()
    return this.stopping
  }

  /**
   * 1. The APIs refuse further requests with `shutting_down`, and retention and audit verification begin nothing more.
   * 2. The listeners of the APIs and of features stop accepting and answer what is under way.
   * 3. The engine drains: a worker inside ONNX Runtime must not be ended, since that would abort the process. Jobs of features under way end.
   * 4. The lease and the membership are given up, so that another node takes over at once.
   * 5. The admin listener, which served /readyz and metrics until now, is closed.
   * 6. The last counts and log entries are saved; then the database is closed.
   */
  private async shutDown(): Promise<void> {
    const { work, listeners, config, core, engine } = this
    const stopped = (step: StopStep) => Promise.all((work.jobs[step] ?? []).map((job) => job.stop()))
    for (const server of this.servers) server.draining = true
    const ended = stopped('atOnce')
    work.keyWatch.stop()
    // A listener that a reload is opening would stay open.
    await this.reloading
    await listeners.closeAllBut(LAST_LISTENERS, config.deadlineMs + DRAIN_GRACE_MS)
    await stopped('answered')
    core.store.leave()
    await Promise.all([engine.close(), stopped('drained')])
    await work.leaderLease.stop()
    await work.membership.stop()
    await this.readiness.stop()
    await ended
    await listeners.close(LAST_LISTENERS, DRAIN_GRACE_MS)
    await stopped('last')
    await core.store.close()
  }
}
