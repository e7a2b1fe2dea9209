/**
 * OpenTelemetry: a server span for each request with a child for each stage, sent by OTLP over HTTP. This file is imported only where a
 * collector is configured, since its packages are large.
 */
import {
  DiagLogLevel,
  defaultTextMapGetter,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
  ATTR_URL_PATH,
  ATTR_URL_SCHEME,
} from '@opentelemetry/semantic-conventions'
import type { Logger } from 'pino'
import type { IncomingRequest } from '../../http/listeners/listener.js'
import type { Observation } from '../../http/observation/observation.js'
import type { RequestTrace } from '../../http/observation/request-trace.js'
import { VERSION } from '../../lib/version.js'
import { STAGES, type Stage, type Timings } from '../../verification/stages.js'

/** Longest time for an export, retries included: a collector that is gone must not delay the end of the service for longer. */
const EXPORT_TIMEOUT_MS = 3000
/** Stages at the end of a request; the others follow each other from its start. */
const LAST_STAGES: readonly Stage[] = ['store', 'sign']
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'])

export class Tracing {
  private readonly propagator = new W3CTraceContextPropagator()
  private readonly provider: BasicTracerProvider
  private readonly tracer: Tracer

  /** @param endpoint base URL of the collector, to which `/v1/traces` is added */
  constructor(endpoint: string, serviceName: string, log: Logger) {
    const warn = (message: string, ...args: unknown[]) =>
      log.warn({ details: args.map(String) }, `traces: ${message}`)
    const logger = { error: warn, warn, info: warn, debug: warn, verbose: warn }
    diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
    const own = { [ATTR_SERVICE_NAME]: serviceName, [ATTR_SERVICE_VERSION]: VERSION }
    const resource = defaultResource()
      .merge(detectResources({ detectors: [envDetector] }))
      .merge(resourceFromAttributes(own))
    const url = `${endpoint}/v1/traces`
    const exporter = new OTLPTraceExporter({ url, timeoutMillis: EXPORT_TIMEOUT_MS })
    this.provider = new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] })
    this.tracer = this.provider.getTracer('countersign', VERSION)
  }

  /** Continues the trace of the caller's `traceparent`, or begins a trace where that is absent or invalid. */
  begin(request: IncomingRequest, route: string | undefined): RequestSpan {
    const context = this.propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter)
    const method = METHODS.has(request.method) ? request.method : '_OTHER'
    const startedAt = Date.now()
    const span = this.tracer.startSpan(
      `${method === '_OTHER' ? 'HTTP' : method}${route ? ` ${route}` : ''}`,
      {
        kind: SpanKind.SERVER,
        startTime: startedAt,
        attributes: {
          [ATTR_HTTP_REQUEST_METHOD]: method,
          [ATTR_URL_SCHEME]: request.encrypted ? 'https' : 'http',
          // An unknown path may hold anything, a pasted key included.
          ...(route ? { [ATTR_HTTP_ROUTE]: route, [ATTR_URL_PATH]: route } : {}),
        },
      },
      context,
    )
    return new RequestSpan(this.tracer, span, startedAt)
  }

  /** Sends the remaining spans, and gives up when the collector does not accept them. */
  async stop(): Promise<void> {
    await this.provider.shutdown().catch(() => {})
  }
}

class RequestSpan implements RequestTrace {
  readonly traceId: string
  readonly response: string

  constructor(
    private readonly tracer: Tracer,
    private readonly span: Span,
    /** Milliseconds since the epoch. */
    private readonly startedAt: number,
  ) {
    const { traceId, spanId, traceFlags } = span.spanContext()
    this.traceId = traceId
    this.response = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
  }

  end(observation: Observation): void {
    const { requestId, environment, status, code, verdict, tenantId, durationMs, timings } = observation
    const endedAt = this.startedAt + durationMs
    if (this.span.isRecording()) this.addStages(timings, endedAt)
    this.span.setAttributes({
      [ATTR_HTTP_RESPONSE_STATUS_CODE]: status,
      'countersign.environment': environment,
      'countersign.request_id': requestId,
      ...(tenantId ? { 'countersign.tenant': tenantId } : {}),
      ...(code ? { 'countersign.code': code } : {}),
      ...(verdict ? { 'countersign.verdict': verdict } : {}),
    })
    if (status >= 500) {
      this.span.setAttribute(ATTR_ERROR_TYPE, code ?? String(status))
      this.span.setStatus({ code: SpanStatusCode.ERROR })
    }
    this.span.end(endedAt)
  }

  /** The lengths of stages are measured. Their starts are laid end to end, since next to no time passes between two stages. */
  private addStages(timings: Timings, endedAt: number): void {
    const measured = STAGES.filter((stage) => timings[stage] !== undefined)
    const lastMs = LAST_STAGES.reduce((sum, stage) => sum + (timings[stage] ?? 0), 0)
    const lastFrom = Math.max(this.startedAt, endedAt - lastMs)
    const context = trace.setSpan(ROOT_CONTEXT, this.span)
    let from = this.startedAt
    for (const stage of measured) {
      const isLast = LAST_STAGES.includes(stage)
      if (isLast) from = Math.max(from, lastFrom)
      // Stages of several images are summed, and may have run at the same time.
      const to = Math.min(from + timings[stage]!, isLast ? endedAt : lastFrom)
      this.tracer.startSpan(stage, { startTime: from }, context).end(to)
      from = to
    }
  }
}
