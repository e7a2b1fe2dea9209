/** Capture sessions of the service in memory: the backend makes and reads them, and a test plays the person who is captured. */
import { displayAction } from '../../../src/contract/actions/display-action.js'
import { isReadableLine, isReadableText, READABLE } from '../../../src/contract/actions/readable-text.js'
import {
  type PasskeySignatureOutcome,
  sandboxRegistration,
  sandboxSignature,
} from '../../../src/contract/sandbox-passkeys.js'
import type { CaptureSession, CaptureSessionResult } from '../capture-session.js'
import { displayHash } from '../display-hash.js'
import type { CaptureSessionFields, Challenge } from '../types.js'
import { shownAs } from './challenges.js'
import type { CapturePageState, FakeCapturePage } from './fake-capture-page.js'
import type { FakeInstallation } from './installation.js'
import { FakeRefusal, refuseRequest } from './refusals.js'
import type { Call } from './requests.js'
import { type FakeAnswer, fakeId } from './signatures.js'
import { isoTime } from './test-clock.js'
import type { FakeUsers } from './users.js'

const TTL_MS = 900_000
/** How long an expired session can still be read. */
const KEPT_MS = 3_600_000
const MAX_ATTEMPTS = 3
const MAX_CODE_TRIES = 5
/** Stand-ins for the frames that a person's browser sends. They are never decoded. */
const FRAMES = Array.from({ length: 16 }, (_, index) => ({ step: 0, t_ms: 200 * index, image: 'AA==' }))

interface Visit {
  session: CaptureSession
  request: CaptureSessionFields
  /** The proof of the browser that captured, once there is a result that needs it; else null. */
  proof: string | null
  /** The confirmation code that the page asks for; null where it asks for none, or the right one was typed. */
  code: string | null
  codeTries: number
}

export class CaptureSessions implements FakeCapturePage {
  readonly #visits = new Map<string, Visit>()
  readonly #users: FakeUsers
  readonly #service: FakeInstallation

  constructor(users: FakeUsers, service: FakeInstallation) {
    this.#users = users
    this.#service = service
  }

  open(sessionId: string): CapturePageState {
    const { session, code } = this.#visit(sessionId)
    session.status = 'in_progress'
    return code === null ? 'open' : 'code'
  }

  typeCode(sessionId: string, code: string): CapturePageState {
    if (this.open(sessionId) === 'open') return 'open'
    const visit = this.#visit(sessionId)
    if (code.replace(/[\s-]/g, '') === visit.code) visit.code = null
    else if (++visit.codeTries >= MAX_CODE_TRIES) return complete(visit)
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
    session.consent ??= { id, agreed_at: this.#now() }
    const result = await this.#judge(visit, passkey)
    if (result === 'no_challenge') return complete(visit)
    if (result === 'not_judged') return 'again'
    session.attempts++
    session.result = result
    return isFinal(result) || session.attempts >= MAX_ATTEMPTS ? complete(visit) : 'again'
  }

  cancel(sessionId: string): CapturePageState {
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
  create(call: Call): FakeAnswer {
    const request: CaptureSessionFields = call.body
    const { user_id, purpose = 'verify', description = '', consent, return_url, browser = 'same' } = request
    if (!isReadableLine(description)) refuseRequest('description', READABLE)
    if (!isReadableLine(consent?.id ?? '')) refuseRequest('consent.id', READABLE)
    if (!isReadableText(consent?.text ?? '')) refuseRequest('consent.text', READABLE)
    if (!return_url) refuseRequest('return_url', 'is required')
    if (!this.#leadsBackTo(return_url)) throw new FakeRefusal('return_url_not_allowed')
    this.#users.assertCapturable(call)
    const asksForCode = (request.confirmation ?? (purpose === 'enroll' ? 'code' : 'none')) === 'code'
    const code = asksForCode ? String(Math.floor(Math.random() * 1e6)).padStart(6, '0') : null
    const session: CaptureSession = {
      session_id: fakeId('cap'),
      status: 'open',
      attempts: 0,
      consent: null,
      browser,
      disowned: false,
      result: null,
      result_withheld: null,
      created_at: this.#now(),
      expires_at: isoTime(this.#service.clock.now() + TTL_MS),
    }
    const { session_id, expires_at } = session
    this.#visits.set(session_id, { session, request, proof: null, code, codeTries: 0 })
    const url = new URL(`/capture/${session_id}.${fakeId('link')}`, this.#service.baseUrl).href
    const body = { session_id, url, confirmation_code: code, user_id, purpose, browser, expires_at }
    return { status: 201, body }
  }

  /** Answers `GET /capture-sessions/{session_id}`. */
  read(sessionId: string, query: URLSearchParams): FakeAnswer {
    const visit = this.#visits.get(sessionId)
    if (!visit || this.#isOver(visit, KEPT_MS)) throw new FakeRefusal('capture_session_not_found')
    const proof = query.get('proof')
    const { browser, result } = visit.session
    const isProven = browser === 'any' || (proof !== null && proof === visit.proof)
    if (proof !== null && !isProven) throw new FakeRefusal('capture_proof_invalid')
    const body = {
      ...visit.session,
      status: this.#statusOf(visit),
      result: isProven ? result : null,
      result_withheld: isProven || visit.proof === null ? null : 'proof_required',
    }
    return { status: 200, body }
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

  #statusOf(visit: Visit): CaptureSession['status'] {
    const { status } = visit.session
    const isUnderWay = status === 'open' || status === 'in_progress'
    return isUnderWay && this.#isOver(visit, 0) ? 'expired' : status
  }

  /** Whether the session expired so long ago. */
  #isOver({ session }: Visit, sinceMs: number): boolean {
    return Date.parse(session.expires_at) + sinceMs <= this.#service.clock.now()
  }

  /** Asks for a challenge and answers it, as the page does. */
  async #judge(
    { session, request }: Visit,
    outcome: PasskeySignatureOutcome | null,
  ): Promise<CaptureSessionResult | 'not_judged' | 'no_challenge'> {
    const { user_id, purpose = 'verify', action, modes, require_liveness, passkey } = request
    const asked = await this.#call({ user_id, purpose, action, modes, passkey }, (call) =>
      this.#users.challenge(call),
    )
    if (asked.status !== 201) return 'no_challenge'
    const { challenge_id, nonce, passkey: options } = asked.body as Challenge
    const signed = options ? answerOf(options, outcome) : null
    if (!signed && options && passkey !== 'preferred') return 'not_judged'
    const challenge = { challenge_id, nonce, frames: FRAMES }
    const capture = { user_id, challenge, require_liveness, ...signed }
    const { replace, verification_id } = request
    const consent = { id: session.session_id, agreed_at: session.consent!.agreed_at }
    const captureSession = { id: session.session_id, binding: session.browser }
    const display = await shownFor(request)
    const answer =
      purpose === 'verify'
        ? await this.#call({ ...capture, action, nonce: session.session_id }, (call) =>
            this.#users.verify({ ...call, captureSession, display }),
          )
        : await this.#call({ ...capture, replace, verification_id, consent }, (call) =>
            this.#users.enroll(call),
          )
    const { code = '' } = answer.body as { code?: string }
    // A capture whose challenge cannot be used does not count as an attempt.
    return code.startsWith('challenge_') ? 'not_judged' : (answer as CaptureSessionResult)
  }

  async #call(body: object, answer: (call: Call) => Promise<FakeAnswer>): Promise<FakeAnswer> {
    const requestId = crypto.randomUUID()
    const request = { method: 'POST', path: '', query: new URLSearchParams(), headers: new Headers() }
    const given = await answer({ ...request, body, requestId, signal: undefined }).catch((error) => {
      if (!(error instanceof FakeRefusal)) throw error
      return error.answer(requestId)
    })
    return { status: given.status, body: given.body }
  }

  #leadsBackTo(returnUrl: string): boolean {
    if (!URL.canParse(returnUrl)) return false
    const { protocol, hostname, username, password, origin } = new URL(returnUrl)
    const isLocal = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
    if (username || password || !(protocol === 'https:' || (protocol === 'http:' && isLocal))) return false
    const { returnOrigins } = this.#service
    return returnOrigins === undefined || returnOrigins.includes(origin)
  }

  #now(): string {
    return isoTime(this.#service.clock.now())
  }
}

function complete(visit: Visit): CapturePageState {
  const { session } = visit
  session.status = 'completed'
  if (session.browser === 'same' && session.result) visit.proof = fakeId('proof')
  return 'over'
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
  return display ? shownAs({ hash: await displayHash(display), ...display }, null) : undefined
}

/** Whether no further capture of the session is judged. */
function isFinal(result: CaptureSessionResult): boolean {
  if (result.status === 201) return true
  if (result.status === 200) return result.body.verdict === 'approved' || result.body.reason === 'locked_out'
  return result.body.error !== 'biometric_rejected'
}
