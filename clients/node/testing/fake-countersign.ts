/** The service in memory: endpoints, idempotency and signatures. Signatures and JWTs are real. */
import type { ActionPolicy } from '../../../src/contract/action-policy.js'
import { SANDBOX_MODEL } from '../../../src/contract/sandbox-rules.js'
import type { CountersignOptions } from '../client-options.js'
import { Countersign } from '../countersign.js'
import type { SigningSecret } from '../signing-secret.js'
import type { AuditEntry, Environment, ModelGrade, Scope, WebhookEvent } from '../types.js'
import { CaptureSessions, sessionOfPath } from './capture-sessions.js'
import type { FakeCapturePage } from './fake-capture-page.js'
import type { FakeOptions } from './fake-options.js'
import { guidanceAnswer } from './guidance.js'
import { assertKnownFields, assertTypedAction } from './known-fields.js'
import { FakePolicy } from './policy.js'
import { auditAnswer, consentOfPath, passkeysOfPath, userOfPath } from './records.js'
import { FakeRefusal } from './refusals.js'
import type { Call, FakeRequest } from './requests.js'
import { assertScopes } from './scopes.js'
import {
  type FakeAnswer,
  type FakeVerdict,
  fakeId,
  signResponse,
  signVerdict,
  webhookHeaders,
} from './signatures.js'
import { FakeSecrets } from './signing-secrets.js'
import { TestClock } from './test-clock.js'
import { FakeUsers } from './users.js'
import { FakeVerdictKeys } from './verdict-keys.js'
import { verificationOfPath } from './verifications.js'

/**
 * A Countersign in memory, for an application's own tests. The ending of a `user_id` chooses the outcome, as in the service's sandbox.
 * @example
 * const fake = new FakeCountersign()
 * const countersign = fake.client()
 * const { verdict } = await countersign.verify({ user_id: 'eve+no_match', image, action }) // 'rejected'
 */
export class FakeCountersign {
  /** The clock of the service and of its clients. */
  readonly clock: TestClock
  /** Environment of the API key. */
  readonly environment: Environment
  /** The only API key that is known. */
  readonly apiKey: string
  /** Address of the API. Nothing listens there: only `fetch` of this object answers. */
  readonly baseUrl: string
  /** Id of the only tenant. */
  readonly tenantId = fakeId('ten')
  /** Every request so far, oldest first. */
  readonly requests: FakeRequest[] = []
  /** The entries that `auditPage` lists. The service writes none in the sandbox; a test pushes the entries that it wants to be read. */
  readonly auditLog: AuditEntry[] = []
  /** Steps of a person on the hosted capture page, which a test takes by the id of a session. */
  readonly capturePage: FakeCapturePage
  private readonly captureSessions: CaptureSessions
  private readonly signing: FakeSecrets
  private readonly verdictKeys: FakeVerdictKeys
  private readonly policies: FakePolicy
  private readonly users: FakeUsers
  private readonly kept = new Map<string, { payload: string; answer: FakeAnswer }>()
  private readonly jwtTtlSeconds: number
  private readonly checksLiveness: boolean
  private readonly modelGrade: ModelGrade
  private readonly scopes: readonly Scope[] | undefined

  constructor(options: FakeOptions = {}) {
    this.clock = options.clock ?? new TestClock()
    this.baseUrl = options.baseUrl ?? 'https://countersign.test/v1'
    this.verdictKeys = new FakeVerdictKeys(this.baseUrl)
    this.environment = options.environment ?? 'sandbox'
    this.apiKey = `svc-${this.environment === 'sandbox' ? 'sbx' : 'prod'}-Fake`
    this.jwtTtlSeconds = options.jwtTtlSeconds ?? 300
    this.checksLiveness = options.checksLiveness ?? false
    this.modelGrade = options.modelGrade ?? 'evaluation'
    this.scopes = options.scopes
    this.signing = new FakeSecrets(this.clock)
    const { clock, signing, verdictKeys, jwtTtlSeconds, checksLiveness, modelGrade } = this
    this.policies = new FakePolicy(options.policy ?? null)
    this.users = new FakeUsers(
      {
        clock,
        signing,
        verdictKeys,
        jwtTtlSeconds,
        checksLiveness,
        modelGrade,
        policy: this.policies,
        replayPolicy: options.replayPolicy ?? 'reject',
        signVerdict: (verdict, secret, atMs) => this.signVerdict(verdict, secret, atMs),
      },
      options.passkeys,
    )
    this.captureSessions = new CaptureSessions(this.users, clock, this.baseUrl, options.returnOrigins)
    this.capturePage = this.captureSessions
  }

  /** The newest signing secret. */
  get signingSecret(): SigningSecret {
    return this.signing.active[0]
  }

  /**
   * Options for `new Countersign(…)`. They turn retries off, so that a test of a refusal need not wait.
   * @example
   * const countersign = new Countersign({ ...fake.options(), acceptEvaluationGrade: true })
   */
  options(): CountersignOptions {
    return {
      apiKey: this.apiKey,
      baseUrl: this.baseUrl,
      tenantId: this.tenantId,
      signingSecret: () => this.signing.active,
      maxRetries: 0,
      fetch: this.fetch,
      now: () => this.clock.now(),
    }
  }

  /** Makes a client of this service. @param changes options that replace those of `options()` */
  client(changes: Partial<CountersignOptions> = {}): Countersign {
    return new Countersign({ ...this.options(), ...changes })
  }

  /**
   * Makes the JWT of a verdict without a request, as another program may have got it.
   * @param atMs time of the verdict in milliseconds since 1970; default: now by `clock`
   * @example
   * const jwt = await fake.signVerdict({ userId: 'ada', action, reason: 'no_match' })
   */
  signVerdict(verdict: FakeVerdict, secret = this.signingSecret, atMs = this.clock.now()): Promise<string> {
    return signVerdict(
      { livenessChecked: this.checksLiveness, modelGrade: this.modelGrade, ...verdict },
      {
        issuer: this.baseUrl,
        audience: this.tenantId,
        environment: this.environment,
        nowMs: atMs,
        ttlSeconds: this.jwtTtlSeconds,
        secret,
      },
    )
  }

  /**
   * Makes the token of a verdict that anyone can check with the keys at `/.well-known/jwks.json`.
   * @param atMs time of the verdict in milliseconds since 1970; default: now by `clock`
   * @example
   * const jwt = await fake.signPublicVerdict({ userId: 'ada', action })
   */
  async signPublicVerdict(verdict: FakeVerdict, atMs = this.clock.now()): Promise<string> {
    return this.verdictKeys.sign(await this.signVerdict(verdict, this.signingSecret, atMs))
  }

  /** Sets the tenant's policy, or takes it away with null. It holds from the next call on, and is not checked for mistakes. */
  setPolicy(policy: ActionPolicy | null): void {
    this.policies.policy = policy
  }

  /** Replaces the key of public verdicts at once, as an emergency rotation does: verdicts under the key before are refused. */
  replaceVerdictKey(): void {
    this.verdictKeys.replace()
  }

  /**
   * Makes a signed webhook as the service would send it.
   * @returns the event, and the headers and the body that an application's route gets
   * @example
   * const { headers, body } = await fake.webhook('user.locked_out', { user_id: 'ada', rejections: 5, ends_at })
   */
  async webhook<T extends WebhookEvent['type']>(
    type: T,
    data: Extract<WebhookEvent, { type: T }>['data'],
  ): Promise<{ event: WebhookEvent; headers: Record<string, string>; body: string }> {
    const facts = { created_at: this.time(), environment: this.environment, tenant_id: this.tenantId }
    const event = { id: fakeId('evt'), type, ...facts, data } as WebhookEvent
    const body = JSON.stringify(event)
    return {
      event,
      body,
      headers: await webhookHeaders(event, body, this.signing.active, this.clock.now()),
    }
  }

  /** Answers requests instead of the global `fetch`; the option `fetch` of a client takes it. */
  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const { pathname, search, searchParams } = new URL(request.url)
    const text = await request.text()
    const call: Call = {
      method: request.method,
      path: pathname.replace(/^\/v1/, ''),
      query: searchParams,
      headers: request.headers,
      body: text ? JSON.parse(text) : undefined,
      requestId: crypto.randomUUID(),
      signal: init?.signal,
    }
    this.requests.push(call)
    const known = request.headers.get('authorization') === `Bearer ${this.apiKey}`
    const answer = await this.answer(call, known).catch((error) => {
      if (!(error instanceof FakeRefusal)) throw error
      const { status, body, retryAfterSeconds: seconds } = error
      return { status, body, ...(seconds === null ? {} : { headers: { 'Retry-After': String(seconds) } }) }
    })
    return signResponse(answer, {
      environment: this.environment,
      method: call.method,
      target: pathname + search,
      requestId: call.requestId,
      nowMs: this.clock.now(),
      // Without a known key, there is no tenant whose secret could sign.
      secrets: known ? this.signing.active : [],
    })
  }

  private async answer(call: Call, known: boolean): Promise<FakeAnswer> {
    const document = call.method === 'GET' ? await this.verdictKeys.document(call.path) : null
    if (document) return document
    if (!known) throw new FakeRefusal('invalid_api_key', call.requestId)
    assertKnownFields(call)
    assertScopes(call, this.scopes)
    await assertTypedAction(call)
    const key = call.headers.get('x-svc-idempotency-key')
    if (!key) return this.handle(call)
    const scope = `${call.method} ${call.path} ${key}`
    const payload = JSON.stringify(call.body)
    const earlier = this.kept.get(scope)
    if (earlier && earlier.payload !== payload)
      throw new FakeRefusal('idempotency_key_reused', call.requestId)
    if (earlier && call.path === '/keys/rotate-signing')
      throw new FakeRefusal('secret_already_told', call.requestId)
    if (earlier)
      return { ...earlier.answer, headers: { ...earlier.answer.headers, 'X-Svc-Idempotent-Replay': 'true' } }
    const answer = await this.handle(call)
    this.kept.set(scope, { payload, answer })
    return answer
  }

  private handle(call: Call): Promise<FakeAnswer> | FakeAnswer {
    const userId = userOfPath(call)
    if (userId !== null) return this.users.user(userId, call)
    const agreeing = consentOfPath(call)
    if (agreeing !== null) return this.users.recordConsent(agreeing, call)
    const ofPasskeys = passkeysOfPath(call)
    if (ofPasskeys !== null) return this.users.passkeys.answer(ofPasskeys, call)
    const sessionId = sessionOfPath(call)
    if (sessionId !== null) return this.captureSessions.read(sessionId, call)
    const verificationId = verificationOfPath(call)
    if (verificationId !== null) return this.users.verification(verificationId, call)
    switch (`${call.method} ${call.path}`) {
      case 'POST /enroll':
        return this.users.enroll(call)
      case 'POST /verify':
        return this.users.verify(call)
      case 'POST /challenges':
        return this.users.challenge(call)
      case 'POST /capture-sessions':
        return this.captureSessions.create(call)
      case 'POST /guidance':
        return guidanceAnswer(call)
      case 'DELETE /delete':
        return this.erase(call)
      case 'GET /health':
        return this.health()
      case 'POST /keys/rotate-signing':
        return this.signing.rotate(call)
      case 'GET /audit':
        return auditAnswer(call, this.auditLog)
      default:
        throw new FakeRefusal('unknown_endpoint', call.requestId)
    }
  }

  private erase(call: Call): FakeAnswer {
    const receipt = this.users.delete(call)
    this.captureSessions.forget(call.body.user_id)
    return receipt
  }

  private health(): FakeAnswer {
    const engine = {
      status: 'ok',
      model: SANDBOX_MODEL,
      following_models: [],
      grade: this.modelGrade,
      workers: { ready: 1, configured: 1 },
      queue: { waiting: 0, running: 0, limit: 64 },
      execution_provider: 'cpu',
      fallbacks: [],
    }
    const http = { status: 'ok', transport: 'uws', reason: 'preferred' }
    const checks = { engine, store: { status: 'ok' }, http }
    return { status: 200, body: { status: 'ok', environment: this.environment, version: 'fake', checks } }
  }

  private time(): string {
    return new Date(this.clock.now()).toISOString()
  }
}
