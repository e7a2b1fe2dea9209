/** The composition root: builds every part from the configuration, starts them in order and stops them in reverse. */
import type { Logger } from 'pino'
import { Engine } from './biometrics/engine/engine.js'
import type { EngineOptions } from './biometrics/types.js'
import { type Clock, SECOND_MS, systemClock } from './clock.js'
import { adminUrl, type Config, type Environment, environmentUrl, modelPackDir } from './config.js'
import { AdminApi } from './dashboard/admin-api.js'
import { adminHandler } from './dashboard/admin-server.js'
import { loadOperatorPassword } from './dashboard/operator-password.js'
import { Sessions } from './dashboard/sessions.js'
import { Traffic } from './dashboard/traffic.js'
import { Housekeeping } from './housekeeping.js'
import { Idempotency } from './idempotency/idempotency.js'
import { type Ledger, openLedger } from './ledger.js'
import { createLog } from './log.js'
import { ApiServer } from './server/api-server.js'
import { Listener } from './server/listener.js'
import { Metrics } from './server/metrics.js'
import { buildOpenApi } from './server/openapi.js'
import { DESCRIPTIONS, endpoints } from './server/routes.js'
import type { Tracing } from './server/tracing.js'
import { WrongKeys } from './server/wrong-keys.js'
import { AttemptGate } from './subjects/attempt-gate.js'
import { SubjectVault } from './subjects/subject-vault.js'
import { RateLimiter } from './tenancy/rate-limiter.js'
import type { Endpoint } from './v1/endpoint.js'
import { EngineRecogniser } from './v1/engine-recogniser.js'
import type { Recogniser } from './v1/recogniser.js'
import { SandboxRecogniser } from './v1/sandbox-recogniser.js'
import { VERSION } from './version.js'

export function engineOptions(config: Config): EngineOptions {
  return {
    packDir: modelPackDir(config),
    workers: config.workers,
    executionProviders: config.executionProviders,
    queueLimit: config.queueLimit,
    limits: {
      maxPixels: config.maxImagePixels,
      minSidePx: MIN_SIDE_PX,
      minFacePx: config.minFacePx,
      secondFaceRatio: SECOND_FACE_RATIO,
    },
  }
}

/** An image thinner than this cannot hold a usable face. */
const MIN_SIDE_PX = 64
/** A second face at least half as wide as the largest is a second person in front of the camera, not a passer-by. */
const SECOND_FACE_RATIO = 0.5

/** Its packages are large: they are loaded only where traces are wanted. */
async function startTracing({ otlpEndpoint, otelServiceName }: Config, log: Logger): Promise<Tracing | null> {
  if (!otlpEndpoint) return null
  const { Tracing } = await import('./server/tracing.js')
  return Tracing.start(otlpEndpoint, otelServiceName, log)
}

export interface ServiceOptions {
  clock?: Clock
  log?: Logger
}

/** How long replies under way may take at shutdown, beyond their own deadline. */
const DRAIN_GRACE_MS = SECOND_MS

export class Service {
  private ready = false
  private stopping: Promise<void> | null = null
  private readonly housekeeping: Housekeeping
  private readonly servers: ApiServer[] = []
  private readonly listeners: Listener[] = []
  private readonly startedAt: number
  /** Set when this start made it: to be shown once. */
  generatedOperatorPassword: string | null = null

  private constructor(
    readonly config: Config,
    readonly clock: Clock,
    readonly log: Logger,
    readonly ledger: Ledger,
    readonly engine: Engine,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing | null,
  ) {
    this.startedAt = clock.now()
    this.housekeeping = new Housekeeping(ledger.store, clock, log)
  }

  /** Resolves when the engine is warm and all three addresses listen; when it rejects, nothing is left running. */
  static async start(config: Config, options: ServiceOptions = {}): Promise<Service> {
    const clock = options.clock ?? systemClock
    const log = options.log ?? createLog(config)
    const ledger = await openLedger(config, clock)
    const metrics = new Metrics()
    try {
      // What cannot be written shows at the first write alone: opening it reads.
      await ledger.store.assertWritable()
      const tracing = await startTracing(config, log)
      const engine = await Engine.start({
        ...engineOptions(config),
        onIncident: (incident) => {
          metrics.engine.countIncident(incident)
          log.error({ kind: incident.kind, err: incident.error }, 'engine incident')
        },
      })
      const service = new Service(config, clock, log, ledger, engine, metrics, tracing)
      try {
        await service.listen()
      } catch (error) {
        await service.stop()
        throw error
      }
      return service
    } catch (error) {
      await ledger.store.close()
      throw error
    }
  }

  private async listen(): Promise<void> {
    const { config, clock, log, ledger, engine, metrics } = this
    const { store, keys, secrets, tenancy, audit } = ledger
    const openApi = JSON.stringify(buildOpenApi(DESCRIPTIONS, VERSION))
    metrics.engine.watch(() => engine.health())
    metrics.watchStore(store)
    const traffic = new Traffic(clock)
    const operatorPassword = await loadOperatorPassword(config)
    this.generatedOperatorPassword = operatorPassword.generated
    const vault = new SubjectVault(keys, clock)
    const gate = new AttemptGate()
    const rateLimiter = new RateLimiter(clock)
    const wrongKeys = new WrongKeys(config.wrongKeyLimit, clock)
    const idempotency = new Idempotency(store, vault, keys, clock)
    const production = new EngineRecogniser(engine)
    const recognisers: Record<Environment, Recogniser> = {
      production,
      sandbox: new SandboxRecogniser(engine, production),
    }
    const tls =
      config.tlsCert && config.tlsKey ? { certFile: config.tlsCert, keyFile: config.tlsKey } : undefined

    const served = {} as Record<Environment, { server: ApiServer; endpoints: Array<Endpoint<unknown>> }>
    for (const environment of ['production', 'sandbox'] as const) {
      const environmentEndpoints = endpoints({
        clock,
        config,
        store,
        vault,
        gate,
        secrets,
        recogniser: recognisers[environment],
        issuer: () => this.url(environment),
        engineHealth: () => engine.health(),
        version: VERSION,
      })
      const server = new ApiServer({
        environment,
        endpoints: environmentEndpoints,
        openApi,
        clock,
        config,
        store,
        tenancy,
        secrets,
        rateLimiter,
        wrongKeys,
        idempotency,
        audit,
        instanceSecret: { id: 'instance', secret: keys.instance.toString('hex') },
        log,
        observe: (request) => {
          metrics.observe(request)
          traffic.observe(request)
        },
        tracing: this.tracing,
        isSaturated: () => engine.isSaturated,
      })
      served[environment] = { server, endpoints: environmentEndpoints }
      this.servers.push(server)
      const address = environment === 'production' ? config.productionListen : config.sandboxListen
      const { maxBodyBytes } = config
      this.listeners.push(await Listener.listen({ address, tls, maxBodyBytes, handler: server.handle }))
    }
    const api = new AdminApi({
      ledger,
      clock,
      log,
      config,
      engine,
      sessions: new Sessions(store, clock, operatorPassword, this.adminUrl.startsWith('https:')),
      traffic,
      vault,
      rateLimiter,
      endpoints: { production: served.production.endpoints, sandbox: served.sandbox.endpoints },
      apis: { production: served.production.server.handle, sandbox: served.sandbox.server.handle },
      urls: () => ({
        production: this.url('production'),
        sandbox: this.url('sandbox'),
        admin: this.adminUrl,
      }),
      countEffect: metrics.countEffect,
      countRefusal: metrics.countDashboardRefusal,
      threshold: (fmr) => production.threshold(fmr),
      version: VERSION,
      startedAt: this.startedAt,
    })
    const admin = adminHandler({ api: api.handle, metrics, openApi, isReady: () => this.ready })
    const { adminListen, maxBodyBytes } = config
    this.listeners.push(await Listener.listen({ address: adminListen, maxBodyBytes, handler: admin }))
    await this.housekeeping.start()
    this.ready = true
  }

  /** Base URL of an environment with its real port, ending in /v1. */
  url(environment: Environment): string {
    const index = environment === 'production' ? 0 : 1
    return environmentUrl(this.withRealPorts(index), environment)
  }

  get adminUrl(): string {
    return adminUrl(this.withRealPorts(2))
  }

  private withRealPorts(index: number): Config {
    const address = this.listeners[index]?.address
    if (!address) return this.config
    const key = (['productionListen', 'sandboxListen', 'adminListen'] as const)[index]!
    return { ...this.config, [key]: address }
  }

  /**
   * Turns /readyz, stops accepting, answers what is under way, then closes engine and store. A worker inside ONNX Runtime
   * must not be ended (it would abort the process), so the engine drains before anything is torn down.
   */
  stop(): Promise<void> {
    this.stopping ??= (async () => {
      this.ready = false
      for (const server of this.servers) server.draining = true
      this.housekeeping.stop()
      const patienceMs = this.config.deadlineMs + DRAIN_GRACE_MS
      const [production, sandbox, admin] = this.listeners
      await Promise.all([production?.close(patienceMs), sandbox?.close(patienceMs)])
      await this.engine.close()
      await admin?.close(DRAIN_GRACE_MS)
      await this.ledger.store.close()
      await this.tracing?.stop()
    })()
    return this.stopping
  }
}
