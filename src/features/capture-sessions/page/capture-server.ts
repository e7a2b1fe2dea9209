/** The capture listener. It serves the hosted page behind its single-use links and the requests of that page, and nothing else. */

import type { Logger } from 'pino'
import { SMALL_BODY_BYTES } from '../../../api/endpoint.js'
import { errorHeaders, statusOf } from '../../../api/error-response.js'
import type { DisplayLocale } from '../../../contract/locales.js'
import { largeHeadPage } from '../../../http/listeners/large-head-page.js'
import type { IncomingRequest, Reply } from '../../../http/listeners/listener.js'
import type { VisitorLimit } from '../../../http/listeners/visitor-limit.js'
import { toDomainError } from '../../../http/to-domain-error.js'
import { DomainError } from '../../../lib/domain-error.js'
import type { TenantRecord } from '../../../storage/records.js'
import { companyOf } from '../../../tenants/company.js'
import { assertAllowed, LocalRateLimiter } from '../../../tenants/rate-limiter.js'
import { GUIDANCE_BODY_BYTES } from '../../challenges/exports.js'
import { capturePageSettings } from '../capture-page-settings.js'
import { type CaptureSession, endingOf, hasAgreed } from '../capture-session-book.js'
import { UPLOAD_MS } from '../capture-session-events.js'
import { isConfirmed } from '../confirmation-code.js'
import { beganHtml } from './began.js'
import { brandFile, brandOf } from './brand.js'
import { CaptureFlow, type CaptureFlowParts, canHandOver } from './capture-flow.js'
import { consentOf } from './consent-text.js'
import { GuidanceLimit } from './guidance-limit.js'
import { type InternalCallParts, InternalCalls } from './internal-calls.js'
import { type Notice, noticePage } from './notice-page.js'
import {
  type ChallengeBody,
  type CodeBody,
  type ConsentBody,
  type FramesBody,
  type GuidanceBody,
  parseChallenge,
  parseCode,
  parseConsent,
  parseFrames,
  parseGuidance,
  parseNothing,
} from './page-bodies.js'
import { pageFiles } from './page-files.js'
import { PageReplies } from './page-replies.js'
import { loopbackHost, phoneCode } from './phone-code.js'
import { CaptureFlowError, type PageState, returnUrlOf } from './session-changes.js'
import { SessionCookie } from './session-cookie.js'
import { beginPage, sessionPage } from './session-page.js'
import { shownAction } from './shown-action.js'
import { languageOf } from './texts/page-languages.js'

interface CaptureServerParts extends CaptureFlowParts, InternalCallParts {
  /** The origin under which browsers reach the page. */
  origin: () => string
  visitors: VisitorLimit
  log: Logger
}

/** Time for the upload of a frame for guidance: the component gives up after 3 seconds. */
const GUIDANCE_UPLOAD_MS = 5000
/** Loads of one session's page: as many at once as a person may need, then one in 5 seconds. */
const PAGE_LOADS = { ratePerSecond: 0.2, burst: 20 }
const PATH =
  /^\/capture\/([\w.-]{1,128})(?:\/(begin|code|consent|challenge|guidance|frames|cancel|disown|phone|number|status))?$/

/** Steps of a session whose phone has captured and shows a number. */
const AFTER_CAPTURE = new Set(['number', 'cancel', 'disown'])

/** A request to an address of a session, with the session and its tenant. */
interface Visit {
  request: IncomingRequest
  token: string
  session: CaptureSession
}

export class CaptureServer {
  private readonly flow: CaptureFlow
  private readonly guidance: GuidanceLimit
  private readonly loads: LocalRateLimiter
  private readonly cookie: SessionCookie
  private readonly replies: PageReplies
  private readonly files: ReadonlyMap<string, Reply>

  constructor(private readonly parts: CaptureServerParts) {
    this.flow = new CaptureFlow(parts, new InternalCalls(parts))
    this.guidance = new GuidanceLimit(parts.clock)
    this.loads = new LocalRateLimiter(parts.clock)
    const isSecure = parts.origin().startsWith('https:')
    this.cookie = new SessionCookie(isSecure, parts.clock)
    this.replies = new PageReplies(isSecure)
    this.files = pageFiles(this.replies)
  }

  readonly handle = async (request: IncomingRequest): Promise<Reply> => {
    const { replies } = this
    if (request.malformed)
      return (
        largeHeadPage(request) ?? replies.plain(statusOf(request.malformed), `${request.malformed.message}\n`)
      )
    try {
      let file = this.files.get(request.path) ?? null
      if (!file) {
        const takeBack = await this.parts.visitors.take(request)
        const [, token, step] = PATH.exec(request.path) ?? []
        if (token !== undefined)
          return step === undefined
            ? await this.open(request, token)
            : await this.step(request, token, step, takeBack)
        file = await brandFile(request.path, this.parts.store.read, replies)
      }
      if (!file) return replies.plain(404, 'There is no such page.\n')
      return isRead(request) ? file : this.notAllowed('GET, HEAD')
    } catch (error) {
      return this.refuse(error)
    }
  }

  /** Serves the page. It changes nothing: a program that looks at the link must not use it up. */
  private async open(request: IncomingRequest, token: string): Promise<Reply> {
    const { store, captureSessions } = this.parts
    if (request.method !== 'GET') return this.notAllowed('GET')
    // The script of a page that is loaded ahead of time would begin.
    if (/prefetch|prerender|preview/.test(request.headers['sec-purpose'] ?? request.headers.purpose ?? ''))
      return this.replies.plain(503, 'Not ahead of time.\n')
    const session = await captureSessions.find(store.read, token)
    const tenant = session && (await store.read.tenantById(session.record.tenantId))
    const asked = languageOf(request.headers['accept-language'])
    if (!tenant)
      return this.replies.page(404, noticePage(asked, { text: 'not_found', company: null, back: null }), [])
    const bound = captureSessions.isBoundTo(session, this.cookie.valueIn(request, session))
    return this.show(session, tenant, { bound, asked })
  }

  /** Binds the link to the browser that asks first. No other one can use it from then on. */
  private async begin({ request, token, session: known }: Visit): Promise<Reply> {
    const { store, captureSessions } = this.parts
    const { tenantId } = known.record
    parseNothing(
      await request.body(performance.now() + UPLOAD_MS, SMALL_BODY_BYTES, tenantId),
      request.headers['content-type'],
      '',
    )
    const begun = await store.transaction({ tenantId }, async (tx) => {
      const session = await captureSessions.find(tx, token)
      if (session?.record.status !== 'open') return null
      const bound = captureSessions.isBoundTo(session, this.cookie.valueIn(request, session))
      if (bound !== null) return bound ? { session, cookies: {} } : null
      const secret = captureSessions.bind(session)
      await captureSessions.put(tx, session)
      const tenant = await tx.tenantById(tenantId)
      const isFramed = capturePageSettings(tenant!).frameAncestors.length > 0
      return { session, cookies: { 'Set-Cookie': this.cookie.header(session, secret, isFramed) } }
    })
    if (!begun) return this.replies.json(403, { code: 'opened_elsewhere' })
    const { session, cookies } = begun
    const isLockedOut = isConfirmed(session.content.code) && (await this.flow.isLockedOut(session))
    const state = isLockedOut ? await this.flow.end(token, 'locked_out') : this.flow.state(session)
    return this.replies.json(200, state, cookies)
  }

  private async show(
    session: CaptureSession,
    tenant: TenantRecord,
    { bound, asked }: { bound: boolean | null; asked: DisplayLocale },
  ): Promise<Reply> {
    const { record, content, side } = session
    const { captureRequest } = content
    const language = captureRequest.locale ?? asked
    const settings = capturePageSettings(tenant)
    const { frameAncestors } = settings
    const brand = brandOf(tenant.id, settings)
    const company = companyOf(tenant)
    const returnUrl = returnUrlOf(session)
    const backTo = side === 'page' ? returnUrl : null
    const notice = (status: number, text: Notice['text'], back = backTo) =>
      this.replies.page(
        status,
        noticePage(language, { text, company, brand, back, number: content.number?.value }),
        frameAncestors,
      )
    const ending = endingOf(session)
    const over = () =>
      notice(
        200,
        ending
          ? `ended_${ending}`
          : content.waitsFor
            ? `over_${content.waitsFor}`
            : side === 'page'
              ? 'over'
              : 'over_phone',
      )
    // Another browser than the owner's is shown the customer's site and nothing of the session.
    if (bound === false) return notice(403, 'elsewhere', `${new URL(returnUrl).origin}/`)
    if (record.status !== 'open') return over()
    if (this.parts.captureSessions.hasExpired(record) || !(await this.isInForce(session)))
      return notice(410, 'expired')
    const { environment, purpose } = record
    // The first device is never shown the number.
    if (bound && side === 'phone' && content.number) return notice(200, 'number_shown')
    if (bound === null)
      return this.replies.page(200, beginPage(language, { purpose, company, brand }), frameAncestors)
    // A page that is loaded again and again costs no more than one that a person reads.
    assertAllowed(await this.loads.take(record.id, PAGE_LOADS))
    const page = sessionPage({
      action: shownAction(session, language),
      language,
      environment,
      purpose,
      company,
      brand,
      description: captureRequest.description,
      began: beganHtml(session, language, company),
      passkey: captureRequest.passkey ?? null,
      needsCode: !isConfirmed(content.code),
      consent: consentOf(session, tenant, language),
      hasConsented: hasAgreed(session),
      needsNumber: content.number !== undefined,
      side,
      canHandOver: canHandOver(session),
      loopbackHost: loopbackHost(this.parts.origin()),
    })
    return this.replies.page(200, page, frameAncestors)
  }

  /** Answers a request that the page's script makes. @param takeBack called for the browser that owns the session */
  private async step(
    request: IncomingRequest,
    token: string,
    step: string,
    takeBack: () => void,
  ): Promise<Reply> {
    const { store, captureSessions, origin } = this.parts
    const method = step === 'status' ? 'GET' : 'POST'
    if (request.method !== method) return this.notAllowed(method)
    // Browsers name the page's origin with every POST. A page of another origin is refused, even when it knows the link.
    if (method === 'POST' && request.headers.origin !== origin())
      return this.replies.json(403, { code: 'wrong_origin' })
    const session = await captureSessions.find(store.read, token)
    if (!session) return this.replies.json(404, { code: 'not_found' })
    const visit = { request, token, session }
    const bound = captureSessions.isBoundTo(session, this.cookie.valueIn(request, session))
    if (bound === false || (bound === null && step !== 'begin'))
      return this.replies.json(403, { code: 'opened_elsewhere' })
    if (bound) takeBack()
    const { record, content } = session
    if (bound && record.status !== 'open') return this.replies.json(200, this.flow.state(session))
    if (captureSessions.hasExpired(record)) return this.replies.json(410, { code: 'expired' })
    if (content.number && !AFTER_CAPTURE.has(step)) return this.replies.json(200, this.flow.state(session))
    if (step === 'begin') return this.begin(visit)
    if (step === 'guidance') return this.guide(visit)
    return this.replies.json(200, await this.take(visit, step))
  }

  private async take(visit: Visit, step: string): Promise<PageState | { url: string; code: string }> {
    const { flow } = this
    const { request, token, session } = visit
    if (step === 'status') return flow.state(session)
    const language = session.content.captureRequest.locale ?? languageOf(request.headers['accept-language'])
    const contentType = request.headers['content-type']
    const body = (limitBytes?: number) =>
      request.body(performance.now() + UPLOAD_MS, limitBytes, session.record.tenantId)
    if (step === 'frames') {
      const input = parseFrames(await body(), contentType, '') as FramesBody
      return flow.frames(session, token, request, input, language)
    }
    if (step === 'code') {
      const input = parseCode(await body(SMALL_BODY_BYTES), contentType, '') as CodeBody
      return flow.confirm(token, input.code, language)
    }
    if (step === 'number') {
      const input = parseCode(await body(SMALL_BODY_BYTES), contentType, '') as CodeBody
      return flow.number(token, input.code, language)
    }
    if (step === 'challenge') {
      const shown = parseChallenge(await body(SMALL_BODY_BYTES), contentType, '') as ChallengeBody
      return flow.challenge(session, token, request, shown, language)
    }
    const parse = step === 'consent' ? parseConsent : parseNothing
    const input = parse(await body(SMALL_BODY_BYTES), contentType, '')
    switch (step) {
      case 'consent':
        return flow.consent(token, input as ConsentBody, language)
      case 'phone': {
        const url = `${this.parts.origin()}/capture/${await flow.handOver(token)}`
        return { url, code: phoneCode(url) }
      }
      case 'disown':
        return flow.disown(token)
      default:
        return flow.cancel(token)
    }
  }

  /**
   * Answers with advice for the person in front of the camera. An error of the service is passed on by its code, and the person goes on
   * without advice.
   */
  private async guide({ request, session }: Visit): Promise<Reply> {
    const input = parseGuidance(
      await request.body(
        performance.now() + GUIDANCE_UPLOAD_MS,
        GUIDANCE_BODY_BYTES,
        session.record.tenantId,
      ),
      request.headers['content-type'],
      '',
    ) as GuidanceBody
    const end = this.guidance.take(session.record.id)
    if (!end) return this.replies.json(429, { code: 'rate_limited' }, { 'Retry-After': '1' })
    try {
      const { status, body } = await this.flow.guide(session, request, input)
      return status === 200
        ? this.replies.json(200, { guidance: body.guidance })
        : this.replies.json(status, { code: body.code })
    } finally {
      end()
    }
  }

  /** Whether the API key that created the session is still valid. */
  private async isInForce({ record }: CaptureSession): Promise<boolean> {
    try {
      await this.parts.tenancy.callerAgain(record.tenantId, record.keyId)
      return true
    } catch (error) {
      if (error instanceof DomainError) return false
      throw error
    }
  }

  private notAllowed(allow: string): Reply {
    return this.replies.plain(405, `Only ${allow} is supported.\n`, { Allow: allow })
  }

  private refuse(error: unknown): Reply {
    if (error instanceof CaptureFlowError) return this.replies.json(409, { code: error.code })
    const refusal = toDomainError(error)
    const status = statusOf(refusal)
    if (status >= 500) this.parts.log.error({ err: refusal.cause ?? refusal }, 'the capture page failed')
    return {
      ...this.replies.json(status, { code: refusal.code }, errorHeaders(refusal)),
      close: refusal.code === 'body_too_large',
    }
  }
}

function isRead({ method }: IncomingRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}
