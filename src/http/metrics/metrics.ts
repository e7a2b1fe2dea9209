/** Prometheus metrics of requests, verdicts, stages, users and secrets, by prom-client, with those of the process itself. */
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import type { Effect } from '../../api/endpoint.js'
import type { Environment } from '../../config/config.js'
import { SECOND_MS } from '../../lib/clock.js'
import { COMMIT, VERSION } from '../../lib/version.js'
import { CLIENT_SIGNALS, SERVER_SIGNALS } from '../../verification/capture/capture-integrity.js'
import { STAGES } from '../../verification/stages.js'
import type { BodyBudget } from '../bodies/body-budget.js'
import type { Transport } from '../listeners/transport.js'
import type { Observation } from '../observation/observation.js'
import { NOT_READY_REASONS, type NotReadyReason } from '../readiness.js'
import { incidentCounter } from './engine-metrics.js'
import { gaugesOf } from './gauges.js'
import { TenantMetrics } from './tenant-metrics.js'

const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.04, 0.1, 0.2, 0.3, 0.5, 1, 2.5, 10]
const STAGE_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]

/** All metrics of one process, in the form in which another process receives them. */
export type MetricsSnapshot = Array<MetricObjectWithValues<MetricValue<string>>>

/** One of several processes that listen at one address: each of them reports the metrics of all. */
export interface MetricsPlace {
  /** Value of the label `process`. */
  name: string
  others(): Promise<MetricsSnapshot[]>
}

export class Metrics {
  /** Features add metrics of their own. */
  readonly registry = new Registry()
  private readonly registers = [this.registry]
  private readonly gauge = gaugesOf(this.registry)
  readonly countIncident = incidentCounter(this.registry)
  private readonly requests = new Counter({
    name: 'countersign_requests_total',
    help: 'Requests answered; code is the error code of a refusal, else empty.',
    labelNames: ['environment', 'endpoint', 'status', 'code'],
    registers: this.registers,
  })
  private readonly durations = new Histogram({
    name: 'countersign_request_duration_seconds',
    help: 'Time from the last header byte to the reply.',
    labelNames: ['environment', 'endpoint'],
    buckets: REQUEST_BUCKETS,
    registers: this.registers,
  })
  private readonly stages = new Histogram({
    name: 'countersign_stage_duration_seconds',
    help: 'Time spent in one stage of a request.',
    labelNames: ['environment', 'stage'],
    buckets: STAGE_BUCKETS,
    registers: this.registers,
  })
  private readonly verdicts = new Counter({
    name: 'countersign_verdicts_total',
    help: 'Verdicts given; reason is empty for an approval.',
    labelNames: ['environment', 'verdict', 'reason'],
    registers: this.registers,
  })
  private readonly captureSignals = new Counter({
    name: 'countersign_capture_signals_total',
    help: 'Signals about the integrity of captures; source says whether a browser reported it or the service found it.',
    labelNames: ['environment', 'code', 'source'],
    registers: this.registers,
  })
  private readonly effects = {
    locked_out: this.effect('lockouts', 'Lockouts begun: a user must wait after too many rejections.'),
    reference_disabled: this.effect('references_disabled', 'References disabled after too many rejections.'),
    rotated: this.effect('signing_secret_rotations', 'Rotations of signing secrets, by API and dashboard.'),
    erased: this.effect('erasures', 'Users erased, by API and dashboard.'),
  } satisfies Record<Effect, Counter>
  private readonly tenants: TenantMetrics
  private readonly dashboardRefusals = new Counter({
    name: 'countersign_dashboard_refusals_total',
    help: "Requests that the dashboard's API refused, by error code; failed sign-ins are sign_in_failed.",
    labelNames: ['code'],
    registers: this.registers,
  })

  private readonly auditBreaks = new Counter({
    name: 'countersign_audit_breaks_total',
    help: 'Appends to an audit log that somebody changed in the database: its last entry did not match its seal.',
    registers: this.registers,
  })

  /**
   * @param tenantLimit number of tenants with series of their own
   * @param place undefined where only one process serves
   */
  constructor(
    readonly tenantLimit: number,
    private readonly place?: MetricsPlace,
  ) {
    if (place) this.registry.setDefaultLabels({ process: place.name })
    this.tenants = new TenantMetrics(this.registry, tenantLimit)
    collectDefaultMetrics({ register: this.registry })
    for (const environment of ['production', 'sandbox']) {
      for (const code of CLIENT_SIGNALS) this.captureSignals.inc({ environment, code, source: 'client' }, 0)
      for (const code of SERVER_SIGNALS) this.captureSignals.inc({ environment, code, source: 'server' }, 0)
    }
  }

  /** @param schema version of the database schema that this version of the service works with */
  showBuild(schema: number): void {
    this.gauge(
      'countersign_build_info',
      'Version, commit and database schema of the running service; always 1.',
      () => [[{ version: VERSION, commit: COMMIT, schema }, 1]],
      ['version', 'commit', 'schema'],
    )
  }

  showTransport({ name, version, reason }: Transport): void {
    this.gauge(
      'countersign_http_transport_info',
      'The HTTP server and why it was chosen: preferred, configured, or unavailable where uWebSockets.js does not load; always 1.',
      () => [[{ transport: name, version, reason }, 1]],
      ['transport', 'version', 'reason'],
    )
  }

  watchBodies(bodies: BodyBudget): void {
    this.gauge(
      'countersign_request_body_memory_bytes',
      'Memory of the bodies of requests that have no answer yet.',
      () => bodies.heldBytes,
    )
    this.gauge(
      'countersign_request_body_memory_peak_bytes',
      'Highest countersign_request_body_memory_bytes since the start.',
      () => bodies.peakBytes,
    )
  }

  watchReadiness(readiness: { readonly reasons: readonly NotReadyReason[] }): void {
    this.gauge('countersign_ready', '1 when the service is ready (/readyz answers 200), else 0.', () =>
      Number(readiness.reasons.length === 0),
    )
    this.gauge(
      'countersign_not_ready',
      '1 for each reason that keeps the service from being ready, 0 for all others.',
      () => {
        const { reasons } = readiness
        return NOT_READY_REASONS.map((reason) => [{ reason }, Number(reasons.includes(reason))])
      },
      ['reason'],
    )
  }

  /** The label of a tenant that may have series of its own, or the label of all others. */
  readonly tenantLabel = (name: string): string => this.tenants.labelOf(name)

  readonly observe = (request: Observation): void => {
    const { environment, endpoint, status, code, durationMs, timings, verdict, reason, effect } = request
    this.requests.inc({ environment, endpoint, status, code: code ?? '' })
    this.durations.observe({ environment, endpoint }, durationMs / SECOND_MS)
    for (const stage of STAGES) {
      const stageMs = timings[stage]
      if (stageMs !== undefined) this.stages.observe({ environment, stage }, stageMs / SECOND_MS)
    }
    if (verdict) this.verdicts.inc({ environment, verdict, reason: reason ?? '' })
    if (effect) this.countEffect(environment, effect)
    for (const signal of request.signals ?? []) this.captureSignals.inc({ environment, ...signal })
    this.tenants.observe(request)
  }

  readonly countEffect = (environment: Environment, effect: Effect): void => {
    this.effects[effect].inc({ environment })
  }

  readonly countAuditBreak = (): void => {
    this.auditBreaks.inc()
  }

  readonly countDashboardRefusal = (code: string): void => {
    this.dashboardRefusals.inc({ code })
  }

  async render(): Promise<string> {
    if (!this.place) return this.registry.metrics()
    const [own, others] = await Promise.all([this.snapshot(), this.place.others()])
    // The label `process` keeps the series of the processes apart: none is added to another, and none is left out.
    const all = [own, ...others].map((some) => some.map((one) => ({ ...one, aggregator: 'first' as const })))
    return AggregatorRegistry.aggregate(all).metrics()
  }

  async snapshot(): Promise<MetricsSnapshot> {
    return (await this.registry.getMetricsAsJSON()) as MetricsSnapshot
  }

  get contentType(): string {
    return this.registry.contentType
  }

  private effect(name: string, help: string): Counter<'environment'> {
    const counter = new Counter({
      name: `countersign_${name}_total`,
      help,
      labelNames: ['environment'],
      registers: this.registers,
    })
    for (const environment of ['production', 'sandbox']) counter.inc({ environment }, 0)
    return counter
  }
}
