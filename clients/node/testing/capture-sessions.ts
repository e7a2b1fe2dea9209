/** Capture sessions of the service in memory: the backend makes and reads them, and a test plays the person who is captured. */
import { displayAction } from '../../../src/contract/actions/display-action.js'
import {
  type PasskeySignatureOutcome,
  sandboxRegistration,
  sandboxSignature,
} from '../../../src/contract/sandbox-passkeys.js'
import type { CaptureSession, CaptureSessionResult } from '../capture-session.js'
import { displayHash } from '../display-hash.js'
import type { CaptureSessionFields, Challenge } from '../types.js'
import type { CapturePageState, FakeCapturePage } from './fake-capture-page.js'
import { FakeRefusal } from './refusals.js'
import { type Call, refuseBusy, refuseRequest, refuseUnseen } from './requests.js'
import { type FakeAnswer, fakeId } from './signatures.js'
import type { TestClock } from './test-clock.js'
import type { FakeUsers } from './users.js'

const TTL_SECONDS = 900
/** How long an expired session can still be read, in milliseconds. */
const KEPT_MS = 3_600_000
const MAX_ATTEMPTS = 3
const MAX_CODE_TRIES = 5
/** Stand-ins for the frames that a person's browser sends. They are never decoded. */
const FRAMES = Array.from({ length: 16 }, (_, index) => ({ step: 0, t_ms: 200 * index, image: 'AA==' }))
/** Characters that change the direction of writing or cannot be seen. */
const DECEIVING = /[\p{Cc}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u
const READABLE =
  'must not hold control characters, characters that change the direction of writing, or invisible ones (zero-width joiners may stand inside words of scripts that need them, and inside emoji)'
/** Reasons of a rejection after which no further capture is judged. */
const FINAL_REASONS: ReadonlySet<unknown> = new Set(['locked_out', 'reference_disabled'])
/** Error codes of captures that were not judged and do not count as attempts. */
const NOT_JUDGED: ReadonlySet<string> = new Set([
  'challenge_expired',
  'challenge_mismatch',
  'challenge_not_found',
  'challenge_used',
  'overloaded',
  'rate_limited',
])

interface Visit {
  session: CaptureSession
  request: CaptureSessionFields
  expiresMs: number
  /** The proof of the browser that captured, once there is a result that needs it; else null. */
  proof: string | null
  /** The confirmation code that the page asks for; null where it asks for none, or the right one was typed. */
  code: string | null
  codeTries: number
}

export class CaptureSessions implements FakeCapturePage {
  readonly #visits = new Map<string, Visit>()
  readonly #users: FakeUsers
  readonly #clock: TestClock
  readonly #baseUrl: string
  readonly #returnOrigins: readonly string[] | undefined

  constructor(
    users: FakeUsers,
    clock: TestClock,
    baseUrl: string,
    returnOrigins: readonly string[] | undefined,
  ) {
    this.#users = users
    this.#clock = clock
    this.#baseUrl = baseUrl
    this.#returnOrigins = returnOrigins
  }

  open(sessionId: string): CapturePageState {
    const visit = this.#visit(sessionId)
    if (visit.session.status === 'open') visit.session.status = 'in_progress'
    return visit.code === null ? 'open' : 'code'
  }

  typeCode(sessionId: string, code: string): CapturePageState {
    this.open(sessionId)
    const visit = this.#visit(sessionId)
    if (visit.code === null) return 'open'
    if (code.replace(/[\s-]/g, '') === visit.code) visit.code = null
    else if (++visit.codeTries >= MAX_CODE_TRIES) return this.#complete(visit)
    return visit.code === null ? 'open' : 'code'
  }

  async capture(
    sessionId: string,
    passkey: PasskeySignatureOutcome | null = 'accepted',
  ): Promise<CapturePageState> {
    if (this.open(sessionId) === 'code')
      throw new Error('The capture page asks for the code first: call typeCode with confirmation_code.')
    const visit = this.#visit(sessionId)
    const { session, request } = visit
    const { purpose = 'verify', locale = 'en', consent } = request
    const id = consent?.id ?? `countersign-2.${purpose}.${locale}`
    session.consent ??= { id, agreed_at: this.#time(this.#clock.now()) }
    const result = await this.#judge(visit, purpose, passkey)
    if (result === 'no_challenge') return this.#complete(visit)
    if (result === 'not_judged') return 'again'
    session.attempts++
    session.result = result
    return isFinal(result) || session.attempts >= MAX_ATTEMPTS ? this.#complete(visit) : 'again'
  }

  cancel(sessionId: string): CapturePageState {
    this.open(sessionId)
    this.#visit(sessionId).session.status = 'cancelled'
    return 'over'
  }

  returnUrl(sessionId: string): string {
    const visit = this.#visits.get(sessionId)
    const status = visit && this.#statusOf(visit)
    if (!visit || status === 'open' || status === 'in_progress')
      throw new Error(
        `The page of the capture session ${sessionId} leads nobody back: it is ${status ?? 'unknown'}.`,
      )
    const url = new URL(visit.request.return_url)
    url.searchParams.set('capture_session', sessionId)
    if (visit.proof !== null) url.searchParams.set('capture_proof', visit.proof)
    return url.href
  }

  /** Answers `POST /capture-sessions`. */
  async create(call: Call): Promise<FakeAnswer> {
    const request = call.body as CaptureSessionFields
    const { user_id, purpose = 'verify', description = '', consent, return_url, browser = 'same' } = request
    refuseBusy(user_id, call)
    for (const [path, text] of [
      ['description', description],
      ['consent.id', consent?.id ?? ''],
      ['consent.text', consent?.text.replace(/[\t\n\r]/g, ' ') ?? ''],
    ] as const)
      if (DECEIVING.test(text)) refuseRequest(call, path, READABLE)
    if (!return_url) refuseRequest(call, 'return_url', 'is required')
    if (!this.#leadsBackTo(return_url)) throw new FakeRefusal('return_url_not_allowed', call.requestId)
    await this.#users.assertCapturable(call)
    if (purpose === 'enroll') refuseUnseen(call)
    const asksForCode = (request.confirmation ?? (purpose === 'enroll' ? 'code' : 'none')) === 'code'
    const code = asksForCode
      ? String(crypto.getRandomValues(new Uint32Array(1))[0]! % 1e6).padStart(6, '0')
      : null
    const session_id = fakeId('cap')
    const now = this.#clock.now()
    const expiresMs = now + 1000 * TTL_SECONDS
    const [created_at, expires_at] = [this.#time(now), this.#time(expiresMs)]
    const session: CaptureSession = {
      session_id,
      status: 'open',
      attempts: 0,
      consent: null,
      browser,
      disowned: false,
      result: null,
      result_withheld: null,
      created_at,
      expires_at,
    }
    this.#visits.set(session_id, { session, request, expiresMs, proof: null, code, codeTries: 0 })
    const url = new URL(`/capture/${session_id}.${fakeId('link')}`, this.#baseUrl).href
    const body = { session_id, url, confirmation_code: code, user_id, purpose, browser, expires_at }
    return { status: 201, body }
  }

  /** Answers `GET /capture-sessions/{session_id}`. */
  read(sessionId: string, { requestId, query }: Call): FakeAnswer {
    const visit = this.#visits.get(sessionId)
    if (!visit || visit.expiresMs + KEPT_MS <= this.#clock.now())
      throw new FakeRefusal('capture_session_not_found', requestId)
    const proof = query.get('proof')
    const { browser, result } = visit.session
    const isProven = browser === 'any' || (proof !== null && proof === visit.proof)
    if (proof !== null && !isProven) throw new FakeRefusal('capture_proof_invalid', requestId)
    const body = {
      ...visit.session,
      status: this.#statusOf(visit),
      result: isProven ? result : null,
      result_withheld: isProven || visit.proof === null ? null : 'proof_required',
    }
    return { status: 200, body: structuredClone(body) }
  }

  /** Forgets the sessions of a user who was erased. */
  forget(userId: string): void {
    for (const [id, { request }] of this.#visits) if (request.user_id === userId) this.#visits.delete(id)
  }

  /** @throws Error for a session that is unknown or has ended */
  #visit(sessionId: string): Visit {
    const visit = this.#visits.get(sessionId)
    if (!visit) throw new Error(`There is no capture session ${sessionId}.`)
    const status = this.#statusOf(visit)
    if (status !== 'open' && status !== 'in_progress')
      throw new Error(`The capture session ${sessionId} is ${status}: the page leads the person back.`)
    return visit
  }

  #statusOf({ session, expiresMs }: Visit): CaptureSession['status'] {
    const isUnderWay = session.status === 'open' || session.status === 'in_progress'
    return isUnderWay && expiresMs <= this.#clock.now() ? 'expired' : session.status
  }

  #complete(visit: Visit): CapturePageState {
    const { session } = visit
    session.status = 'completed'
    if (session.browser === 'same' && session.result) visit.proof = fakeId('proof')
    return 'over'
  }

  async #judge(
    { session, request }: Visit,
    purpose: 'verify' | 'enroll',
    outcome: PasskeySignatureOutcome | null,
  ): Promise<CaptureSessionResult | 'not_judged' | 'no_challenge'> {
    const { user_id, action, modes, require_liveness, replace, verification_id, passkey } = request
    const asked = await this.#call('/challenges', { user_id, purpose, action, modes, passkey }, (call) =>
      this.#users.challenge(call),
    )
    if (asked.status !== 201) return isJudged(asked) ? 'no_challenge' : 'not_judged'
    const { challenge_id, nonce, passkey: options } = asked.body as Challenge
    const signed = options ? answerOf(options, outcome) : null
    if (!signed && options && passkey !== 'preferred') return 'not_judged'
    const challenge = { challenge_id, nonce, frames: FRAMES }
    const capture = { user_id, challenge, require_liveness, ...signed }
    const answer =
      purpose === 'verify'
        ? await this.#call('/verify', { ...capture, action, nonce: session.session_id }, async (call) =>
            this.#users.verify({
              ...call,
              captureSession: { id: session.session_id, binding: session.browser },
              display: await shownFor(request),
            }),
          )
        : await this.#call(
            '/enroll',
            {
              ...capture,
              replace,
              verification_id,
              consent: { id: session.session_id, agreed_at: session.consent!.agreed_at },
            },
            (call) => this.#users.enroll(call),
          )
    return isJudged(answer) ? (answer as CaptureSessionResult) : 'not_judged'
  }

  async #call(
    path: string,
    body: object,
    answer: (call: Call) => Promise<FakeAnswer>,
  ): Promise<{ status: number; body: object }> {
    const requestId = crypto.randomUUID()
    const request = { method: 'POST', path, query: new URLSearchParams(), headers: new Headers() }
    try {
      const { status, body: answered } = await answer({ ...request, body, requestId, signal: undefined })
      return { status, body: answered }
    } catch (error) {
      if (!(error instanceof FakeRefusal)) throw error
      return { status: error.status, body: error.body }
    }
  }

  #leadsBackTo(returnUrl: string): boolean {
    if (!URL.canParse(returnUrl)) return false
    const { protocol, hostname, username, password, origin } = new URL(returnUrl)
    const isLocal = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
    if (username || password || !(protocol === 'https:' || (protocol === 'http:' && isLocal))) return false
    return this.#returnOrigins === undefined || this.#returnOrigins.includes(origin)
  }

  #time(ms: number): string {
    return new Date(ms).toISOString()
  }
}

/**
 * The answer of a person's device to the options of a passkey.
 * @param outcome null for a person who declines @returns the field of the call that carries the answer
 */
function answerOf(options: NonNullable<Challenge['passkey']>, outcome: PasskeySignatureOutcome | null) {
  if (outcome === null) return null
  if ('rp' in options)
    return { passkey_registration: { credential: sandboxRegistration(`page-${crypto.randomUUID()}`) } }
  const id = options.allowCredentials[0]!.id
  return { passkey_assertion: { credential: { ...sandboxSignature('page', outcome), id, rawId: id } } }
}

/** The text that the page shows for a typed action, as a verdict names it. */
async function shownFor({ action, locale = 'en', payees }: CaptureSessionFields) {
  const display = displayAction(action, locale, payees)
  if (!display) return undefined
  return { hash: await displayHash(display), locale, version: display.version, source: null }
}

function isJudged({ status, body }: { status: number; body: object }): boolean {
  return status < 400 || !NOT_JUDGED.has((body as { code?: string }).code ?? '')
}

function isFinal(result: CaptureSessionResult): boolean {
  if (result.status === 201) return true
  if (result.status === 200)
    return result.body.verdict === 'approved' || FINAL_REASONS.has(result.body.reason)
  return result.body.error !== 'biometric_rejected'
}

/** @returns the id of the session that a path names, or null where it names none */
export function sessionOfPath({ method, path }: Call): string | null {
  const [, id] = /^\/capture-sessions\/([\w-]{1,64})$/.exec(path) ?? []
  return method === 'GET' && id !== undefined ? id : null
}
