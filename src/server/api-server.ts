/**
 * One environment's API: listener → authenticate → rate limit → body → idempotency → endpoint → commit → sign → respond.
 * Reading `handle` from top to bottom is reading the way of a request.
 */
import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import { ApiError, type ErrorCode, retryAfter } from '../api-error.js'
import type { AuditLog } from '../audit/audit-log.js'
import { kernels } from '../biometrics/kernels/kernels.js'
import { BiometricError } from '../biometrics/types.js'
import { type Clock, SECOND_MS } from '../clock.js'
import type { Config, Environment } from '../config.js'
import { requestId as newRequestId } from '../crypto/identifiers.js'
import { SIGNATURE_HEADER, type SigningSecret, signResponse } from '../crypto/response-signature.js'
import type { Idempotency } from '../idempotency/idempotency.js'
import { type Store, StoreUnavailableError } from '../storage/store.js'
import { type RateLimiter, rateLimitHeaders } from '../tenancy/rate-limiter.js'
import type { ActiveSecrets, SigningSecrets } from '../tenancy/signing-secrets.js'
import type { Caller, Tenancy } from '../tenancy/tenancy.js'
import type { Call, Effect, Endpoint, Timings } from '../v1/endpoint.js'
import { EndpointRunner } from './endpoint-runner.js'
import { type InputParser, inputParser } from './json-body.js'
import type { IncomingRequest, WholeReply } from './listener.js'
import { OPENAPI_PATH } from './routes.js'
import { STAGES } from './stages.js'
import { toApiError } from './to-api-error.js'
import type { RequestTrace, Tracing } from './tracing.js'
import type { WrongKeys } from './wrong-keys.js'

export interface ApiServerParts {
  environment: Environment
  endpoints: Array<Endpoint<unknown>>
  /** The OpenAPI document, as JSON text. */
  openApi: string
  clock: Clock
  config: Pick<Config, 'deadlineMs' | 'tlsTerminatedUpstream'>
  store: Store
  tenancy: Tenancy
  secrets: SigningSecrets
  rateLimiter: RateLimiter
  wrongKeys: WrongKeys
  idempotency: Idempotency
  audit: AuditLog
  /** Signs what no tenant is known for. */
  instanceSecret: SigningSecret
  log: Logger
  observe: (request: ObservedRequest) => void
  /** Null where traces are not asked for. */
  tracing: Tracing | null
  /** The engine's queue is full: one more request would be refused. */
  isSaturated: () => boolean
}

/** What metrics see of a request. */
export interface ObservedRequest {
  environment: Environment
  endpoint: string
  status: number
  code: string | undefined
  durationMs: number
  timings: Timings
  verdict: string | undefined
  /** Of a rejection. */
  reason: string | undefined
  effect: Effect | undefined
  /** The caller, where it is known. */
  tenantId: string | undefined
  /** Of a verdict. */
  score: number | undefined
  /** The signing secret that the caller says it holds (`X-Svc-Signing-Key-Id`). */
  signingKeyId: string | undefined
}

/** What is known of a request while it is on its way. */
interface Passage {
  requestId: string
  startedMs: number
  timings: Timings
  route: Route | undefined
  caller: Caller | null
  secrets: ActiveSecrets | null
  headers: Record<string, string>
  trace: RequestTrace | undefined
  /** To be released when the reply is written. */
  body?: Buffer
}

interface Route {
  endpoint: Endpoint<unknown>
  parse: InputParser
}

interface Answer {
  status: number
  body: string
  /** For log and metrics. */
  code?: string | undefined
  verdict?: string | undefined
  reason?: string | undefined
  effect?: Effect | undefined
  score?: number | undefined
  close?: boolean
}

/** The caller hung up; nobody reads the answer. The status is nginx's. */
const CLIENT_CLOSED_REQUEST = 499
const OVERLOAD_RETRY_SECONDS = 1
const COMMON_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
}
/** Our own failures, logged with their cause. A full queue or a passed deadline is not one: its request line says enough. */
const FAILURES = new Set<ErrorCode>(['internal_error', 'store_unavailable', 'engine_unavailable'])
const WRONG_KEY = new Set<ErrorCode>([
  'malformed_api_key',
  'invalid_api_key',
  'revoked_api_key',
  'wrong_environment',
])
const MOST_MONITORS = 100
const CLIENT_REQUEST_ID = /^[\x20-\x7e]{1,128}$/

export class ApiServer {
  /** Set when the process is on its way out. */
  draining = false
  private readonly routes = new Map<string, Map<string, Route>>()
  private readonly runner: EndpointRunner
  /** Who asked for health lately, by a digest of the credential: to them it still answers when the database is gone. */
  private readonly monitors = new Map<string, Pick<Passage, 'caller' | 'secrets'>>()

  constructor(private readonly parts: ApiServerParts) {
    this.runner = new EndpointRunner(parts)
    for (const endpoint of parts.endpoints) {
      const methods = this.routes.get(endpoint.path) ?? new Map<string, Route>()
      methods.set(endpoint.method, { endpoint, parse: inputParser(endpoint) })
      this.routes.set(endpoint.path, methods)
    }
  }

  readonly handle = async (request: IncomingRequest): Promise<WholeReply> => {
    const route = this.routes.get(request.path)?.get(request.method)
    const passage: Passage = {
      requestId: newRequestId(this.parts.clock.now()),
      startedMs: performance.now(),
      timings: {},
      route,
      caller: null,
      secrets: null,
      headers: {},
      trace: this.parts.tracing?.begin(request, route?.endpoint.path),
    }
    const answer = await this.answer(request, passage).catch((error) => this.refuse(error, passage))
    const reply = this.sign(request, passage, answer)
    const durationMs = performance.now() - passage.startedMs
    const afterwards = () => {
      if (passage.body?.length) kernels.releaseMemory(passage.body)
      try {
        this.record(request, passage, answer, durationMs)
      } catch (err) {
        this.parts.log.error({ request_id: passage.requestId, err }, 'the request could not be recorded')
      }
    }
    return { ...reply, afterwards }
  }

  private async answer(request: IncomingRequest, passage: Passage): Promise<Answer> {
    if (request.malformed) throw request.malformed
    if (this.draining) throw new ApiError('shutting_down', { headers: retryAfter(1) })
    if (request.path === OPENAPI_PATH && request.method === 'GET')
      return { status: 200, body: this.parts.openApi }
    const refusal = await this.authenticate(request, passage)
    // An unknown address is told as such whoever asks; the caller, where known, only decides who signs.
    const route = passage.route ?? this.refuseAddress(request)
    if (refusal) throw refusal
    this.limitRate(passage)
    // Before the body is read: what is refused must cost as little as can be, or refusals would starve the admitted.
    if (route.endpoint.usesEngine && this.parts.isSaturated())
      throw new ApiError('overloaded', { headers: retryAfter(OVERLOAD_RETRY_SECONDS) })

    const deadlineMs = passage.startedMs + this.parts.config.deadlineMs
    const body = await request.body(deadlineMs)
    passage.body = body
    const execution = await this.beginExecution(request, passage, route, body)
    if (execution && 'replay' in execution) {
      passage.headers['X-Svc-Idempotent-Replay'] = 'true'
      return execution.replay
    }
    const cleanUps: Array<() => void> = execution ? [execution.execution.release] : []
    try {
      const call: Call<unknown> = {
        input: route.parse(body, request.headers['content-type'], request.query),
        environment: this.parts.environment,
        tenant: passage.caller!.tenant,
        keyId: passage.caller!.key.id,
        secrets: passage.secrets!,
        signingKeyId: request.headers['x-svc-signing-key-id'],
        requestId: passage.requestId,
        deadlineMs,
        signal: request.signal,
        confidential: this.isConfidential(request),
        timings: passage.timings,
        defer: (cleanUp) => void cleanUps.push(cleanUp),
      }
      const executed = await this.runner.run(route.endpoint, call, execution?.execution)
      Object.assign(passage.headers, executed.headers)
      return executed
    } finally {
      for (const cleanUp of cleanUps) cleanUp()
    }
  }

  /** Fills in caller and secrets; resolves with the refusal, which an unknown address outranks. */
  private async authenticate(request: IncomingRequest, passage: Passage): Promise<unknown> {
    const { tenancy, secrets, store, environment, wrongKeys } = this.parts
    const started = performance.now()
    try {
      const caller = await tenancy.authenticate(request.headers.authorization, environment)
      assertNotGuessing(wrongKeys.right(request.remoteAddress, caller.key.id))
      passage.secrets = await secrets.active(store.read, caller.tenant.id)
      passage.caller = caller
      if (passage.route?.endpoint.id === 'health') this.rememberMonitor(request, passage)
      return null
    } catch (error) {
      if (error instanceof ApiError && WRONG_KEY.has(error.code))
        assertNotGuessing(wrongKeys.wrong(request.remoteAddress))
      if (!(error instanceof StoreUnavailableError) || passage.route?.endpoint.id !== 'health') return error
      const monitor = this.monitors.get(credentialDigest(request))
      if (!monitor) return error
      Object.assign(passage, monitor)
      return null
    } finally {
      passage.timings.auth = performance.now() - started
    }
  }

  private rememberMonitor(request: IncomingRequest, { caller, secrets }: Passage): void {
    const digest = credentialDigest(request)
    this.monitors.delete(digest)
    this.monitors.set(digest, { caller, secrets })
    // A map keeps the order of entry: the first is the one that has not asked for longest.
    if (this.monitors.size > MOST_MONITORS) this.monitors.delete(this.monitors.keys().next().value!)
  }

  private refuseAddress({ path }: IncomingRequest): never {
    const methods = this.routes.get(path)
    if (!methods && path !== OPENAPI_PATH) throw new ApiError('unknown_endpoint')
    throw new ApiError('method_not_allowed', {
      headers: { Allow: methods ? [...methods.keys()].join(', ') : 'GET' },
    })
  }

  private limitRate(passage: Passage): void {
    const { tenancy, rateLimiter } = this.parts
    const contract = tenancy.rateContract(passage.caller!)
    const decision = rateLimiter.take(passage.caller!.key.id, contract)
    Object.assign(passage.headers, rateLimitHeaders(contract, decision))
    if (!decision.allowed)
      throw new ApiError('rate_limited', { headers: retryAfter(decision.retryAfterSeconds) })
  }

  private async beginExecution(
    request: IncomingRequest,
    passage: Passage,
    { endpoint }: Route,
    body: Buffer,
  ) {
    const key = request.headers['x-svc-idempotency-key']
    if (key === undefined) return null
    this.parts.idempotency.assertKey(key)
    if (!endpoint.idempotent) return null
    const { environment } = this.parts
    const tenantId = passage.caller!.tenant.id
    return this.parts.idempotency.begin(
      { tenantId, environment, method: endpoint.method, path: endpoint.path, key },
      body,
    )
  }

  private refuse(error: unknown, passage: Passage): Answer {
    if (error instanceof BiometricError && error.code === 'cancelled')
      return { status: CLIENT_CLOSED_REQUEST, body: '' }
    const refusal = toApiError(error)
    Object.assign(passage.headers, refusal.headers)
    if (FAILURES.has(refusal.code))
      this.parts.log.error({ request_id: passage.requestId, err: refusal.cause ?? refusal }, refusal.message)
    return {
      status: refusal.status,
      body: JSON.stringify(refusal.toBody(passage.requestId)),
      code: refusal.code,
      close: refusal.code === 'body_too_large' || refusal.code === 'shutting_down',
    }
  }

  private sign(request: IncomingRequest, passage: Passage, answer: Answer): WholeReply {
    const { requestId, secrets, timings } = passage
    const started = performance.now()
    const keys = secrets
      ? [secrets.outgoing, ...(secrets.incoming ? [secrets.incoming] : [])]
      : [this.parts.instanceSecret]
    const signature = signResponse(
      {
        timestamp: Math.floor(this.parts.clock.now() / SECOND_MS),
        requestId,
        status: answer.status,
        method: request.method,
        target: request.query ? `${request.path}?${request.query}` : request.path,
        body: answer.body,
      },
      keys,
    )
    timings.sign = (timings.sign ?? 0) + performance.now() - started
    const clientRequestId = request.headers['x-request-id']
    return {
      status: answer.status,
      body: answer.body,
      close: answer.close ?? false,
      headers: {
        ...COMMON_HEADERS,
        ...passage.headers,
        'X-Request-Id': requestId,
        ...(clientRequestId && CLIENT_REQUEST_ID.test(clientRequestId)
          ? { 'X-Client-Request-Id': clientRequestId }
          : {}),
        [SIGNATURE_HEADER]: signature,
        ...(passage.trace ? { traceresponse: passage.trace.response } : {}),
        'Server-Timing': serverTiming(timings),
      },
    }
  }

  /** One line a request. The query may name a user, so it stays out. */
  private record(request: IncomingRequest, passage: Passage, answer: Answer, durationMs: number): void {
    const { requestId, timings, caller, route, trace } = passage
    const { environment, log, observe } = this.parts
    const endpoint = route?.endpoint.id ?? 'unknown'
    const observed: ObservedRequest = {
      environment,
      endpoint,
      status: answer.status,
      code: answer.code,
      durationMs,
      timings,
      verdict: answer.verdict,
      reason: answer.reason,
      effect: answer.effect,
      tenantId: caller?.tenant.id,
      score: answer.score,
      signingKeyId: request.headers['x-svc-signing-key-id'],
    }
    observe(observed)
    trace?.end(requestId, observed)
    log.info(
      {
        request_id: requestId,
        ...(trace ? { trace_id: trace.traceId } : {}),
        environment,
        tenant: caller?.tenant.id ?? null,
        endpoint,
        method: request.method,
        path: safePath(request.path, route),
        status: answer.status,
        ...(answer.code ? { code: answer.code } : {}),
        ...(answer.verdict ? { verdict: answer.verdict } : {}),
        duration_ms: round(durationMs),
        timings_ms: Object.fromEntries(Object.entries(timings).map(([stage, ms]) => [stage, round(ms)])),
      },
      'request',
    )
  }

  private isConfidential(request: IncomingRequest): boolean {
    return request.encrypted || this.parts.config.tlsTerminatedUpstream || isLoopback(request.remoteAddress)
  }
}

/** @throws ApiError rate_limited */
function assertNotGuessing(retryAfterSeconds: number): void {
  if (retryAfterSeconds > 0)
    throw new ApiError('rate_limited', {
      message: 'Too many wrong API keys came from this address.',
      headers: retryAfter(retryAfterSeconds),
    })
}

function credentialDigest({ headers }: IncomingRequest): string {
  return createHash('sha256')
    .update(headers.authorization ?? '')
    .digest('base64')
}

/** A path that is none of ours may be anything, a pasted key included: its digest is enough to tell repeats. */
function safePath(path: string, route: Route | undefined): string {
  if (route) return path
  return `unknown:${createHash('sha256').update(path).digest('hex').slice(0, 12)}`
}

function isLoopback(address: string): boolean {
  return /^127\./.test(address) || /^(?:0000:){7}0001$/.test(address)
}

function serverTiming(timings: Timings): string {
  return STAGES.filter((stage) => timings[stage] !== undefined)
    .map((stage) => `${stage};dur=${round(timings[stage]!)}`)
    .join(', ')
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100
}
