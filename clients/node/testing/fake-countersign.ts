/** The service in memory: endpoints, idempotency and signatures. Signatures and JWTs are real. */
import type { ActionPolicy } from '../../../src/contract/action-policy.js'
import { SANDBOX_MODEL, scriptedGuidance } from '../../../src/contract/sandbox-rules.js'
import type { CountersignOptions } from '../client-options.js'
import { Countersign } from '../countersign.js'
import type { SigningSecret } from '../signing-secret.js'
import type { AuditEntry, Environment, WebhookEvent } from '../types.js'
import { CaptureSessions } from './capture-sessions.js'
import type { FakeCapturePage } from './fake-capture-page.js'
import type { FakeOptions } from './fake-options.js'
import type { FakeInstallation } from './installation.js'
import { FakeRefusal, refuseRequest } from './refusals.js'
import {
  assertKnownFields,
  assertScopes,
  assertTypedAction,
  type Call,
  describedCall,
  type FakeRequest,
  refuseBusy,
} from './requests.js'
import type { CallName } from './service-calls.js'
import {
  type FakeAnswer,
  type FakeVerdict,
  fakeId,
  signResponse,
  signVerdict,
  webhookHeaders,
} from './signatures.js'
import { FakeSecrets } from './signing-secrets.js'
import { isoTime, TestClock } from './test-clock.js'
import { FakeUsers } from './users.js'
import { FakeVerdictKeys } from './verdict-keys.js'

/** Answers a call. @param first what stands in the path for its first variable @param second for its second one */
type Endpoint = (call: Call, first: string, second: string) => Promise<FakeAnswer> | FakeAnswer

/** Entries of a page of the audit log. */
const DEFAULT_LIMIT = 50

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
  private readonly service: FakeInstallation
  private readonly endpoints: Readonly<Record<CallName, Endpoint>>
  private readonly kept = new Map<string, { payload: string; answer: FakeAnswer }>()

  constructor(options: FakeOptions = {}) {
    this.clock = options.clock ?? new TestClock()
    this.baseUrl = options.baseUrl ?? 'https://countersign.test/v1'
    this.environment = options.environment ?? 'sandbox'
    this.apiKey = `svc-${this.environment === 'sandbox' ? 'sbx' : 'prod'}-Fake`
    this.service = {
      baseUrl: this.baseUrl,
      clock: this.clock,
      jwtTtlSeconds: options.jwtTtlSeconds ?? 300,
      replayPolicy: options.replayPolicy ?? 'reject',
      checksLiveness: options.checksLiveness ?? false,
      modelGrade: options.modelGrade ?? 'evaluation',
      passkeys: options.passkeys,
      returnOrigins: options.returnOrigins,
      scopes: options.scopes,
      policy: options.policy ?? null,
      signing: new FakeSecrets(this.clock),
      verdictKeys: new FakeVerdictKeys(this.baseUrl),
      signVerdict: (verdict, secret, atMs) => this.signVerdict(verdict, secret, atMs),
    }
    const users = new FakeUsers(this.service)
    const sessions = new CaptureSessions(users, this.service)
    this.capturePage = sessions
    const { passkeys, verdicts } = users
    this.endpoints = {
      'POST /enroll': (call) => users.enroll(call),
      'POST /verify': (call) => users.verify(call),
      'DELETE /delete': ({ body }) => {
        const receipt = users.erase(body.user_id)
        sessions.forget(body.user_id)
        return receipt
      },
      'GET /health': () => this.health(),
      'POST /keys/rotate-signing': ({ body }) => this.service.signing.rotate(body?.force),
      'GET /audit': ({ query }) => this.auditPage(query),
      'POST /challenges': (call) => users.challenge(call),
      'POST /guidance': ({ body }) => guide(body),
      'POST /capture-sessions': (call) => sessions.create(call),
      'GET /users/{user_id}': (_call, userId) => users.read(userId),
      'GET /verifications/{verification_id}': ({ query }, id) => verdicts.read(id, query),
      'GET /capture-sessions/{session_id}': ({ query }, id) => sessions.read(id, query),
      'POST /users/{user_id}/passkeys/registration': ({ body }, userId) =>
        passkeys.beginRegistration(userId, body ?? {}),
      'POST /users/{user_id}/passkeys': ({ body }, userId) => passkeys.register(userId, body),
      'GET /users/{user_id}/passkeys': (_call, userId) => passkeys.list(userId),
      'POST /users/{user_id}/passkeys/assertion': ({ body }, userId) => passkeys.beginAssertion(userId, body),
      'DELETE /users/{user_id}/passkeys/recovery': (_call, userId) => passkeys.cancelRecovery(userId),
      'POST /users/{user_id}/consent': ({ body }, userId) => users.recordConsent(userId, body),
      'DELETE /users/{user_id}/passkeys/{passkey_id}': (_call, userId, id) => passkeys.revoke(userId, id),
    }
  }

  /** The newest signing secret. */
  get signingSecret(): SigningSecret {
    return this.service.signing.active[0]
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
      signingSecret: () => this.service.signing.active,
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
    const { checksLiveness, modelGrade, jwtTtlSeconds } = this.service
    return signVerdict(
      { livenessChecked: checksLiveness, modelGrade, ...verdict },
      {
        issuer: this.baseUrl,
        audience: this.tenantId,
        environment: this.environment,
        nowMs: atMs,
        ttlSeconds: jwtTtlSeconds,
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
    return this.service.verdictKeys.sign(await this.signVerdict(verdict, this.signingSecret, atMs))
  }

  /** Sets the tenant's policy, or takes it away with null. It holds from the next call on, and is not checked for mistakes. */
  setPolicy(policy: ActionPolicy | null): void {
    this.service.policy = policy
  }

  /** Replaces the key of public verdicts at once, as an emergency rotation does: verdicts under the key before are refused. */
  replaceVerdictKey(): void {
    this.service.verdictKeys.replace()
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
    const { environment, tenantId: tenant_id, clock } = this
    const created_at = isoTime(clock.now())
    const event = { id: fakeId('evt'), type, created_at, environment, tenant_id, data } as WebhookEvent
    const body = JSON.stringify(event)
    const headers = await webhookHeaders(event, body, this.service.signing.active, clock.now())
    return { event, body, headers }
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
      return error.answer(call.requestId)
    })
    return signResponse(answer, {
      environment: this.environment,
      method: call.method,
      target: pathname + search,
      requestId: call.requestId,
      nowMs: this.clock.now(),
      // Without a known key, there is no tenant whose secret could sign.
      secrets: known ? this.service.signing.active : [],
    })
  }

  private async answer(call: Call, known: boolean): Promise<FakeAnswer> {
    const document = call.method === 'GET' ? await this.service.verdictKeys.document(call.path) : null
    if (document) return document
    if (!known) throw new FakeRefusal('invalid_api_key')
    const { name, variables } = describedCall(call)
    const { body, query } = call
    const [first = '', second = ''] = variables
    assertKnownFields(name, body)
    assertScopes(name, body, this.service.scopes)
    await assertTypedAction(name, body)
    refuseBusy(name.includes('{user_id}') ? first : (body?.user_id ?? query.get('user_id') ?? ''))
    const key = call.headers.get('x-svc-idempotency-key')
    if (!key) return this.endpoints[name](call, first, second)
    const scope = `${call.method} ${call.path} ${key}`
    const payload = JSON.stringify(body)
    const earlier = this.kept.get(scope)
    if (earlier && earlier.payload !== payload) throw new FakeRefusal('idempotency_key_reused')
    if (earlier && name === 'POST /keys/rotate-signing') throw new FakeRefusal('secret_already_told')
    if (earlier)
      return { ...earlier.answer, headers: { ...earlier.answer.headers, 'X-Svc-Idempotent-Replay': 'true' } }
    const answer = await this.endpoints[name](call, first, second)
    this.kept.set(scope, { payload, answer })
    return answer
  }

  private auditPage(query: URLSearchParams): FakeAnswer {
    const isNewestFirst = query.get('order') === 'desc'
    const after = Number(query.get('after') ?? (isNewestFirst ? Number.MAX_SAFE_INTEGER : 0))
    const limit = Number(query.get('limit') ?? DEFAULT_LIMIT)
    const event = query.get('event')
    const ordered = isNewestFirst ? this.auditLog.toReversed() : this.auditLog
    const left = ordered.filter(
      (entry) =>
        (isNewestFirst ? entry.sequence < after : entry.sequence > after) &&
        (!event || entry.event === event),
    )
    const data = left.slice(0, limit)
    const has_more = left.length > data.length
    // Past the last page, oldest first, the next one begins after the entries of other events too.
    const last = (has_more || isNewestFirst ? data : this.auditLog).at(-1)
    const reached = last?.sequence ?? Number(query.get('after') ?? 0)
    const next_cursor = String(isNewestFirst ? reached : Math.max(after, reached))
    return { status: 200, body: { data, has_more, next_cursor, broken_sequence: null } }
  }

  private health(): FakeAnswer {
    const engine = {
      status: 'ok',
      model: SANDBOX_MODEL,
      following_models: [],
      grade: this.service.modelGrade,
      workers: { ready: 1, configured: 1 },
      queue: { waiting: 0, running: 0, limit: 64 },
      execution_provider: 'cpu',
      fallbacks: [],
    }
    const http = { status: 'ok', transport: 'uws', reason: 'preferred' }
    const checks = { engine, store: { status: 'ok' }, http }
    return { status: 200, body: { status: 'ok', environment: this.environment, version: 'fake', checks } }
  }
}

/** Advice on one frame by the sandbox's rules. No frame is decoded. @throws FakeRefusal invalid_request */
function guide({ image, step = 'frontal', user_id = '' }: Call['body']): FakeAnswer {
  if (typeof image !== 'string' || !image) refuseRequest('image', 'is required')
  return { status: 200, body: { step, guidance: scriptedGuidance(user_id, step) } }
}
