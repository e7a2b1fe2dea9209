/**
 * One environment's API: listener → authenticate → rate limit → body → idempotency → endpoint → commit → sign → respond.
 * Reading `handle` and `answer` from top to bottom is reading the way of a request.
 */

import { type Endpoint, type EndpointDescription, type Outcome, SMALL_BODY_BYTES } from '../api/endpoint.js'
import { errorBody, errorHeaders, statusOf } from '../api/error-response.js'
import { assertScope } from '../api/key-scope.js'
import type { AuditLog } from '../audit/audit-log.js'
import { BiometricError, type SchedulingClass } from '../biometrics/types.js'
import type { Config } from '../config/config.js'
import type { ErrorCode } from '../contract/error-codes.js'
import { requestId as newRequestId } from '../crypto/identifiers.js'
import type { Execution, Idempotency, KeptResponse } from '../idempotency/idempotency.js'
import { SECOND_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import { AlreadyExecutedError, type Store, StoreUnavailableError } from '../storage/store.js'
import { scopesOf } from '../tenants/key-scopes.js'
import { assertAllowed, type RateLimiter, rateLimitHeaders } from '../tenants/rate-limiter.js'
import { schedulingClassOf, type TenantContract } from '../tenants/tenancy.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { Call, CalledUser } from '../verification/call.js'
import { isConfidential } from './authentication/confidential-channel.js'
import type { Identity, InternalCaller } from './authentication/recent-callers.js'
import { type AuthenticatorParts, RequestAuthenticator } from './authentication/request-authenticator.js'
import { clientRequestIdOf } from './client-request-id.js'
import { EndpointRunner } from './endpoint-runner.js'
import type { IncomingRequest, WholeReply } from './listeners/listener.js'
import { type RecorderParts, RequestRecorder } from './observation/request-recorder.js'
import type { BeginTrace } from './observation/request-trace.js'
import type { PublicDocument } from './public-documents.js'
import { COMMON_HEADERS, ReplySigner, type SignerParts } from './reply-signer.js'
import type { RequestContext } from './request-context.js'
import { type Route, Router } from './routing/router.js'
import { ERRORS_PATH } from './routing/routes.js'
import type { SandboxLimits } from './sandbox-limits.js'
import { toDomainError } from './to-domain-error.js'

interface ApiServerParts extends AuthenticatorParts, SignerParts, RecorderParts {
  endpoints: Array<Endpoint<unknown>>
  /** Served to anybody, without an API key. */
  documents: readonly PublicDocument[]
  config: Pick<Config, 'deadlineMs' | 'tlsTerminatedUpstream'>
  rateLimiter: RateLimiter
  store: Store
  idempotency: Idempotency
  audit: AuditLog
  vault: TemplateVault
  /** Undefined where no traces are made. */
  beginTrace: BeginTrace | undefined
  /** Whether the engine has no place for one more request of this scheduling class. */
  isSaturated: (schedulingClass: SchedulingClass) => boolean
  /** Whether keys and schema of the database are those that this process works with. */
  isInStep: () => boolean
  /** Null in production, which has no limits of this kind. */
  sandboxLimits: SandboxLimits | null
}

/** An admitted request, read whole. */
interface Admitted {
  route: Route
  identity: Identity
  schedulingClass: SchedulingClass
  body: Buffer
  deadlineMs: number
}

/** Status that the log has for a caller who hung up, as nginx has it: nobody reads the answer. */
const CLIENT_CLOSED_REQUEST = 499
const OVERLOAD_RETRY_MS = SECOND_MS
/** Marks an answer that was given before. */
const REPLAY_HEADER = 'X-Svc-Idempotent-Replay'
/** Bytes of text for which a request costs one token more: some ten payees of a batch. */
const TEXT_BYTES_A_TOKEN = 2048
/** Failures of the service itself, which are logged with their cause. A full queue or a passed deadline is none: its request line says enough. */
const FAILURES = new Set<ErrorCode>(['internal_error', 'store_unavailable', 'engine_unavailable'])

export class ApiServer {
  /** Set while the process stops: every request is refused with `shutting_down`. */
  draining = false
  private readonly documents: ReadonlyMap<string, PublicDocument>
  private readonly router: Router
  private readonly authenticator: RequestAuthenticator
  private readonly runner: EndpointRunner
  private readonly signer: ReplySigner
  private readonly recorder: RequestRecorder

  constructor(private readonly parts: ApiServerParts) {
    this.documents = new Map(parts.documents.map((document) => [document.path, document]))
    this.router = new Router(parts.endpoints, [...this.documents.keys()])
    this.authenticator = new RequestAuthenticator(parts)
    this.runner = new EndpointRunner(parts)
    this.signer = new ReplySigner(parts)
    this.recorder = new RequestRecorder(parts)
  }

  /** @param internalCaller the caller of a request of the service itself, which has no API key */
  readonly handle = async (
    request: IncomingRequest,
    internalCaller?: InternalCaller,
  ): Promise<WholeReply> => {
    const destination = this.router.find(request)
    const context: RequestContext = {
      requestId: newRequestId(this.parts.clock.now()),
      clientRequestId: clientRequestIdOf(request.headers),
      startedMs: performance.now(),
      timings: {},
      destination,
      trace: this.parts.beginTrace?.(request, destination?.template),
      headers: { ...COMMON_HEADERS },
      identity: null,
      keyId: null,
      keyTenantId: undefined,
      user: undefined,
      afterAnswer: [],
      isChallenge: false,
      // A visitor of the hosted capture page is a person, whose address is never logged.
      address: internalCaller ? null : this.parts.addresses.of(request),
      internalCaller,
    }
    const outcome = await this.answer(request, context).catch((error) => this.refuse(error, context))
    const reply = this.signer.sign(request, context, outcome)
    const durationMs = performance.now() - context.startedMs
    const afterwards = () => {
      this.recorder.record(request, context, outcome, durationMs)
      for (const work of context.afterAnswer) work({ code: outcome.code, ...outcome.observed })
    }
    return { ...reply, afterwards }
  }

  private async answer(request: IncomingRequest, context: RequestContext): Promise<Outcome> {
    if (request.malformed) throw request.malformed
    if (this.draining) throw new DomainError('shutting_down', { retryAfterMs: SECOND_MS })
    // Where the database's keys have changed, this process can open no secret and would write rows that nobody can read.
    if (!this.parts.isInStep()) throw new StoreUnavailableError('working keys or schema were changed')
    const document = request.method === 'GET' ? this.documents.get(request.path) : undefined
    if (document) {
      const { headers, ...outcome } = document.answer(request)
      Object.assign(context.headers, headers)
      return outcome
    }
    const identified = await this.authenticate(request, context)
    // An unknown address is refused before the caller is: a known caller only decides whose secret signs the refusal.
    const route = context.destination?.route ?? this.router.refuse(request, context.destination)
    if ('refusal' in identified) throw identified.refusal
    const contract = await this.limitRate(identified, route.endpoint, context)
    assertScope(identified.caller.key, route.endpoint.scopes)
    // Checked before the body is read: no secret may be made that cannot be handed out.
    if (route.endpoint.answersWithSecret && !isConfidential(request, this.parts.config))
      throw new DomainError('insecure_channel')
    // Checked before the body is read: a refusal must be cheap, or refusals would starve admitted requests.
    const schedulingClass = schedulingClassOf(contract, this.parts.environment)
    if (route.endpoint.usesEngine && this.parts.isSaturated(schedulingClass))
      throw new DomainError('overloaded', { retryAfterMs: OVERLOAD_RETRY_MS })
    const deadlineMs = context.startedMs + this.parts.config.deadlineMs
    const { id: owner } = identified.caller.tenant
    const { maxBodyBytes = SMALL_BODY_BYTES } = route.endpoint
    const body = await request.body(deadlineMs, maxBodyBytes, owner)
    // Before the body is read as JSON: a refusal of it has cost the same work. Pictures are the engine's work, which has its queue.
    if (!route.endpoint.usesEngine)
      this.charge(identified, route.endpoint, Math.floor(body.length / TEXT_BYTES_A_TOKEN))
    return this.execute(request, context, { route, identity: identified, schedulingClass, body, deadlineMs })
  }

  /** Address of the page that explains the codes; undefined where no feature serves one. */
  private get errorsUrl(): string | undefined {
    if (!this.documents.has(ERRORS_PATH)) return undefined
    return new URL(ERRORS_PATH, this.parts.urlOf(this.parts.environment)).href
  }

  /** The caller, whose secrets sign the reply; or why the caller is not known. */
  private async authenticate(
    request: IncomingRequest,
    context: RequestContext,
  ): Promise<Identity | { refusal: unknown }> {
    const started = performance.now()
    try {
      context.identity =
        context.internalCaller?.identity ?? (await this.authenticator.authenticate(request, context))
      context.keyId = context.identity.caller.key.id
      return context.identity
    } catch (refusal) {
      return { refusal }
    } finally {
      context.timings.auth = performance.now() - started
    }
  }

  private async limitRate(
    { caller }: Identity,
    endpoint: EndpointDescription,
    context: RequestContext,
  ): Promise<TenantContract> {
    const { tenancy, rateLimiter, environment } = this.parts
    const contract = tenancy.rateContract(caller.tenant, environment)
    const decision = await rateLimiter.take(bucketOf(contract, endpoint), contract)
    Object.assign(context.headers, rateLimitHeaders(contract, decision))
    assertAllowed(decision)
    return contract
  }

  /** Takes the further tokens of a request that costs more than one, with its first one at most the burst. */
  private charge({ caller }: Identity, endpoint: EndpointDescription, tokens: number): void {
    if (tokens === 0) return
    const contract = this.parts.tenancy.rateContract(caller.tenant, this.parts.environment)
    const most = Math.max(0, Math.floor(contract.burst) - 1)
    this.parts.rateLimiter.charge(bucketOf(contract, endpoint), contract, Math.min(tokens, most))
  }

  /** Executes a request once for each idempotency key: a repeat gets the kept response. */
  private async execute(
    request: IncomingRequest,
    context: RequestContext,
    admitted: Admitted,
  ): Promise<Outcome> {
    const { endpoint } = admitted.route
    const { tenant } = admitted.identity.caller
    await endpoint.assertPermitted?.({ tenant, environment: this.parts.environment })
    const begun = await this.beginExecution(request, admitted)
    if (begun && 'replay' in begun) return replay(endpoint, begun, context)
    try {
      const isKept = begun !== null
      await this.parts.sandboxLimits?.admit(endpoint, { tenantId: tenant.id, isKept })
      return await this.executeOnce(request, context, admitted, begun?.execution)
    } catch (error) {
      if (!(error instanceof AlreadyExecutedError)) throw error
    } finally {
      begun?.execution.release()
    }
    // Another node believed that this one was gone and executed the request first: this execution was rolled back.
    const again = await this.beginExecution(request, admitted)
    if (again && 'replay' in again) return replay(endpoint, again, context)
    again?.execution.release()
    throw new DomainError('idempotency_in_progress', { retryAfterMs: SECOND_MS })
  }

  private async executeOnce(
    request: IncomingRequest,
    context: RequestContext,
    { route, identity, schedulingClass, body, deadlineMs }: Admitted,
    execution: Execution | undefined,
  ): Promise<Outcome> {
    const { tenant } = identity.caller
    const input = route.parse(
      body,
      request.headers['content-type'],
      request.query,
      context.destination?.pathParameters,
    )
    const errorsUrl = () => this.errorsUrl
    const call: Call<unknown> = {
      input,
      environment: this.parts.environment,
      tenant,
      user: route.endpoint.aboutUser ? this.userOf(tenant.id, input as { user_id: string }) : null,
      keyId: identity.caller.key.id,
      scopes: scopesOf(identity.caller.key),
      address: context.address,
      secrets: identity.secrets,
      signingKeyId: request.headers['x-svc-signing-key-id'],
      requestId: context.requestId,
      // Made on demand, since only errors name it.
      get errorsUrl() {
        return errorsUrl()
      },
      deadlineMs,
      signal: request.signal,
      schedulingClass,
      earlierAnswer:
        execution && this.parts.environment === 'production'
          ? async (tx, { record: { id, blindIndex }, dataKey }, since) => {
              const found = await execution.earlier(tx, { blindIndex, subject: { id, dataKey } }, since)
              return found?.status === 200 ? found.body : null
            }
          : undefined,
      timings: context.timings,
      afterAnswer: context.afterAnswer,
      ...context.internalCaller?.facts,
    }
    context.user = call.user ?? undefined
    context.isChallenge = isRecord(input) && input.challenge !== undefined
    const outcome = await this.runner.run(route.endpoint, call, execution)
    if (outcome.isRepeat) context.headers[REPLAY_HEADER] = 'true'
    if (outcome.furtherTokens) this.charge(identity, route.endpoint, outcome.furtherTokens)
    Object.assign(context.headers, outcome.headers)
    return outcome
  }

  private userOf(tenantId: string, { user_id: id }: { user_id: string }): CalledUser {
    return { id, blindIndex: this.parts.vault.blindIndex(tenantId, this.parts.environment, id) }
  }

  private async beginExecution(request: IncomingRequest, { route, identity, body }: Admitted) {
    const key = request.headers['x-svc-idempotency-key']
    if (key === undefined) return null
    this.parts.idempotency.assertKey(key)
    const { idempotent, method } = route.endpoint
    if (!idempotent) return null
    // The path as it was sent: two users' calls are not the same request.
    const { path } = request
    const { environment } = this.parts
    const tenantId = identity.caller.tenant.id
    return this.parts.idempotency.begin({ tenantId, environment, method, path, key }, body)
  }

  private refuse(error: unknown, context: RequestContext): Outcome {
    if (error instanceof BiometricError && error.code === 'cancelled')
      return { status: CLIENT_CLOSED_REQUEST, body: '' }
    const refusal = this.attributeTimeout(toDomainError(error), context)
    Object.assign(context.headers, errorHeaders(refusal))
    if (FAILURES.has(refusal.code))
      this.parts.log.error({ request_id: context.requestId, err: refusal.cause ?? refusal }, refusal.message)
    return {
      status: statusOf(refusal),
      body: errorBody(refusal, { requestId: context.requestId, errorsUrl: this.errorsUrl }),
      code: refusal.code,
    }
  }

  /** Turns a deadline that passed while the database was silent into `store_unavailable`, so that the caller retries. */
  private attributeTimeout(refusal: DomainError, { startedMs }: RequestContext): DomainError {
    if (refusal.code !== 'deadline_exceeded' || !this.parts.store.hasBeenSilentSince(startedMs))
      return refusal
    return toDomainError(
      new StoreUnavailableError('the database took the time of the request', { cause: refusal }),
    )
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function bucketOf({ holder }: TenantContract, { ownRateLimit, id }: EndpointDescription): string {
  return ownRateLimit ? `${holder} ${id}` : holder
}

/** @throws DomainError where the kept response must not be given again */
function replay(
  endpoint: Endpoint<unknown>,
  { replay: kept }: { replay: KeptResponse },
  context: RequestContext,
): Outcome {
  context.headers[REPLAY_HEADER] = 'true'
  if (endpoint.refuseReplay && kept.status < 300) throw endpoint.refuseReplay(JSON.parse(kept.body))
  return kept
}
