/** The composition root: builds every part from the configuration, starts them in order and stops them in reverse. */
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { packFingerprint } from '../../models/pack/calibration.js'
import { loadModelPack } from '../../models/pack/model-pack.js'
import {
  assertLivenessServed,
  assertServable,
  describeUnreached,
  gradeOf,
} from '../../models/pack/pack-grade.js'
import { scripted } from '../api/scripted-endpoint.js'
import type { Services } from '../api/services.js'
import { Engine } from '../biometrics/engine/engine.js'
import { CaptureServer, UPLOAD_MS } from '../capture-page/capture-server.js'
import { LeaderLease } from '../cluster/leader-lease.js'
import { Membership } from '../cluster/membership.js'
import {
  adminHosts,
  adminUrl,
  type Config,
  captureOrigin,
  type Environment,
  environmentUrl,
  isPostgres,
  type ListenAddress,
  modelPackDir,
  SETTINGS,
  type SettingName,
  sqliteFile,
} from '../config/config.js'
import { AdminApi } from '../dashboard/admin-api.js'
import { adminHandler, metricsHandler } from '../dashboard/admin-server.js'
import { HostGuard } from '../dashboard/host-guard.js'
import { loadOperatorPassword, type OperatorPassword } from '../dashboard/operator-password.js'
import { RequestLog } from '../dashboard/request-log.js'
import { sessionTimes } from '../dashboard/session-times.js'
import { Sessions } from '../dashboard/sessions.js'
import { Traffic } from '../dashboard/traffic.js'
import { ApiServer } from '../http/api-server.js'
import { BodyBudget, type BodyShare } from '../http/bodies/body-budget.js'
import { ClientAddresses } from '../http/listeners/client-address.js'
import { AddressError, type Listener } from '../http/listeners/listener.js'
import { listenerBounds } from '../http/listeners/listener-bounds.js'
import { chooseTransport, listen, type Transport } from '../http/listeners/transport.js'
import { Metrics, type MetricsPlace, type MetricsSnapshot } from '../http/metrics/metrics.js'
import { buildOpenApi } from '../http/openapi/openapi.js'
import { Readiness } from '../http/readiness.js'
import { DESCRIPTIONS, endpoints } from '../http/routes.js'
import { SandboxLimits } from '../http/sandbox-limits.js'
import type { Tracing } from '../http/tracing.js'
import { WrongKeys } from '../http/wrong-keys.js'
import { Idempotency } from '../idempotency/idempotency.js'
import { AuditVerification, auditBreak, auditVerificationStatus } from '../jobs/audit-verification.js'
import { ClockWatch } from '../jobs/clock-watch.js'
import { RetentionJob } from '../jobs/retention.js'
import { ScheduledEpochRotation } from '../keys/scheduled-epoch-rotation.js'
import { type Clock, DAY_MS, HOUR_MS, SECOND_MS, systemClock } from '../lib/clock.js'
import { VERSION } from '../lib/version.js'
import { whenDatabaseIsReachable } from '../storage/await-database.js'
import { LocalRateLimiter, type RateLimiter } from '../tenants/rate-limiter.js'
import { SharedRateLimiter } from '../tenants/shared-rate-limiter.js'
import { foreignReferences } from '../users/foreign-references.js'
import { AttemptLockout, defaultAttempts, NO_LOCKOUT } from '../verification/attempt-lockout.js'
import { NO_CAPTURES, StoredCaptures } from '../verification/capture-memory.js'
import { CaptureSessionBook } from '../verification/capture-session-book.js'
import { ChallengeBook } from '../verification/challenge-book.js'
import { EngineProvider } from '../verification/engine-provider.js'
import { SandboxProvider } from '../verification/sandbox-provider.js'
import { SandboxUsers } from '../verification/sandbox-users.js'
import { CaptureSessionEvents } from '../webhooks/capture-session-events.js'
import { WebhookSender } from '../webhooks/webhook-sender.js'
import { type Core, openCore } from './core.js'
import { engineOptions } from './engine-options.js'
import { KeyWatch } from './key-watch.js'
import { createLog } from './log.js'
import { Certificates, tlsFiles } from './reload.js'

/** Its packages are large: they are loaded only where traces are wanted. */
async function startTracing(
  { otlpEndpoint, otelServiceName, otelVariables }: Config,
  log: Logger,
): Promise<Tracing | null> {
  if (!otlpEndpoint) return null
  const { Tracing } = await import('../http/tracing.js')
  // Its own libraries read the environment, which wins over the file.
  for (const [name, value] of Object.entries(otelVariables)) process.env[name] ??= value
  return Tracing.start(otlpEndpoint, otelServiceName, log)
}

export interface ServiceOptions {
  clock?: Clock
  log?: Logger
  /** Whatever its grade, the pack may serve. */
  acceptsAnyPack?: boolean
  /** One of several processes of this machine, which listen at the same addresses. */
  place?: MetricsPlace | undefined
  /** Ends a start that waits for its database. */
  signal?: AbortSignal
}

/** Opening a database only reads; that it cannot be written would show at the first call. */
async function openToWrite(config: Config, clock: Clock): Promise<Core> {
  const core = await openCore(config, clock, { serving: true })
  try {
    await core.store.assertWritable()
    return core
  } catch (error) {
    await core.store.close()
    throw error
  }
}

/** Of the memory for bodies: whatever sandbox and dashboard are sent, production has the other half. */
const LESSER_SHARE = 0.5
/** How long replies under way may take at shutdown, beyond their own deadline. */
const DRAIN_GRACE_MS = SECOND_MS

export class Service {
  private ready = false
  private stopping: Promise<void> | null = null
  private isLeaving = false
  private readonly retention: RetentionJob
  private readonly captureEvents: CaptureSessionEvents
  private readonly keyWatch: KeyWatch
  private readonly leaderLease: LeaderLease
  private readonly clockWatch: ClockWatch
  private readonly membership: Membership
  private readonly readiness: Readiness
  private readonly auditVerification: AuditVerification
  private readonly epochKeeper: ScheduledEpochRotation | null
  private readonly certificates: Certificates
  private reloading: Promise<unknown> = Promise.resolve()
  private readonly webhooks: WebhookSender
  private readonly traffic: Traffic
  private readonly requestLog: RequestLog
  private openApiText: string | null = null
  private readonly servers: Partial<Record<Environment, ApiServer>> = {}
  private readonly listeners: Partial<Record<Environment | 'admin' | 'metrics' | 'capture', Listener>> = {}
  private readonly startedAt: number

  private constructor(
    readonly config: Config,
    readonly clock: Clock,
    readonly log: Logger,
    readonly core: Core,
    readonly engine: Engine,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing | null,
    readonly operatorPassword: OperatorPassword,
    /** The HTTP server behind all listeners. */
    readonly transport: Transport,
    private readonly sharesPorts: boolean,
  ) {
    this.startedAt = clock.now()
    this.leaderLease = new LeaderLease(core.store, log)
    this.clockWatch = new ClockWatch(clock, log)
    this.membership = new Membership(core.store, log)
    this.captureEvents = new CaptureSessionEvents(
      { ...core, clock },
      // A capture that was sent in time is uploaded and judged by then.
      UPLOAD_MS + config.deadlineMs,
    )
    this.retention = new RetentionJob(core.store, clock, log, this.leaderLease, {
      sandboxRetentionMs: config.sandboxRetentionDays * DAY_MS,
      requestLogMs: config.requestLogDays * DAY_MS,
      reportExpired: (isOn) => this.captureEvents.reportExpired(isOn),
    })
    this.keyWatch = new KeyWatch(core, config, log)
    this.epochKeeper = this.makeEpochKeeper()
    this.readiness = this.makeReadiness()
    this.auditVerification = new AuditVerification({ ...core, clock, log, leaderLease: this.leaderLease })
    this.certificates = new Certificates(clock, log)
    const { leaderLease } = this
    this.webhooks = new WebhookSender({
      ...core,
      clock,
      log,
      leaderLease,
      observe: metrics.countWebhookAttempt,
    })
    this.traffic = new Traffic(core.store, clock, log)
    this.requestLog = new RequestLog({ ...core, clock, log, config })
    core.audit.observeBreaks(({ tenantId, sealedSequence, foundSequence }) => {
      metrics.countAuditBreak()
      log.error(
        { tenant_id: tenantId, sealed_sequence: sealedSequence, found_sequence: foundSequence },
        'an audit log was changed in the database: its end is not the one that was sealed; run countersign audit verify',
      )
    })
  }

  /** Resolves when the engine is warm and all three addresses listen; when it rejects, nothing is left running. */
  static async start(config: Config, options: ServiceOptions = {}): Promise<Service> {
    const clock = options.clock ?? systemClock
    const log = options.log ?? createLog(config)
    const pack = await loadModelPack(modelPackDir(config))
    const accepted = options.acceptsAnyPack ? pack.manifest.id : config.acceptPack
    assertServable(pack, config.fmr, accepted)
    assertLivenessServed(pack, config.requireLiveness, 'COUNTERSIGN_REQUIRE_LIVENESS')
    const transport = await chooseTransport(config.http)
    const core = isPostgres(config)
      ? await whenDatabaseIsReachable(() => openToWrite(config, clock), { log, signal: options.signal })
      : await openToWrite(config, clock)
    const metrics = new Metrics(config.metricsTenants, options.place)
    try {
      const operatorPassword = await loadOperatorPassword(config, core.store.shared)
      const tracing = await startTracing(config, log)
      const engine = await Engine.start({
        ...engineOptions(config),
        onIncident: (incident) => {
          metrics.engine.countIncident(incident)
          log.error({ kind: incident.kind, err: incident.error }, 'engine incident')
        },
      })
      const service = new Service(
        { ...config, acceptPack: accepted },
        clock,
        log,
        core,
        engine,
        metrics,
        tracing,
        operatorPassword,
        transport,
        options.place !== undefined,
      )
      try {
        await service.listen()
      } catch (error) {
        await service.stop()
        throw error
      }
      return service
    } catch (error) {
      await core.store.close()
      throw error
    }
  }

  private async listen(): Promise<void> {
    const { config, core, engine, metrics, operatorPassword, transport } = this
    // Before the first call: while the engine started, the keys may have been changed.
    await this.keyWatch.start()
    metrics.engine.watch(() => engine.health())
    metrics.watchStore(core.store)
    metrics.watchReadiness(this.readiness)
    metrics.watchClock({ jumps: this.clockWatch.jumps, aheadMs: () => this.leaderLease.clockAheadMs })
    metrics.showTransport(transport)
    metrics.showBuild(core.store.schema)
    const parts = this.sharedParts()
    const production = this.apiServer('production', parts)
    const sandbox = this.apiServer('sandbox', parts)
    Object.assign(this.servers, { production, sandbox })

    const { productionListen, sandboxListen, adminListen, metricsListen } = config
    const tls = tlsFiles(config, 'api')
    const bounds = this.bounds()
    const bodies = new BodyBudget(config.bodyMemoryBytes)
    metrics.watchBodies(bodies)
    const lesser = bodies.share(LESSER_SHARE)
    this.listeners.production = await listenAt(
      'productionListen',
      {
        ...{ ...bounds, bodies: bodies.share(1), address: productionListen, tls },
        clientCertificates: config.productionClientCertificates,
        handler: production.handle,
      },
      transport,
    )
    this.listeners.sandbox = await listenAt(
      'sandboxListen',
      {
        ...{ ...bounds, bodies: lesser, address: sandboxListen, tls },
        clientCertificates: config.sandboxClientCertificates,
        handler: sandbox.handle,
      },
      transport,
    )
    const api = new AdminApi({
      ...parts,
      core,
      sessions: new Sessions({
        store: parts.store,
        clock: parts.clock,
        operatorPassword,
        signIns: core.operations.signIns,
        isSecure: this.adminUrl.startsWith('https:'),
        attempts: this.rateLimiter(),
        secondFactors: core.operations.secondFactors,
        isPasswordSignIn: { operators: config.operatorPasswordSignIn, tenants: config.tenantPasswordSignIn },
        times: sessionTimes(config),
      }),
      apis: { production: production.handle, sandbox: sandbox.handle },
      urls: () => ({
        production: this.url('production'),
        sandbox: this.url('sandbox'),
        admin: this.adminUrl,
      }),
      certificates: () => this.certificates.expiries(),
      countEffect: metrics.countEffect,
      countRefusal: metrics.countDashboardRefusal,
      operatingPoint: (fmr) => parts.provider.operatingPoint(fmr),
      startedAt: this.startedAt,
    })
    const hosts = new HostGuard(adminHosts(config), parts.clock, metrics.countDashboardRefusal)
    const handler = adminHandler({
      api: api.handle,
      sandbox: sandbox.handle,
      metrics: metricsListen ? null : metrics,
      openApi: parts.openApi,
      hosts,
      readiness: this.readiness,
      nodes: () => this.membership.nodes,
      log: this.log,
    })
    const adminTls = tlsFiles(config, 'admin')
    const shared = { ...bounds, bodies: lesser, tls: adminTls }
    this.listeners.admin = await listenAt(
      'adminListen',
      { ...shared, address: adminListen, handler },
      transport,
    )
    if (metricsListen)
      this.listeners.metrics = await listenAt(
        'metricsListen',
        { ...shared, address: metricsListen, handler: metricsHandler(metrics, hosts, this.log) },
        transport,
      )
    await this.listenForCaptures(parts, lesser)
    this.certificates.add('api', [this.listeners.production, this.listeners.sandbox], tls)
    const { admin, metrics: ofMetrics } = this.listeners
    this.certificates.add('admin', ofMetrics ? [admin, ofMetrics] : [admin], adminTls)
    metrics.watchUpkeep({
      expiries: () => this.certificates.expiries(),
      store: core.store,
      auditVerification: () => auditVerificationStatus(core.store, core.audit),
      dataDir: config.dataDir,
    })
    await this.membership.start(this.sharedSettings())
    await this.leaderLease.start()
    this.retention.start()
    this.auditVerification.start()
    this.webhooks.start()
    this.epochKeeper?.start()
    this.traffic.start()
    this.requestLog.start()
    this.clockWatch.start()
    this.ready = true
    this.readiness.start()
  }

  private bounds() {
    return { ...listenerBounds(this.config), sharesPort: this.sharesPorts }
  }

  /** The database's keys and schema are those that this service works with. */
  private get isInStep(): boolean {
    return this.keyWatch.isCurrent && this.membership.isCurrent
  }

  /** What a caller could tell one service from another by. */
  private sharedSettings(): Record<string, string> {
    const { config, engine } = this
    return {
      COUNTERSIGN_MODEL_PACK: `${engine.pack.modelId} ${packFingerprint(engine.pack.manifest).slice(0, 12)}`,
      COUNTERSIGN_FMR: String(config.fmr),
      COUNTERSIGN_REQUIRE_LIVENESS: config.requireLiveness,
      COUNTERSIGN_REPLAY_POLICY: config.replayPolicy,
      COUNTERSIGN_EPOCH_KEYS: config.epochKeys === undefined ? 'none' : 'given',
      COUNTERSIGN_EPOCH_HOURS: String(config.epochHours),
      COUNTERSIGN_EPOCH_RETENTION_HOURS: String(config.epochRetentionHours),
      COUNTERSIGN_LOCKOUT_ATTEMPTS: String(config.lockoutAttempts ?? 'default'),
      COUNTERSIGN_PRODUCTION_URL: this.url('production'),
      COUNTERSIGN_SANDBOX_URL: this.url('sandbox'),
      COUNTERSIGN_ADMIN_URL: this.adminUrl,
      COUNTERSIGN_CAPTURE_URL: this.capturePage ?? 'none',
    }
  }

  private makeReadiness(): Readiness {
    const { core, engine, leaderLease, keyWatch, membership, log } = this
    return new Readiness(
      {
        isStarted: () => this.ready,
        isStopping: () => this.stopping !== null,
        engine: () => engine.health(),
        isClockRight: () => leaderLease.isClockRight,
        areKeysCurrent: () => keyWatch.isCurrent,
        isSchemaCurrent: () => membership.isCurrent,
        store: core.store,
      },
      log,
    )
  }

  private makeEpochKeeper(): ScheduledEpochRotation | null {
    const { config, core, clock, log, leaderLease } = this
    const { folder } = this.keyWatch
    if (!folder) return null
    return new ScheduledEpochRotation({
      ...{ ...core, folder, clock, log, leaderLease },
      intervalMs: config.epochHours * HOUR_MS,
      retentionMs: config.epochRetentionHours * HOUR_MS,
      reloadKeys: () => this.keyWatch.look(),
    })
  }

  /** The hosted capture page, where it is asked for. */
  private async listenForCaptures(parts: SharedParts, bodies: BodyShare): Promise<void> {
    const { config, servers, transport } = this
    const address = config.captureListen
    if (!address) return
    const { production, sandbox } = servers
    // Links need the port that the system chose, and nobody asks for any before.
    let page: CaptureServer | undefined
    const tls = tlsFiles(config, 'capture')
    const bounds = this.bounds()
    const listener = await listenAt(
      'captureListen',
      {
        ...bounds,
        limits: { ...bounds.limits, requestMs: bounds.limits.headMs + UPLOAD_MS },
        address,
        bodies,
        tls,
        handler: (request) => page!.handle(request),
      },
      transport,
    )
    this.listeners.capture = listener
    page = new CaptureServer({
      ...parts,
      apis: { production: production!.handle, sandbox: sandbox!.handle },
      origin: () => this.capturePage!,
    })
    this.certificates.add('capture', [listener], tls)
  }

  /** What both APIs and the dashboard work with. */
  private sharedParts() {
    const { config, clock, log, core, engine, transport } = this
    const { store, keys, vault } = core
    return {
      ...core,
      config,
      clock,
      log,
      engine,
      provider: new EngineProvider(engine),
      rateLimiter: this.rateLimiter(),
      wrongKeys: new WrongKeys(config.wrongKeyLimit, this.rateLimiter()),
      addresses: new ClientAddresses(config.trustedProxies),
      idempotency: new Idempotency(store, vault, keys, clock),
      challenges: new ChallengeBook(clock, config.challengeTtlSeconds * SECOND_MS),
      captureEvents: this.captureEvents,
      captureSessions: new CaptureSessionBook(clock, config.captureSessionTtlSeconds * SECOND_MS),
      traffic: this.traffic,
      openApi: () => this.openApi(),
      version: VERSION,
      transport,
    }
  }

  /** One for tenants and one for each kind of stranger, who must not drive the others' buckets out of memory. */
  private rateLimiter(): RateLimiter {
    const { coordinator } = this.core.store
    return coordinator ? new SharedRateLimiter(coordinator, this.clock) : new LocalRateLimiter(this.clock)
  }

  private apiServer(environment: Environment, parts: SharedParts): ApiServer {
    const { metrics, tracing } = this
    const { engine, traffic, keys } = parts
    const judging = environment === 'production' ? productionJudging(parts) : sandboxJudging(parts)
    const made = endpoints({
      ...parts,
      ...judging,
      issuer: () => this.url(environment),
      engineHealth: () => engine.health(),
      capturePage: () => this.capturePage,
      auditBreak: (tenantId) => auditBreak(this.core, tenantId),
      sandboxUsers: new SandboxUsers(parts.clock, parts.config.sandboxUsers),
    })
    return new ApiServer({
      ...parts,
      environment,
      urlOf: (one) => this.url(one),
      endpoints: environment === 'sandbox' ? made.map(scripted) : made,
      instanceSecret: { id: 'instance', secret: keys.instance.toString('hex') },
      observe: (observation) => {
        metrics.observe(observation)
        traffic.observe(observation)
        this.requestLog.observe(observation)
      },
      tracing,
      isSaturated: (share) => engine.isSaturatedFor(share),
      isInStep: () => this.isInStep,
      sandboxLimits: environment === 'sandbox' ? this.sandboxLimits(parts) : null,
    })
  }

  private sandboxLimits(parts: SharedParts): SandboxLimits {
    const { config } = parts
    return new SandboxLimits({
      ...parts,
      folder: isPostgres(config) ? null : dirname(sqliteFile(config)),
    })
  }

  /** Made when it is first asked for: only then is it known where the APIs listen. */
  private openApi(): string {
    this.openApiText ??= JSON.stringify(
      buildOpenApi(DESCRIPTIONS, VERSION, {
        production: this.url('production'),
        sandbox: this.url('sandbox'),
      }),
    )
    return this.openApiText
  }

  /** Base URL of an environment with its real port, ending in /v1. */
  url(environment: Environment): string {
    return environmentUrl(this.addressed(), environment)
  }

  /** It was told to stop, or has stopped. */
  get isStopping(): boolean {
    return this.stopping !== null
  }

  /** What the operator should know of the pack that serves, a sentence; null for one of production grade. */
  get gradeWarning(): string | null {
    const { engine, config } = this
    const { grade } = gradeOf(engine.pack, config.fmr)
    return grade === 'production'
      ? null
      : `The model pack ${engine.pack.modelId} is of evaluation grade at a false match rate of ${config.fmr}: \`countersign doctor\` says why.`
  }

  /** Sentences for the operator about users who were enrolled with another pack; null where there are none. */
  referenceWarning(): Promise<string | null> {
    return foreignReferences(this.core.store.read, this.engine.pack.modelId)
  }

  /** A sentence for each tenant whose contract names a rate that the pack does not reach, as after a change of the pack. */
  async rateWarnings(): Promise<string[]> {
    const tenants = await this.core.store.read.tenants()
    return tenants.flatMap(({ id, name, fmr }) => {
      const unreached = fmr === null ? null : describeUnreached(this.engine.pack, fmr)
      return unreached === null
        ? []
        : [`The tenant ${name} (${id}) asks for a false match rate of ${fmr}; ${unreached}.`]
    })
  }

  get adminUrl(): string {
    return adminUrl(this.addressed())
  }

  /** Origin of the hosted capture page; null where it is not served. */
  get capturePage(): string | null {
    return captureOrigin(this.addressed())
  }

  /** Where the admin listener listens, and those of metrics and of the capture page, where there are any. */
  get addresses(): Record<'metrics' | 'capture', ListenAddress | undefined> & { admin: ListenAddress } {
    const { adminListen, metricsListen, captureListen } = this.addressed()
    return { admin: adminListen, metrics: metricsListen, capture: captureListen }
  }

  /** The configuration with the ports that the system chose, where 0 was asked for. */
  private addressed(): Config {
    const { config } = this
    const { production, sandbox, admin, metrics, capture } = this.listeners
    return {
      ...config,
      productionListen: production?.address ?? config.productionListen,
      sandboxListen: sandbox?.address ?? config.sandboxListen,
      adminListen: admin?.address ?? config.adminListen,
      metricsListen: metrics?.address ?? config.metricsListen,
      captureListen: capture?.address ?? config.captureListen,
    }
  }

  /** Takes over log level and certificates, one reload after the other. @returns whether every certificate could be used */
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
    return this.metrics.snapshot()
  }

  /** Leaves what comes to the other processes that listen at the same addresses: stops when no connection is left. */
  async leave(): Promise<void> {
    this.isLeaving = true
    await this.reloading
    await Promise.all(Object.values(this.listeners).map((listener) => listener.retire()))
    await this.stop()
  }

  /**
   * Turns /readyz, goes on serving for the lame-duck time, stops accepting, answers what is under way, then closes engine and store. A worker inside ONNX Runtime
   * must not be ended (it would abort the process), so the engine drains before anything is torn down.
   */
  stop(): Promise<void> {
    this.stopping ??= (async () => {
      // A process that leaves has handed its connections to others already, and a start that failed has served nobody.
      const isServing = this.ready && !this.isLeaving
      this.ready = false
      if (isServing && this.config.lameDuckMs > 0) await sleep(this.config.lameDuckMs)
      for (const server of Object.values(this.servers)) server.draining = true
      this.retention.stop()
      const walked = this.auditVerification.stop()
      this.keyWatch.stop()
      // A listener that a reload is opening would stay open.
      await this.reloading
      const patienceMs = this.config.deadlineMs + DRAIN_GRACE_MS
      const { production, sandbox, admin, metrics, capture } = this.listeners
      await Promise.all([
        production?.close(patienceMs),
        sandbox?.close(patienceMs),
        capture?.close(patienceMs),
      ])
      const { store } = this.core
      // Callers have their answers: what is still to be written is not worth waiting for a database that is gone.
      store.coordinator?.leave()
      await Promise.all([this.engine.close(), this.webhooks.stop(), this.epochKeeper?.stop()])
      await this.leaderLease.stop()
      await this.membership.stop()
      await this.readiness.stop()
      await this.clockWatch.stop()
      await walked
      await Promise.all([admin?.close(DRAIN_GRACE_MS), metrics?.close(DRAIN_GRACE_MS)])
      await Promise.all([this.traffic.stop(), this.requestLog.stop()])
      await store.close()
      await this.tracing?.stop()
    })()
    return this.stopping
  }
}

/** @throws AddressError that names the setting of an address that cannot be had */
async function listenAt(
  setting: SettingName,
  ...[options, transport]: Parameters<typeof listen>
): Promise<Listener> {
  try {
    return await listen(options, transport)
  } catch (error) {
    throw error instanceof AddressError ? error.named(SETTINGS[setting].variable) : error
  }
}

type SharedParts = ReturnType<Service['sharedParts']>
/** What a verdict is reached with. */
type Judging = Pick<Services, 'provider' | 'lockout' | 'captures'>

function productionJudging({ config, store, vault, clock, provider }: SharedParts): Judging {
  const attempts = config.lockoutAttempts ?? defaultAttempts(provider.passiveLiveness !== null)
  const { isSameCapture } = provider
  return {
    provider,
    lockout: new AttemptLockout(attempts),
    captures: new StoredCaptures({ store, vault, clock, isSameCapture }),
  }
}

/** Its verdicts are made up: they say nothing of a person, so neither lockout nor replays are judged on them. */
function sandboxJudging({ engine, provider, clock }: SharedParts): Judging {
  return {
    provider: new SandboxProvider(engine, provider, clock),
    lockout: NO_LOCKOUT,
    captures: NO_CAPTURES,
  }
}
