/** The client of a Countersign service. */
import { decodeJwt, errors } from 'jose'
import { assertAction } from './action.js'
import { DEFAULT_MAX_BODY_BYTES } from './body-limit.js'
import { actionHash } from './canonical-json.js'
import type { CaptureSession } from './capture-session.js'
import {
  assertTenantId,
  type CallOptions,
  type CountersignOptions,
  DEFAULTS,
  environmentOf,
  parseBaseUrl,
} from './client-options.js'
import { clockTolerance } from './clock-tolerance.js'
import { SignatureError, VerdictError } from './errors.js'
import { encodePhoto, encodePhotos } from './image.js'
import { observer, type ResponseInfo } from './observer.js'
import { MemoryReplayStore } from './replay-store.js'
import { DEFAULT_SIGNATURE_TOLERANCE_SECONDS } from './response-signature.js'
import { assertNotSwapped, readSecrets } from './signing-secret.js'
import { type Outgoing, send, type TransportOptions } from './transport.js'
import type {
  Action,
  ActionLike,
  ApprovedClaims,
  AssessResult,
  AuditEntry,
  AuditListRequest,
  AuditPage,
  CaptureSessionFields,
  CaptureSessionLink,
  Challenge,
  ChallengeFields,
  DeleteRequest,
  DeleteResult,
  EnrollRequest,
  EnrollResult,
  Environment,
  Guidance,
  GuidanceRequest,
  HealthResult,
  ImageInput,
  RotateSigningRequest,
  RotateSigningResult,
  User,
  VerdictClaims,
  VerifyRequest,
  VerifyResult,
  WebhookEvent,
} from './types.js'
import {
  type VerdictExpectations,
  type VerdictSource,
  type VerdictTrust,
  type VerdictVerifier,
  verifyVerdict,
} from './verdict.js'
import { findSigned, type VerdictTokens } from './verdict-token.js'
import { verifyWebhook, type WebhookHeaders } from './webhook.js'

/** The answer, with what came beside it in the non-enumerable `response`. */
export type Answer<T> = T & { readonly response: ResponseInfo }

/** Frames of guidance are small: the service takes no larger body there. */
const GUIDANCE_BODY_BYTES = 512 * 1024

type CallLimits = CallOptions & { maxBodyBytes?: number }

/** Every method throws `ApiError`, `ConnectionError`, `TimeoutError`, `SignatureError` or `UnexpectedResponseError`. */
export class Countersign implements VerdictVerifier {
  /** Environment of the API key. */
  readonly environment: Environment
  readonly #transport: TransportOptions
  readonly #trust: VerdictTrust

  /** @throws TypeError for options that cannot work */
  constructor(options: CountersignOptions) {
    const { apiKey, signingSecret, verifyResponses = true, now = Date.now } = options
    this.environment = environmentOf(apiKey)
    if (!signingSecret) throw new TypeError('signingSecret is required (svc-sec-…)')
    assertTenantId(options.tenantId)
    assertNotSwapped(signingSecret)
    this.#transport = {
      apiKey,
      environment: this.environment,
      baseUrl: parseBaseUrl(options.baseUrl, options.allowInsecureHttp ?? false),
      signingSecret: verifyResponses ? signingSecret : null,
      signatureToleranceSeconds: options.signatureToleranceSeconds ?? DEFAULT_SIGNATURE_TOLERANCE_SECONDS,
      maxBodyBytes: options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
      timeoutMs: options.timeoutMs ?? DEFAULTS.timeoutMs,
      maxRetries: options.maxRetries ?? DEFAULTS.maxRetries,
      maxRetryAfterSeconds: options.maxRetryAfterSeconds ?? DEFAULTS.maxRetryAfterSeconds,
      // Some runtimes want it called on the global object.
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      now,
      observer: observer(options),
    }
    const nowSeconds = () => now() / 1000
    this.#trust = {
      signingSecret,
      audience: options.tenantId ?? '',
      environment: this.environment,
      acceptEvaluationGrade: options.acceptEvaluationGrade,
      clockToleranceSeconds: clockTolerance(options.clockToleranceSeconds),
      replayStore: options.replayStore ?? new MemoryReplayStore(nowSeconds),
      now: nowSeconds,
    }
  }

  /**
   * Captures a user's biometric reference. Every image must be usable and of one person; three become a better reference than
   * one. With `add`, photos join the reference of an enrolled user; with `dry_run`, they are assessed and nothing is stored.
   */
  enroll(request: EnrollRequest & { dry_run?: false }, options?: CallOptions): Promise<Answer<EnrollResult>>
  enroll(request: EnrollRequest & { dry_run: true }, options?: CallOptions): Promise<Answer<AssessResult>>
  async enroll(
    request: EnrollRequest,
    options: CallOptions = {},
  ): Promise<Answer<EnrollResult | AssessResult>> {
    options.signal?.throwIfAborted()
    const body = { ...request, ...(await encodePhotos(request)) }
    const answer = await this.#post<EnrollResult | AssessResult>('/enroll', body, options)
    assertAnswers(answer.user_id === request.user_id)
    return answer
  }

  /** Asks whether this is really that person, for this action. A rejection is an answer, not an error. */
  async verify<A extends ActionLike = Action>(
    request: VerifyRequest<ImageInput, A>,
    options: CallOptions = {},
  ): Promise<Answer<VerifyResult>> {
    options.signal?.throwIfAborted()
    assertAction(request.action)
    // Before anything is sent: what has no canonical form would be countersigned as something else.
    const hash = await actionHash(request.action)
    const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID()
    // A retry must be the same request to the byte, so the nonce follows the key.
    const nonce = request.nonce ?? idempotencyKey
    const body = { ...request, ...(await encodePhotos(request)), nonce }
    const answer = await this.#post<VerifyResult>('/verify', body, { ...options, idempotencyKey })
    // The signature does not name the request, so a well-signed approval of another one could be put in its place.
    const claims = decodeJwt<VerdictClaims>(answer.jwt)
    assertAnswers(
      answer.user_id === request.user_id &&
        claims.sub === request.user_id &&
        claims.action_hash === hash &&
        claims.nonce === nonce &&
        claims.env === this.environment &&
        claims.verdict === answer.verdict,
    )
    answer.jwt = await this.#checkable(answer)
    return answer
  }

  /**
   * Draws what the person is to do in front of the camera, for one user and one action. The frames go to `verify` or `enroll` as
   * `challenge`, instead of photos.
   */
  async createChallenge<A extends ActionLike = Action>(
    request: ChallengeFields<A>,
    options: CallOptions = {},
  ): Promise<Answer<Challenge>> {
    options.signal?.throwIfAborted()
    if (request.purpose !== 'enroll') assertAction(request.action)
    const answer = await this.#post<Challenge>('/challenges', { ...request }, options)
    assertAnswers(answer.user_id === request.user_id && answer.purpose === (request.purpose ?? 'verify'))
    return answer
  }

  /**
   * Makes a link to the hosted capture page, for one user and one action. Keep `session_id` with the person whom you send to `url`: the id
   * that comes back in an address may be another person's.
   */
  async createCaptureSession<A extends ActionLike = Action>(
    request: CaptureSessionFields<A>,
    options: CallOptions = {},
  ): Promise<Answer<CaptureSessionLink>> {
    options.signal?.throwIfAborted()
    if (request.purpose !== 'enroll') assertAction(request.action)
    const answer = await this.#post<CaptureSessionLink>('/capture-sessions', { ...request }, options)
    assertAnswers(answer.user_id === request.user_id && answer.purpose === (request.purpose ?? 'verify'))
    return answer
  }

  /**
   * Tells how far the person has come on the capture page, and what verify or enroll answered. Nothing but what `verifyVerdict` resolves
   * with, given this session and the id that you kept, stands for an approval.
   * @throws TypeError for what is no id of a session
   */
  async getCaptureSession(sessionId: string, options: CallOptions = {}): Promise<Answer<CaptureSession>> {
    if (!/^cap_[\w-]{1,60}$/.test(sessionId))
      throw new TypeError(
        `sessionId is ${JSON.stringify(sessionId)}: give the session_id that createCaptureSession answered`,
      )
    const path = `/capture-sessions/${sessionId}`
    const answer = await this.#call<CaptureSession>(
      'GET',
      path,
      undefined,
      options,
      '/capture-sessions/{session_id}',
    )
    assertAnswers(answer.session_id === sessionId)
    if (answer.result?.status === 200) answer.result.body.jwt = await this.#checkable(answer.result.body)
    return answer
  }

  /**
   * Tells what a person before the camera can do better, by one small frame. It is no part of a verdict: nobody is recognized and
   * nothing is kept, so it is not tried again where it fails. Go on without it.
   */
  async guide(request: GuidanceRequest, options: CallOptions = {}): Promise<Answer<Guidance>> {
    options.signal?.throwIfAborted()
    const { image, frontal } = request
    const body = {
      ...request,
      image: await encodePhoto(image, 'image'),
      ...(frontal === undefined ? {} : { frontal: await encodePhoto(frontal, 'frontal') }),
    }
    const limits = { maxRetries: 0, maxBodyBytes: GUIDANCE_BODY_BYTES }
    const answer = await this.#call<Guidance>('POST', '/guidance', body, { ...limits, ...options })
    assertAnswers(answer.step === (request.step ?? 'frontal'))
    return answer
  }

  /** Erases everything that is kept of a user. A repeat within 24 hours gets the same receipt. */
  async delete(request: DeleteRequest | string, options: CallOptions = {}): Promise<Answer<DeleteResult>> {
    const userId = typeof request === 'string' ? request : request.user_id
    const answer = await this.#call<DeleteResult>('DELETE', '/delete', { user_id: userId }, options)
    assertAnswers(answer.user_id === userId)
    return answer
  }

  /** Reports the state of the service. A degraded service is an answer too. */
  health(options: CallOptions = {}): Promise<Answer<HealthResult>> {
    return this.#call('GET', '/health', undefined, options)
  }

  /**
   * Makes a new signing secret; the old one validates for 30 minutes more. Store the new one before anything else: it is told
   * once. Where the answer is lost on the way, the retry throws `ApiError` `secret_already_told`: call again with
   * `force: true`, which makes another secret and ends the older one at once.
   */
  rotateSigning(
    request: RotateSigningRequest = {},
    options: CallOptions = {},
  ): Promise<Answer<RotateSigningResult>> {
    return this.#post('/keys/rotate-signing', { ...request }, options)
  }

  /**
   * Tells what is known of an enrolled user, nothing biometric. Anyone else is `reference_not_found`.
   * @throws TypeError for `.` and `..`, which no address can name
   */
  async getUser(userId: string, options: CallOptions = {}): Promise<Answer<User>> {
    if (/^\.{0,2}$/.test(userId))
      throw new TypeError(`userId is ${JSON.stringify(userId)}: no address names it`)
    const path = `/users/${encodeURIComponent(userId)}`
    const answer = await this.#call<User>('GET', path, undefined, options, '/users/{user_id}')
    assertAnswers(answer.user_id === userId)
    return answer
  }

  /** Reads a page of the tenant's audit log, oldest first unless `order` is `desc`. The sandbox has none. */
  auditPage(request: AuditListRequest = {}, options: CallOptions = {}): Promise<Answer<AuditPage>> {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(request))
      if (value !== undefined) query.set(name, String(value))
    const path = query.size > 0 ? `/audit?${query}` : '/audit'
    return this.#call('GET', path, undefined, options, '/audit')
  }

  /** Reads every entry of the tenant's audit log from `after` on, oldest first unless `order` is `desc`; pages are fetched as they are needed. */
  async *auditEntries(request: AuditListRequest = {}, options: CallOptions = {}): AsyncGenerator<AuditEntry> {
    for (let page: AuditPage, { after } = request; ; after = page.next_cursor) {
      page = await this.auditPage({ ...request, ...(after === undefined ? {} : { after }) }, options)
      yield* page.data
      if (!page.has_more) return
    }
  }

  /**
   * Checks a verdict JWT of this tenant and environment, once. Of a capture session, `captureSessionId` is required, and its verdict
   * alone is taken.
   * @throws VerdictError
   */
  async verifyVerdict<A extends ActionLike>(
    jwt: VerdictSource,
    expected: VerdictExpectations<A> & { issuer?: string | undefined },
  ): Promise<ApprovedClaims<A>> {
    try {
      return await verifyVerdict(jwt, { ...this.#trust, ...expected })
    } catch (error) {
      if (error instanceof VerdictError) this.#transport.observer.refusal(error)
      throw error
    }
  }

  /**
   * Checks the signature of a webhook of this client's environment, and resolves with its event.
   * @param body the raw body, not parsed @throws SignatureError
   */
  verifyWebhook(headers: WebhookHeaders, body: Uint8Array | string): Promise<WebhookEvent> {
    const { signingSecret, now } = this.#trust
    const { signatureToleranceSeconds } = this.#transport
    const { environment } = this
    const options = { environment, signatureToleranceSeconds, now: now?.() }
    return verifyWebhook(headers, body, signingSecret, options)
  }

  /**
   * Of an overlap's two tokens the one that the configured secrets made. Where they made neither, `verifyVerdict` says
   * so.
   */
  async #checkable(tokens: VerdictTokens): Promise<string> {
    try {
      const signed = await findSigned(tokens, await readSecrets(this.#trust.signingSecret))
      return signed?.jwt ?? tokens.jwt
    } catch (error) {
      if (error instanceof VerdictError || error instanceof errors.JOSEError) return tokens.jwt
      throw error
    }
  }

  #post<T>(path: string, body: Record<string, unknown>, options: CallOptions): Promise<Answer<T>> {
    const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID()
    return this.#call('POST', path, body, { ...options, idempotencyKey })
  }

  async #call<T>(
    method: Outgoing['method'],
    path: string,
    body: Record<string, unknown> | undefined,
    { idempotencyKey, requestId, signal, timeoutMs, maxRetries, maxBodyBytes }: CallLimits,
    name = path,
  ): Promise<Answer<T>> {
    const headers = {
      ...(idempotencyKey === undefined ? {} : { 'X-Svc-Idempotency-Key': idempotencyKey }),
      ...(requestId === undefined ? {} : { 'X-Request-Id': requestId }),
    }
    const outgoing = { method, path, name, body, headers, signal, timeoutMs, maxRetries, maxBodyBytes }
    const { body: answer, info } = await send(outgoing, this.#transport)
    return Object.defineProperty(answer as object, 'response', { value: info }) as Answer<T>
  }
}

function assertAnswers(holds: boolean): void {
  if (!holds) throw new SignatureError('response_mismatch', 'The response answers another request.')
}
