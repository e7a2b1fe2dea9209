/** `countersign/client/testing`: a Countersign in memory, for an application's own tests. Signatures and JWTs are real. */
import { Countersign, type CountersignOptions } from './countersign.js'
import type { SigningSecret } from './signing-secret.js'
import {
  assertChallengeRequest,
  challengeLiveness,
  FakeChallenges,
  type OpenedChallenge,
} from './testing-challenges.js'
import { TestClock } from './testing-clock.js'
import { FakeRefusal } from './testing-errors.js'
import { guidanceAnswer } from './testing-guidance.js'
import { outcomeOf, REFUSED, REJECTED } from './testing-outcomes.js'
import { imageQualities, isPoor, QUALITY, qualityDetail } from './testing-quality.js'
import {
  auditAnswer,
  type FakeUser,
  findUser,
  LOCKED_OUT_SECONDS,
  userAnswer,
  userOfPath,
} from './testing-records.js'
import {
  blame,
  type Call,
  type FakeRequest,
  photosOf,
  refuseBusy,
  refuseRequest,
} from './testing-requests.js'
import {
  type FakeAnswer,
  type FakeVerdict,
  fakeId,
  signResponse,
  signVerdict,
  UNCHECKED,
  webhookHeaders,
} from './testing-signatures.js'
import type {
  ActionLike,
  AuditEntry,
  Environment,
  Liveness,
  ModelGrade,
  RejectionReason,
  WebhookEvent,
} from './types.js'

export { TestClock } from './testing-clock.js'
export { FAKE_OUTCOMES } from './testing-outcomes.js'
export type { FakeRequest } from './testing-requests.js'
export * from './testing-signatures.js'

export interface FakeOptions {
  /** Default `sandbox`. */
  environment?: Environment
  /** Default: one that stands at the time of its making. */
  clock?: TestClock
  /** Validity of verdicts; default 300. */
  jwtTtlSeconds?: number
  /** Whether a `+replayed` capture is marked or refused; default `mark`. */
  replayPolicy?: 'mark' | 'reject'
  /** Whether the installation's model pack checks liveness; default false, as in the default pack. */
  checksLiveness?: boolean
  /** The grade of the installation's model pack at its rate; default `evaluation`, as of the default pack. */
  modelGrade?: ModelGrade
}

const RECEIPT_MS = 24 * 3_600_000
const OVERLAP_MS = 30 * 60_000
const SLOW_MS = 5_000
const THRESHOLD = 0.7
/** Photos that a challenge's frames make a reference of. */
const CHALLENGE_VIEWS = 2

export class FakeCountersign {
  readonly clock: TestClock
  readonly environment: Environment
  readonly apiKey: string
  readonly baseUrl = 'https://countersign.test/v1'
  readonly tenantId = fakeId('ten')
  /** Every request so far. */
  readonly requests: FakeRequest[] = []
  /** The newest first; a second one during a rotation's overlap. */
  private secrets: SigningSecret[] = [newSecret()]
  private overlapEndsMs = 0
  /** What `auditPage` lists. The service writes none in the sandbox; a test puts here what it wants to be read. */
  readonly auditLog: AuditEntry[] = []
  private readonly users = new Map<string, FakeUser>()
  /** A repeated erasure gets the same receipt for a day. */
  private readonly receipts = new Map<string, { body: object; untilMs: number }>()
  private readonly challenges = new FakeChallenges()
  private readonly kept = new Map<string, { payload: string; answer: FakeAnswer }>()
  private readonly jwtTtlSeconds: number
  private readonly replayPolicy: 'mark' | 'reject'
  private readonly checksLiveness: boolean
  private readonly modelGrade: ModelGrade

  constructor(options: FakeOptions = {}) {
    this.clock = options.clock ?? new TestClock()
    this.environment = options.environment ?? 'sandbox'
    this.apiKey = `svc-${this.environment === 'sandbox' ? 'sbx' : 'prod'}-Fake`
    this.jwtTtlSeconds = options.jwtTtlSeconds ?? 300
    this.replayPolicy = options.replayPolicy ?? 'mark'
    this.checksLiveness = options.checksLiveness ?? false
    this.modelGrade = options.modelGrade ?? 'evaluation'
  }

  /** The newest one. */
  get signingSecret(): SigningSecret {
    return this.secrets[0]!
  }

  /** For `new Countersign(…)`. Nothing is tried again, so that a test of a refusal need not wait. */
  options(): CountersignOptions {
    return {
      apiKey: this.apiKey,
      baseUrl: this.baseUrl,
      tenantId: this.tenantId,
      signingSecret: () => this.secrets as SigningSecret[],
      maxRetries: 0,
      fetch: this.fetch,
      now: () => this.clock.now(),
    }
  }

  client(changes: Partial<CountersignOptions> = {}): Countersign {
    return new Countersign({ ...this.options(), ...changes })
  }

  /** A verdict without a request, as another program may have got it. */
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

  /** A webhook as the service would send it: what the application's route is given. */
  async webhook<T extends WebhookEvent['type']>(
    type: T,
    data: Extract<WebhookEvent, { type: T }>['data'],
  ): Promise<{ event: WebhookEvent; headers: Record<string, string>; body: string }> {
    const facts = { created_at: this.time(), environment: this.environment, tenant_id: this.tenantId }
    const event = { id: fakeId('evt'), type, ...facts, data } as WebhookEvent
    const body = JSON.stringify(event)
    return { event, body, headers: await webhookHeaders(event.id, body, this.secrets, this.clock.now()) }
  }

  /** In place of the global one. */
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
      const waits = error.status === 429 || error.status === 503
      return { status: error.status, body: error.body, ...(waits ? { headers: { 'Retry-After': '1' } } : {}) }
    })
    if (this.clock.now() >= this.overlapEndsMs) this.secrets = this.secrets.slice(0, 1)
    return signResponse(answer, {
      method: call.method,
      target: pathname + search,
      requestId: call.requestId,
      nowMs: this.clock.now(),
      // Nobody is known who could check it.
      secrets: known ? this.secrets : [],
    })
  }

  private async answer(call: Call, known: boolean): Promise<FakeAnswer> {
    if (!known) throw new FakeRefusal('invalid_api_key', call.requestId)
    if (this.clock.now() >= this.overlapEndsMs) this.secrets = this.secrets.slice(0, 1)
    const key = call.headers.get('x-svc-idempotency-key')
    if (!key) return this.handle(call)
    const payload = JSON.stringify([call.path, call.body])
    const earlier = this.kept.get(key)
    if (earlier && earlier.payload !== payload)
      throw new FakeRefusal('idempotency_key_reused', call.requestId)
    if (earlier)
      return { ...earlier.answer, headers: { ...earlier.answer.headers, 'X-Svc-Idempotent-Replay': 'true' } }
    const answer = await this.handle(call)
    this.kept.set(key, { payload, answer })
    return answer
  }

  private handle(call: Call): Promise<FakeAnswer> | FakeAnswer {
    const userId = userOfPath(call)
    if (userId !== null) return this.user(userId, call)
    switch (`${call.method} ${call.path}`) {
      case 'POST /enroll':
        return this.enroll(call)
      case 'POST /verify':
        return this.verify(call)
      case 'POST /challenges':
        return this.challenge(call)
      case 'POST /guidance':
        return guidanceAnswer(call)
      case 'DELETE /delete':
        return this.delete(call)
      case 'GET /health':
        return this.health()
      case 'POST /keys/rotate-signing':
        return this.rotate(call)
      case 'GET /audit':
        return auditAnswer(call, this.auditLog)
      default:
        throw new FakeRefusal('unknown_endpoint', call.requestId)
    }
  }

  private async enroll(call: Call): Promise<FakeAnswer> {
    const { replace, add, dry_run } = call.body
    if (add && replace) refuseRequest(call, 'add', 'give either `add` or `replace`')
    if (dry_run && call.body.challenge)
      refuseRequest(call, 'dry_run', 'a challenge is good for one call: assess photos')
    const photos = photosOf(call)
    const opened = this.openChallenge(call, 'enroll')
    return usingUp(opened, () => this.enrolPhotos(call, opened, opened ? CHALLENGE_VIEWS : photos.length))
  }

  private async enrolPhotos(call: Call, opened: OpenedChallenge | null, photos: number): Promise<FakeAnswer> {
    const { user_id, replace, add, dry_run, consent } = call.body
    const present = this.users.get(user_id)
    if (!dry_run && add && present === undefined) throw new FakeRefusal('reference_not_found', call.requestId)
    if (!dry_run && !add && !replace && present !== undefined)
      throw new FakeRefusal('already_enrolled', call.requestId)
    const outcome = await this.screen(call)
    const liveness = this.liveness(call, outcome === '+spoof' ? 'liveness_failed' : null, opened)
    if (liveness.passed === false)
      throw new FakeRefusal('liveness_failed', call.requestId, livenessDetails(call, liveness))
    if (!dry_run && !opened) this.refusePoor(call, 'enrol')
    const assessed = (views: number) => ({
      user_id,
      quality: { ...QUALITY, views, images: imageQualities(user_id, photos) },
      liveness,
      model: 'sandbox@1',
    })
    if (dry_run) return { status: 200, body: { ...assessed(photos), status: 'assessed' } }
    const views = (add ? (present?.reference.views ?? 0) : 0) + photos
    const created_at = this.time()
    const reference_id = fakeId('ref')
    this.users.set(user_id, {
      enrolled_at: present?.enrolled_at ?? created_at,
      reference: {
        reference_id,
        created_at,
        model: 'sandbox@1',
        comparable: true,
        views,
        consent: consent ?? (add ? (present?.reference.consent ?? null) : null),
      },
    })
    this.receipts.delete(user_id)
    const body = { reference_id, ...assessed(views), status: 'enrolled', created_at }
    return { status: 201, body }
  }

  private async verify(call: Call): Promise<FakeAnswer> {
    photosOf(call)
    const opened = this.openChallenge(call, 'verify')
    return usingUp(opened, () => this.reachVerdict(call, opened))
  }

  private async reachVerdict(call: Call, opened: OpenedChallenge | null): Promise<FakeAnswer> {
    const { user_id, action, nonce } = call.body as { user_id: string; action: ActionLike; nonce?: string }
    const outcome = outcomeOf(user_id)
    if (outcome === null && !this.users.has(user_id))
      throw new FakeRefusal('reference_not_found', call.requestId)
    // Who is locked out is told so before anybody looks at the photo.
    if (outcome !== '+locked_out') await this.screen(call)
    if (!opened) this.refusePoor(call, 'verify')
    const replaySuspected = outcome === '+replayed'
    const replayed = replaySuspected && this.replayPolicy === 'reject' ? 'replayed_capture' : null
    const scripted = REJECTED[outcome ?? ''] ?? null
    const liveness = this.liveness(call, scripted, opened)
    const reason =
      scripted === 'locked_out'
        ? scripted
        : liveness.passed === false
          ? 'liveness_failed'
          : (scripted ?? replayed)
    const compared = reason !== 'locked_out'
    const score =
      compared && !liveness.guidance ? (reason === 'no_match' ? THRESHOLD - 0.1 : THRESHOLD + 0.1) : null
    const verificationId = fakeId('ver')
    const atMs = this.clock.now() - (outcome === '+expired' ? 2000 * this.jwtTtlSeconds : 0)
    const sign = (secret: SigningSecret) =>
      this.signVerdict(
        {
          userId: user_id,
          action,
          reason,
          nonce,
          score,
          replaySuspected,
          liveness,
          challengeId: call.body.challenge?.id,
          verificationId,
          requestId: call.requestId,
        },
        secret,
        atMs,
      )
    const [newest, older] = this.secrets as [SigningSecret, SigningSecret | undefined]
    const asked = call.headers.get('x-svc-signing-key-id')
    const tokens =
      older && asked !== newest.id
        ? { jwt: await sign(older), jwt_next: await sign(newest) }
        : { jwt: await sign(newest) }
    const body = {
      verification_id: verificationId,
      user_id,
      verdict: reason === null ? 'approved' : 'rejected',
      reason,
      score,
      threshold: THRESHOLD,
      fmr: 0.0001,
      fmr_basis: 'measured',
      model_grade: this.modelGrade,
      liveness,
      quality: compared ? QUALITY : null,
      replay: { suspected: replaySuspected },
      model: 'sandbox@1',
      verified_at: this.time(),
      ...tokens,
      jwt_expires_at: new Date((Math.floor(atMs / 1000) + this.jwtTtlSeconds) * 1000).toISOString(),
    }
    return {
      status: 200,
      body,
      ...(compared ? {} : { headers: { 'Retry-After': String(LOCKED_OUT_SECONDS) } }),
    }
  }

  private user(userId: string, call: Call): FakeAnswer {
    refuseBusy(userId, call)
    return userAnswer(userId, findUser(this.users, userId, call), this.clock.now())
  }

  private delete(call: Call): FakeAnswer {
    const { user_id } = call.body
    refuseBusy(user_id, call)
    const now = this.clock.now()
    const receipt = this.receipts.get(user_id)
    if (receipt && now < receipt.untilMs) return { status: 200, body: receipt.body }
    if (!this.users.delete(user_id)) throw new FakeRefusal('reference_not_found', call.requestId)
    const erased = { references: 1, captures: 0, idempotency_records: 0 }
    const body = { user_id, status: 'erased', erasure_id: fakeId('era'), erased_at: this.time(), erased }
    this.receipts.set(user_id, { body, untilMs: now + RECEIPT_MS })
    return { status: 200, body }
  }

  private health(): FakeAnswer {
    const engine = {
      status: 'ok',
      model: 'sandbox@1',
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

  private rotate(call: Call): FakeAnswer {
    if (this.secrets.length > 1 && !call.body?.force)
      throw new FakeRefusal('rotation_in_progress', call.requestId)
    const [previous] = this.secrets
    const next = newSecret()
    this.secrets = [next, previous!]
    this.overlapEndsMs = this.clock.now() + OVERLAP_MS
    const valid_until = new Date(this.overlapEndsMs).toISOString()
    const body = {
      signing_secret: { ...next, created_at: this.time() },
      previous: { id: previous!.id, valid_until },
      overlap_seconds: OVERLAP_MS / 1000,
    }
    return { status: 200, body }
  }

  /** Refuses what the end of the user id says, as enrol and verify do. */
  private async screen(call: Call): Promise<string | null> {
    const { user_id } = call.body
    refuseBusy(user_id, call)
    const outcome = outcomeOf(user_id)
    if (outcome === '+slow') await this.clock.sleep(SLOW_MS, call.signal)
    if (call.body.challenge && outcome === '+challenge_expired')
      throw new FakeRefusal('challenge_expired', call.requestId)
    if (outcome !== null && outcome in REFUSED && !call.body.challenge) {
      const code = REFUSED[outcome as keyof typeof REFUSED]
      throw new FakeRefusal(code, call.requestId, blame(call, code))
    }
    return outcome
  }

  private refusePoor(call: Call, purpose: 'enrol' | 'verify'): void {
    const { user_id, images } = call.body
    if (!isPoor(user_id)) return
    const details = [qualityDetail(images ? 'images.0' : 'image', purpose)]
    throw new FakeRefusal('low_quality', call.requestId, details)
  }

  private challenge(call: Call): FakeAnswer {
    assertChallengeRequest(call)
    const { user_id, purpose = 'verify' } = call.body
    refuseBusy(user_id, call)
    if (purpose === 'verify' && !this.users.has(user_id) && outcomeOf(user_id) === null)
      throw new FakeRefusal('reference_not_found', call.requestId)
    return { status: 201, body: this.challenges.issue(call, this.clock.now()) }
  }

  private openChallenge(call: Call, purpose: 'verify' | 'enroll'): OpenedChallenge | null {
    const opened = this.challenges.open(call, purpose, this.clock.now())
    const { require_liveness: required = 'none' } = call.body
    if ((required === 'active' || required === 'both') && !opened?.method)
      throw new FakeRefusal('liveness_required', call.requestId)
    if ((required === 'passive' || required === 'both') && !this.checksLiveness)
      throw new FakeRefusal('liveness_unavailable', call.requestId)
    return opened
  }

  /** An attack is told when it is asked for by name, whatever the model pack could find. */
  private liveness(call: Call, reason: RejectionReason | null, opened: OpenedChallenge | null): Liveness {
    if (reason === 'locked_out') return UNCHECKED
    const methods = ['passive:sandbox@1']
    const passive =
      reason === 'liveness_failed'
        ? { checked: true, score: 0.02, passed: false, methods }
        : this.checksLiveness
          ? { checked: true, score: 0.99, passed: true, methods }
          : UNCHECKED
    return opened ? challengeLiveness(call.body.user_id, passive, opened.method) : passive
  }

  private time(): string {
    return new Date(this.clock.now()).toISOString()
  }
}

/** Whatever comes of the photos uses the challenge up. */
async function usingUp(opened: OpenedChallenge | null, work: () => Promise<FakeAnswer>): Promise<FakeAnswer> {
  try {
    const answer = await work()
    opened?.use()
    return answer
  } catch (error) {
    if (error instanceof FakeRefusal && error.category === 'biometric_rejected') opened?.use()
    throw error
  }
}

function livenessDetails(call: Call, { guidance }: Liveness) {
  if (!call.body.challenge) return blame(call, 'liveness_failed')
  return guidance && [{ path: 'challenge.frames', issue: guidance }]
}

function newSecret(): SigningSecret {
  return { id: fakeId('sec'), secret: `svc-sec-${crypto.randomUUID().replaceAll('-', '')}` }
}
