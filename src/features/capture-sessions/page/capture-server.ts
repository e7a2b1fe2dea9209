/** The capture listener. It serves the hosted page behind its single-use links and the requests of that page, and nothing else. */

import type { Logger } from 'pino'
import { errorHeaders, statusOf } from '../../../api/error-response.js'
import type { DisplayLocale } from '../../../contract/locales.js'
import { largeHeadPage } from '../../../http/listeners/large-head-page.js'
import type { IncomingRequest, Reply } from '../../../http/listeners/listener.js'
import type { VisitorLimit } from '../../../http/listeners/visitor-limit.js'
import { toDomainError } from '../../../http/to-domain-error.js'
import { SECOND_MS } from '../../../lib/clock.js'
import { DomainError } from '../../../lib/domain-error.js'
import type { TenantRecord } from '../../../storage/records.js'
import { assertAllowed, LocalRateLimiter } from '../../../tenants/rate-limiter.js'
import { capturePageSettings } from '../capture-page-settings.js'
import { type CaptureSession, endingOf } from '../capture-session-book.js'
import { isConfirmed } from '../confirmation-code.js'
import { brandFile, brandOf } from './brand.js'
import { CaptureFlow, type CaptureFlowParts } from './capture-flow.js'
import { type Notice, noticePage } from './notice-page.js'
import {
  readChallenge,
  readCode,
  readConsent,
  readFrames,
  readGuidance,
  readNothing,
  type Visit,
} from './page-bodies.js'
import { pageFiles } from './page-files.js'
import { PageReplies } from './page-replies.js'
import { phoneCode } from './phone-code.js'
import { CaptureFlowError, returnUrlOf, stateOf } from './session-changes.js'
import { SessionCookie } from './session-cookie.js'
import { beginPage, sessionPage } from './session-page.js'
import { languageOf } from './texts/page-languages.js'

interface CaptureServerParts extends CaptureFlowParts {
  /** The origin under which browsers reach the page. */
  origin: () => string
  visitors: VisitorLimit
  log: Logger
}

/** Loads of one session's page: as many at once as a person may need, then one in 5 seconds. */
const PAGE_LOADS = { ratePerSecond: 0.2, burst: 20 }
/** Questions for guidance of one session, so that a manipulated page costs no more than a real one: the component asks every 0.7 seconds. */
const GUIDANCE = { ratePerSecond: 2, burst: 4 }
const PATH =
  /^\/capture\/([\w.-]{1,128})(?:\/(begin|code|consent|challenge|guidance|frames|cancel|disown|phone|number|status))?$/

/** Steps of a session whose phone has captured and shows a number. */
const AFTER_CAPTURE = new Set(['number', 'cancel', 'disown'])

export class CaptureServer {
  private readonly flow: CaptureFlow
  private readonly loads: LocalRateLimiter
  private readonly guidance: LocalRateLimiter
  /** Ids of the sessions whose question for guidance is being answered: each has one at a time. */
  private readonly guided = new Set<string>()
  private readonly cookie: SessionCookie
  private readonly replies: PageReplies
  private readonly files: ReadonlyMap<string, Reply>

  constructor(private readonly parts: CaptureServerParts) {
    this.flow = new CaptureFlow(parts)
    this.loads = new LocalRateLimiter(parts.clock)
    this.guidance = new LocalRateLimiter(parts.clock)
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
      return ['GET', 'HEAD'].includes(request.method) ? file : this.notAllowed('GET, HEAD')
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
      return this.replies.page(404, noticePage(asked, { text: 'not_found', brand: null, back: null }), [])
    const bound = captureSessions.isBoundTo(session, this.cookie.valueIn(request, session))
    return this.show(session, tenant, { bound, asked })
  }

  /** Binds the link to the browser that asks first. No other one can use it from then on. */
  private async begin(visit: Visit): Promise<Reply> {
    const { store, captureSessions } = this.parts
    const { request, token } = visit
    const { tenantId } = visit.session.record
    await readNothing(visit)
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
    const isLockedOut =
      isConfirmed(session.content.code) && (await this.flow.isLockedOut(session, store.read))
    const state = isLockedOut ? await this.flow.end(token, 'locked_out') : stateOf(session)
    return this.replies.json(200, state, cookies)
  }

  private async show(
    session: CaptureSession,
    tenant: TenantRecord,
    { bound, asked }: { bound: boolean | null; asked: DisplayLocale },
  ): Promise<Reply> {
    const { record, content, side } = session
    const language = content.captureRequest.locale ?? asked
    const { frameAncestors } = capturePageSettings(tenant)
    const brand = brandOf(tenant)
    const returnUrl = returnUrlOf(session)
    const notice = (status: number, text: Notice['text'], back = side === 'page' ? returnUrl : null) =>
      this.replies.page(
        status,
        noticePage(language, { text, brand, back, number: content.number?.value }),
        frameAncestors,
      )
    // Another browser than the owner's is shown the customer's site and nothing of the session.
    if (bound === false) return notice(403, 'elsewhere', `${new URL(returnUrl).origin}/`)
    if (record.status !== 'open') return notice(200, textOfEnd(session))
    if (this.parts.captureSessions.hasExpired(record) || !(await this.isInForce(session)))
      return notice(410, 'expired')
    // The first device is never shown the number.
    if (bound && side === 'phone' && content.number) return notice(200, 'number_shown')
    if (bound === null)
      return this.replies.page(200, beginPage(language, record.purpose, brand), frameAncestors)
    // A page that is loaded again and again costs no more than one that a person reads.
    assertAllowed(await this.loads.take(record.id, PAGE_LOADS))
    const page = sessionPage(session, tenant, language, this.parts.origin())
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
    const bound = captureSessions.isBoundTo(session, this.cookie.valueIn(request, session))
    if (bound === false || (bound === null && step !== 'begin'))
      return this.replies.json(403, { code: 'opened_elsewhere' })
    if (bound) takeBack()
    const { record, content } = session
    if (bound && record.status !== 'open') return this.replies.json(200, stateOf(session))
    if (captureSessions.hasExpired(record)) return this.replies.json(410, { code: 'expired' })
    if (step === 'status' || (content.number && !AFTER_CAPTURE.has(step)))
      return this.replies.json(200, stateOf(session))
    const language = content.captureRequest.locale ?? languageOf(request.headers['accept-language'])
    const visit = { request, token, session, language }
    if (step === 'begin') return this.begin(visit)
    if (step === 'guidance') return this.guide(visit)
    return this.replies.json(200, await this.take(visit, step))
  }

  private async take(visit: Visit, step: string): Promise<object> {
    const { flow } = this
    switch (step) {
      case 'frames':
        return flow.frames(visit, await readFrames(visit))
      case 'code':
        return flow.confirm(visit, (await readCode(visit)).code)
      case 'number':
        return flow.number(visit, (await readCode(visit)).code)
      case 'challenge':
        return flow.challenge(visit, await readChallenge(visit))
      case 'consent':
        return flow.consent(visit, await readConsent(visit))
    }
    await readNothing(visit)
    if (step === 'disown') return flow.disown(visit)
    if (step === 'cancel') return flow.cancel(visit)
    const url = `${this.parts.origin()}/capture/${await flow.handOver(visit)}`
    return { url, code: phoneCode(url) }
  }

  /**
   * Answers with advice for the person in front of the camera. An error of the service is passed on by its code, and the person goes on
   * without advice.
   */
  private async guide(visit: Visit): Promise<Reply> {
    const input = await readGuidance(visit)
    const { id } = visit.session.record
    if (this.guided.has(id)) throw new DomainError('rate_limited', { retryAfterMs: SECOND_MS })
    this.guided.add(id)
    try {
      assertAllowed(await this.guidance.take(id, GUIDANCE))
      const { status, body } = await this.flow.guide(visit, input)
      return status === 200
        ? this.replies.json(200, { guidance: body.guidance })
        : this.replies.json(status, { code: body.code })
    } finally {
      this.guided.delete(id)
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

function textOfEnd(session: CaptureSession): Notice['text'] {
  const { content, side } = session
  const ending = endingOf(session)
  if (ending) return `ended_${ending}`
  if (content.waitsFor) return `over_${content.waitsFor}`
  return side === 'page' ? 'over' : 'over_phone'
}
