/** The client of a Countersign service. */
import { decodeJwt, errors } from 'jose'
import { actionHash } from '../../src/contract/action-hash.js'
import { assertAction } from '../../src/contract/actions/action.js'
import { DEFAULT_MAX_BODY_BYTES } from './body-limit.js'
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
import type { WebhookHeaders } from './headers.js'
import { encodePhoto, encodePhotos } from './image.js'
import { observer, type ResponseInfo } from './observer.js'
import { DefaultReplayStore } from './replay-store.js'
import { DEFAULT_SIGNATURE_TOLERANCE_SECONDS } from './response-signature.js'
import { assertNotSwapped, hmacKey, readSecrets, type SigningSecretSource } from './signing-secret.js'
import { type Outgoing, send, type TransportOptions } from './transport.js'
import type {
  Action,
  ActionLike,
  ApprovedClaims,
  AssessResult,
  AuditEntry,
  AuditListRequest,
  AuditPage,
  CancelledPasskeyRecovery,
  CaptureSessionFields,
  CaptureSessionLink,
  Challenge,
  ChallengeFields,
  Consent,
  DeleteRequest,
  DeleteResult,
  EnrollRequest,
  EnrollResult,
  Environment,
  Guidance,
  GuidanceRequest,
  HealthResult,
  ImageInput,
  PasskeyAssertionChallenge,
  PasskeyAssertionRequest,
  PasskeyList,
  PasskeyRegistration,
  PasskeyRegistrationChallenge,
  PasskeyRegistrationRequest,
  Photos,
  RecordedConsent,
  RegisteredPasskey,
  RevokedPasskey,
  RotateSigningRequest,
  RotateSigningResult,
  User,
  VerdictClaims,
  Verification,
  VerificationRequest,
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
import { verifyWebhook } from './webhook.js'

/** The body of an answer. The non-enumerable `response` holds its status, request id and number of attempts. */
export type Answer<T> = T & { readonly response: ResponseInfo }

const GUIDANCE_PATH = '/guidance'
/** Largest body of a guidance call that the service takes, in bytes: its frames are small. */
const GUIDANCE_BODY_BYTES = 512 * 1024

/** The service gives the first answer to a request again for this long. */
const REPEAT_MS = 30_000

/** The content of a call besides its options. */
interface Sent<T> {
  body?: object
  /** Values of the variables of the path, which the answer has too. */
  variables?: Record<string, string>
  /** Parameters of the query; undefined ones are left out. */
  query?: object
  /** Members that the answer to this request has; default: those of the path. */
  asked?: NoInfer<Partial<T>>
}

/**
 * The client of a Countersign service. Every call throws `ApiError` for a refusal, `ConnectionError` or `TimeoutError` where no answer
 * came, `SignatureError` for an answer that cannot be trusted, and `UnexpectedResponseError` for an answer of something else. The errors
 * have a stable `code`.
 * @example
 * const countersign = new Countersign({
 *   baseUrl: 'https://countersign.example.com/v1',
 *   apiKey: 'svc-prod-…',
 *   signingSecret: { id: 'sec_…', secret: 'svc-sec-…' },
 *   tenantId: 'ten_…',
 * })
 */
export class Countersign implements VerdictVerifier {
  /** Environment of the API key. */
  readonly environment: Environment
  readonly #transport: TransportOptions
  readonly #trust: VerdictTrust & { signingSecret: SigningSecretSource }

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
      connectRetrySeconds: options.connectRetrySeconds ?? DEFAULTS.connectRetrySeconds,
      // Some runtimes want it called on the global object.
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      now,
      observer: observer(options),
    }
    const nowSeconds = () => now() / 1000
    this.#trust = {
      signingSecret,
      audience: options.tenantId,
      environment: this.environment,
      acceptEvaluationGrade: options.acceptEvaluationGrade,
      clockToleranceSeconds: clockTolerance(options.clockToleranceSeconds),
      replayStore: options.replayStore ?? new DefaultReplayStore(nowSeconds),
      now: nowSeconds,
    }
  }

  /**
   * Enrolls a user: makes a biometric reference of 1 to 5 photos of the person, or of a challenge. Three photos make a better reference
   * than one.
   * @throws ApiError such as already_enrolled, face_not_found, multiple_faces, low_quality, different_people, liveness_failed
   * @throws ApiError image_unreadable, before anything is sent, that names a photo that is missing, empty or none
   * @example
   * const { reference_id, quality } = await countersign.enroll({ user_id: 'ada', images: [first, second, third] })
   */
  enroll(request: EnrollRequest & { dry_run?: false }, options?: CallOptions): Promise<Answer<EnrollResult>>
  enroll(request: EnrollRequest & { dry_run: true }, options?: CallOptions): Promise<Answer<AssessResult>>
  async enroll(
    request: EnrollRequest,
    options: CallOptions = {},
  ): Promise<Answer<EnrollResult | AssessResult>> {
    options.signal?.throwIfAborted()
    const body = { ...request, ...(await encodePhotos(request)) }
    const { user_id } = request
    return this.#call<EnrollResult | AssessResult>('POST', '/enroll', options, { body, asked: { user_id } })
  }

  /**
   * Adds photos to the reference of an enrolled user. Each must match it.
   * @throws ApiError such as reference_not_found, different_people
   * @example
   * await countersign.addPhotos({ user_id: 'ada', image })
   */
  addPhotos(request: { user_id: string } & Photos, options?: CallOptions): Promise<Answer<EnrollResult>> {
    return this.enroll({ ...request, add: true }, options)
  }

  /**
   * Assesses photos as an enrollment would, and stores nothing.
   * @throws ApiError such as face_not_found, multiple_faces
   * @example
   * const { quality } = await countersign.assessPhotos({ user_id: 'ada', image })
   */
  assessPhotos(request: { user_id: string } & Photos, options?: CallOptions): Promise<Answer<AssessResult>> {
    return this.enroll({ ...request, dry_run: true }, options)
  }

  /**
   * Asks whether the photos show the enrolled user, and has the action countersigned if they do. A rejection is an answer, not an error.
   * @returns the verdict; its `jwt` is for `verifyVerdict`, in the program that carries the action out
   * @throws ApiError such as reference_not_found, face_not_found, low_quality, liveness_required
   * @throws TypeError that names a member of the action that JSON does not have
   * @example
   * const { verdict, reason, jwt } = await countersign.verify({ user_id: 'ada', image, action: { type: 'transfer', amount: '12.50' } })
   */
  async verify<A extends ActionLike = Action>(
    request: VerifyRequest<ImageInput, A>,
    options: CallOptions = {},
  ): Promise<Answer<VerifyResult>> {
    options.signal?.throwIfAborted()
    assertAction(request.action)
    // Hashing refuses an action without a canonical form before it is sent: it would be countersigned as something else.
    const hash = await actionHash(request.action)
    const content = { ...request, ...(await encodePhotos(request)) }
    // A retry must be the same request to the byte. Without a key of the caller, so must a double click be; later it is another request, so
    // that an answer of before is none to it.
    const nonce = request.nonce ?? options.idempotencyKey ?? (await this.#nonceOf(content))
    const answer = await this.#call<VerifyResult>('POST', '/verify', options, { body: { ...content, nonce } })
    // The signature does not cover the request's body, so a well-signed approval of another request could replace this answer.
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
   * Asks for a challenge: the movements that the person makes, for one user and one action. The frames go to `verify` or `enroll` as
   * `challenge`, instead of photos. A challenge is good for one call, within `expires_in` seconds.
   * @throws ApiError such as reference_not_found, locked_out
   * @example
   * const { challenge_id, nonce, steps, capture } = await countersign.createChallenge({ user_id: 'ada', action })
   * // The page captures the frames.
   * await countersign.verify({ user_id: 'ada', action, challenge: { challenge_id, nonce, frames } })
   */
  async createChallenge<A extends ActionLike = Action>(
    request: ChallengeFields<A>,
    options: CallOptions = {},
  ): Promise<Answer<Challenge>> {
    options.signal?.throwIfAborted()
    if (request.purpose !== 'enroll') assertAction(request.action)
    const { user_id, purpose = 'verify' } = request
    return this.#call<Challenge>('POST', '/challenges', options, {
      body: request,
      asked: { user_id, purpose },
    })
  }

  /**
   * Makes a link to the hosted capture page, for one user and one action. Keep `session_id` with the person whom you send to `url`: the id
   * that comes back in an address may be another person's.
   * @throws ApiError such as reference_not_found, return_url_not_allowed, capture_page_unavailable
   * @example
   * const { session_id, url } = await countersign.createCaptureSession({ user_id: 'ada', action, return_url: 'https://bank.example/done' })
   */
  async createCaptureSession<A extends ActionLike = Action>(
    request: CaptureSessionFields<A>,
    options: CallOptions = {},
  ): Promise<Answer<CaptureSessionLink>> {
    options.signal?.throwIfAborted()
    if (request.purpose !== 'enroll') assertAction(request.action)
    const { user_id, purpose = 'verify' } = request
    const asked = { user_id, purpose }
    return this.#call<CaptureSessionLink>('POST', '/capture-sessions', options, { body: request, asked })
  }

  /**
   * Reads a capture session: its status, and the answer of verify or enroll to its last capture. Only `verifyVerdict` decides whether it is
   * an approval: give it this session and the id that you kept.
   * @param options `proof` is `capture_proof` from the address with which the person came back: without it, only a session that was made
   *   with `browser: 'any'` gives its result
   * @throws ApiError such as capture_session_not_found, capture_proof_invalid @throws TypeError for a text that is no id of a session
   * @example
   * const session = await countersign.getCaptureSession(kept, { proof })
   * if (session.status === 'completed') await countersign.verifyVerdict(session, { userId, action, captureSessionId: kept })
   */
  async getCaptureSession(
    sessionId: string,
    { proof, ...options }: CallOptions & { proof?: string | null | undefined } = {},
  ): Promise<Answer<CaptureSession>> {
    if (!/^cap_[\w-]{1,60}$/.test(sessionId))
      throw new TypeError(
        `sessionId is ${JSON.stringify(sessionId)}: give the session_id that createCaptureSession answered`,
      )
    const answer = await this.#call<CaptureSession>('GET', '/capture-sessions/{session_id}', options, {
      variables: { session_id: sessionId },
      query: { proof: proof || undefined },
    })
    if (answer.result?.status === 200) answer.result.body.jwt = await this.#checkable(answer.result.body)
    return answer
  }

  /**
   * Advises a person before the camera by one small frame, of at most 307,200 pixels. Nothing is kept. The call is not retried where it
   * fails: go on without the advice.
   * @returns codes of advice, the most urgent first; an empty list for a frame that will do
   * @throws ApiError such as image_unreadable, image_too_large
   * @example
   * const { guidance } = await countersign.guide({ image: frame, step: 'turn_left', frontal: firstFrame })
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
    const { step = 'frontal' } = request
    return this.#call<Guidance>('POST', GUIDANCE_PATH, { ...limits, ...options }, { body, asked: { step } })
  }

  /**
   * Erases all data of a user. A repeat within 24 hours gets the same receipt.
   * @throws ApiError such as reference_not_found
   * @example
   * const { erasure_id, erased_at } = await countersign.delete('ada')
   */
  async delete(request: DeleteRequest | string, options: CallOptions = {}): Promise<Answer<DeleteResult>> {
    const user = { user_id: typeof request === 'string' ? request : request.user_id }
    return this.#call<DeleteResult>('DELETE', '/delete', options, { body: user, asked: user })
  }

  /**
   * Reports the state of the service. A degraded service is an answer, not an error.
   * @example
   * const { status, checks } = await countersign.health()
   */
  health(options: CallOptions = {}): Promise<Answer<HealthResult>> {
    return this.#call('GET', '/health', options)
  }

  /**
   * Makes a new signing secret; the old one stays valid for 30 minutes. Store the new one before anything else: it is shown only once.
   * Where the answer is lost, the retry throws `secret_already_told`: call again with `force: true`, which ends the older one at once.
   * @throws ApiError such as rotation_in_progress, secret_already_told
   * @example
   * const { signing_secret, previous } = await countersign.rotateSigning()
   * await store(signing_secret) // Both are valid until previous.valid_until.
   */
  rotateSigning(
    request: RotateSigningRequest = {},
    options: CallOptions = {},
  ): Promise<Answer<RotateSigningResult>> {
    return this.#call('POST', '/keys/rotate-signing', options, { body: request })
  }

  /**
   * Reads the record of an enrolled user: the reference, the consent, and a lockout. It holds nothing biometric.
   * @throws ApiError such as reference_not_found @throws TypeError for `.` and `..`, which no address can name
   * @example
   * const { reference, lockout } = await countersign.getUser('ada')
   */
  async getUser(userId: string, options: CallOptions = {}): Promise<Answer<User>> {
    return this.#call('GET', '/users/{user_id}', options, { variables: { user_id: userId } })
  }

  /**
   * Records that an enrolled user has agreed again, or to another text, without a photo. Ask for the consent where the person is signed in.
   * @throws ApiError such as reference_not_found @throws TypeError as `getUser`
   * @example
   * await countersign.recordConsent('ada', { id: 'terms-2', agreed_at: new Date().toISOString() })
   */
  async recordConsent(
    userId: string,
    consent: Consent,
    options: CallOptions = {},
  ): Promise<Answer<RecordedConsent>> {
    const variables = { user_id: userId }
    return this.#call('POST', '/users/{user_id}/consent', options, { variables, body: { consent } })
  }

  /**
   * Looks an earlier verification up, for support and for an audit. The answer is no approval: only a checked JWT is.
   * @param request the user and the action, where the caller knows them. The answer names the user only where the request does
   * @throws ApiError such as verification_not_found @throws TypeError for a text that is no id, and for an action or a `display_hash` without a user
   * @example
   * const { verdict, action_matches } = await countersign.getVerification(id, { user_id: 'ada', action })
   */
  async getVerification(
    verificationId: string,
    request: VerificationRequest = {},
    options: CallOptions = {},
  ): Promise<Answer<Verification>> {
    if (!/^[\w-]{1,64}$/.test(verificationId))
      throw new TypeError(
        `verificationId is ${JSON.stringify(verificationId)}: give the verification_id of an answer of verify`,
      )
    const { user_id, action, display_hash } = request
    for (const [name, given] of Object.entries({ action, display_hash }))
      if (given !== undefined && user_id === undefined) throw new TypeError(`${name} needs user_id`)
    if (action !== undefined) assertAction(action)
    const action_hash = action === undefined ? undefined : await actionHash(action)
    const variables = { verification_id: verificationId }
    return this.#call<Verification>('GET', '/verifications/{verification_id}', options, {
      variables,
      query: { user_id, action_hash, display_hash },
      asked: { ...variables, user_id: user_id ?? null },
    })
  }

  /**
   * Begins the registration of a passkey: pass `options` to a page on which the user is signed in, for `navigator.credentials.create()`.
   * @throws ApiError such as passkeys_unavailable, passkey_verdict_required @throws TypeError as `getUser`
   * @example
   * const { challenge_id, nonce, options } = await countersign.beginPasskeyRegistration('ada', { verification_id })
   */
  beginPasskeyRegistration(
    userId: string,
    request: PasskeyRegistrationRequest = {},
    options: CallOptions = {},
  ): Promise<Answer<PasskeyRegistrationChallenge>> {
    const sent = { variables: { user_id: userId }, body: request, asked: {} }
    return this.#call('POST', '/users/{user_id}/passkeys/registration', options, sent)
  }

  /**
   * Registers the passkey that the browser made.
   * @throws ApiError such as challenge_used, passkey_origin_not_allowed, passkey_user_not_verified @throws TypeError as `getUser`
   * @example
   * const { passkey_id } = await countersign.registerPasskey('ada', { challenge_id, nonce, credential })
   */
  async registerPasskey(
    userId: string,
    request: PasskeyRegistration,
    options: CallOptions = {},
  ): Promise<Answer<RegisteredPasskey>> {
    const sent = { variables: { user_id: userId }, body: request }
    return this.#call('POST', '/users/{user_id}/passkeys', options, sent)
  }

  /**
   * Lists the passkeys of a user, oldest first.
   * @throws ApiError such as reference_not_found @throws TypeError as `getUser`
   * @example
   * const { data } = await countersign.listPasskeys('ada')
   */
  async listPasskeys(userId: string, options: CallOptions = {}): Promise<Answer<PasskeyList>> {
    return this.#call('GET', '/users/{user_id}/passkeys', options, { variables: { user_id: userId } })
  }

  /**
   * Revokes a passkey, such as a lost one: nothing that it signs counts from then on.
   * @throws ApiError such as passkey_not_found @throws TypeError as `getUser`, and for a text that is no id of a passkey
   * @example
   * await countersign.revokePasskey('ada', passkey_id)
   */
  async revokePasskey(
    userId: string,
    passkeyId: string,
    options: CallOptions = {},
  ): Promise<Answer<RevokedPasskey>> {
    if (!/^pky_[\w-]{1,60}$/.test(passkeyId))
      throw new TypeError(`passkeyId is ${JSON.stringify(passkeyId)}: give the passkey_id of a passkey`)
    const variables = { user_id: userId, passkey_id: passkeyId }
    return this.#call('DELETE', '/users/{user_id}/passkeys/{passkey_id}', options, { variables })
  }

  /**
   * Cancels the recovery of a passkey that an approved verification for `recover_passkey` has begun.
   * @throws ApiError such as passkey_recovery_not_found @throws TypeError as `getUser`
   * @example
   * await countersign.cancelPasskeyRecovery('ada')
   */
  async cancelPasskeyRecovery(
    userId: string,
    options: CallOptions = {},
  ): Promise<Answer<CancelledPasskeyRecovery>> {
    const variables = { user_id: userId }
    return this.#call('DELETE', '/users/{user_id}/passkeys/recovery', options, { variables })
  }

  /**
   * Asks for what a passkey of the user signs for one action. The browser's answer goes to `verify` with photos, as `passkey_assertion`. For
   * frames of a challenge, ask `createChallenge` for a `passkey` instead.
   * @throws ApiError such as passkeys_unavailable, passkey_not_found @throws TypeError as `getUser`
   * @example
   * const { challenge_id, nonce, options } = await countersign.beginPasskeyAssertion('ada', { action })
   */
  async beginPasskeyAssertion<A extends ActionLike = Action>(
    userId: string,
    request: PasskeyAssertionRequest<A>,
    options: CallOptions = {},
  ): Promise<Answer<PasskeyAssertionChallenge>> {
    assertAction(request.action)
    const sent = { variables: { user_id: userId }, body: request, asked: {} }
    return this.#call('POST', '/users/{user_id}/passkeys/assertion', options, sent)
  }

  /**
   * Reads one page of the tenant's audit log, oldest first unless `order` is `desc`. The sandbox has no audit log.
   * @param request `limit` is 1 to 200, default 50
   * @throws ApiError such as insufficient_scope
   * @example
   * const { data, next_cursor } = await countersign.auditPage({ event: 'verify', limit: 100 })
   */
  auditPage(request: AuditListRequest = {}, options: CallOptions = {}): Promise<Answer<AuditPage>> {
    return this.#call('GET', '/audit', options, { query: request })
  }

  /**
   * Reads every entry of the tenant's audit log after `after`, oldest first unless `order` is `desc`. Pages are fetched as they are needed.
   * @throws ApiError such as insufficient_scope
   * @example
   * for await (const { at, event, subject } of countersign.auditEntries({ after: kept })) console.log(at, event, subject)
   */
  async *auditEntries(request: AuditListRequest = {}, options: CallOptions = {}): AsyncGenerator<AuditEntry> {
    for (let page: AuditPage, { after } = request; ; after = page.next_cursor) {
      page = await this.auditPage({ ...request, ...(after === undefined ? {} : { after }) }, options)
      yield* page.data
      if (!page.has_more) return
    }
  }

  /**
   * Checks that a verdict JWT of this tenant and environment allows this user this action, and marks it as used: it passes once. With a
   * capture session, `captureSessionId` is required.
   * @returns the claims of the approval
   * @throws VerdictError such as not_approved, expired, wrong_user, wrong_action, already_used
   * @example
   * const claims = await countersign.verifyVerdict(jwt, { userId: signedInUser, action, acr: ACTIVE_ACR })
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
   * Checks the signature of a webhook of this client's environment. An event may come more than once, with the same `id`.
   * @param body the raw body, not parsed: the signature covers its bytes
   * @returns the event
   * @throws SignatureError such as signature_invalid, signature_expired
   * @example
   * const event = await countersign.verifyWebhook(request.headers, await request.text())
   */
  verifyWebhook(headers: WebhookHeaders, body: Uint8Array | string): Promise<WebhookEvent> {
    const { signingSecret, now } = this.#trust
    const { signatureToleranceSeconds } = this.#transport
    const { environment } = this
    const options = { environment, signatureToleranceSeconds, now: now?.() }
    return verifyWebhook(headers, body, signingSecret, options)
  }

  /** @returns the same for the same request within `REPEAT_MS`, and a secret to everybody without the API key */
  async #nonceOf(content: object): Promise<string> {
    const repeat = Math.floor((this.#trust.now!() * 1000) / REPEAT_MS)
    const text = new TextEncoder().encode(JSON.stringify([content, repeat]))
    const mac = await crypto.subtle.sign('HMAC', await hmacKey(this.#transport.apiKey, 'sign'), text)
    return Array.from(new Uint8Array(mac), (byte) => byte.toString(16).padStart(2, '0')).join('')
  }

  /**
   * @returns the token of a rotation's two that a configured secret made; the first where they made neither, which `verifyVerdict` then
   *   refuses
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

  /** @param name path after /v1, with names in braces instead of what names somebody */
  async #call<T>(
    method: Outgoing['method'],
    name: string,
    options: CallOptions & { maxBodyBytes?: number },
    { body, variables = {}, query = {}, asked = variables as Partial<T> }: Sent<T> = {},
  ): Promise<Answer<T>> {
    const { idempotencyKey, requestId, ...limits } = options
    // Advice changes nothing: its repeat needs no key.
    const isEffective = method === 'POST' && name !== GUIDANCE_PATH
    const key = idempotencyKey ?? (isEffective ? crypto.randomUUID() : undefined)
    const headers = {
      ...(key === undefined ? {} : { 'X-Svc-Idempotency-Key': key }),
      ...(requestId === undefined ? {} : { 'X-Request-Id': requestId }),
    }
    const outgoing = { ...limits, method, name, path: pathOf(name, variables, query), body, headers }
    const { body: answer, info } = await send(outgoing, this.#transport)
    assertAnswers(
      Object.entries(asked).every(([member, value]) => (answer as Record<string, unknown>)[member] === value),
    )
    return Object.defineProperty(answer as object, 'response', { value: info }) as Answer<T>
  }
}

function assertAnswers(holds: boolean): void {
  if (!holds) throw new SignatureError('response_mismatch', 'The response answers another request.')
}

/** @throws TypeError for the users `.` and `..`, whom no address can name */
function pathOf(name: string, variables: Record<string, string>, query: object): string {
  const { user_id = 'any' } = variables
  if (/^\.{0,2}$/.test(user_id))
    throw new TypeError(`userId is ${JSON.stringify(user_id)}: no address names it`)
  const path = name.replace(/\{(\w+)\}/g, (_, variable) => encodeURIComponent(variables[variable]!))
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path
}
