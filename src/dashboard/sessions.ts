/** Who is signed in: server-side sessions behind a cookie, made from a login link or the operator's password. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { ApiError, retryAfter } from '../api-error.js'
import { type Clock, HOUR_MS, SECOND_MS } from '../clock.js'
import { randomBase62 } from '../crypto/identifiers.js'
import type { IncomingRequest } from '../server/listener.js'
import { networkOf } from '../server/wrong-keys.js'
import type { Store } from '../storage/store.js'
import { hashToken } from '../tenancy/login-link.js'
import { RateLimiter } from '../tenancy/rate-limiter.js'
import type { InputOf, SessionRoutes } from './contract.js'
import { DashboardError } from './dashboard-error.js'
import type { OperatorPassword } from './operator-password.js'

const SESSION_MS = 8 * HOUR_MS
const COOKIE = 'countersign_session'
/** Per network: ten tries at once, then one in ten seconds. A login link cannot be guessed; a password might. */
const SIGN_IN_RATE = { ratePerSecond: 0.1, burst: 10 }

export interface Session {
  /** Null for the operator. */
  tenantId: string | null
  /** The cookie's token. */
  token: string
  expiresAt: number
}

export type Credentials = InputOf<SessionRoutes['POST /session']>

export class Sessions {
  private readonly attempts: RateLimiter

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly operatorPassword: OperatorPassword,
    /** The dashboard is reached over TLS: the cookie then travels on nothing else. */
    private readonly secure: boolean,
  ) {
    this.attempts = new RateLimiter(clock)
  }

  /** @throws DashboardError sign_in_failed, ApiError rate_limited */
  async signIn(credentials: Credentials, remoteAddress: string): Promise<Session> {
    const attempt = this.attempts.take(networkOf(remoteAddress), SIGN_IN_RATE)
    if (!attempt.allowed)
      throw new ApiError('rate_limited', {
        message: 'Too many sign-ins from this address.',
        headers: retryAfter(attempt.retryAfterSeconds),
      })
    if ('password' in credentials && !(await this.operatorPassword.matches(credentials.password)))
      throw new DashboardError('sign_in_failed', 'The operator password is wrong.')
    const now = this.clock.now()
    const token = randomBase62()
    const expiresAt = now + SESSION_MS
    // Not within the transaction, which may await nothing but the store.
    const operatorHash = await this.operatorHash(token)
    return this.store.transaction(async (tx) => {
      let tenantId: string | null = null
      if ('login_token' in credentials) {
        const link = await tx.takeLoginLink(hashToken(credentials.login_token), now)
        // Unknown, used and expired are one answer: a guess learns nothing of which links there were.
        if (!link)
          throw new DashboardError(
            'sign_in_failed',
            'The login link is not valid: it was used already, or has expired. A link works once, within an hour.',
          )
        tenantId = link.tenantId
      }
      const session = { tenantId, token, expiresAt }
      const hash = tenantId === null ? operatorHash : hashToken(token)
      await tx.insertDashboardSession({ hash, tenantId, expiresAt })
      return session
    })
  }

  /** @throws DashboardError not_signed_in */
  async find({ headers }: Pick<IncomingRequest, 'headers'>): Promise<Session> {
    const token = cookieOf(headers.cookie)
    if (token === null) throw new DashboardError('not_signed_in')
    const { read } = this.store
    const now = this.clock.now()
    const ofTenant = await read.dashboardSession(hashToken(token), now)
    const found = ofTenant?.tenantId
      ? ofTenant
      : await read.dashboardSession(await this.operatorHash(token), now)
    if (!found) throw new DashboardError('not_signed_in')
    return { tenantId: found.tenantId, token, expiresAt: found.expiresAt }
  }

  async signOut(session: Session): Promise<void> {
    const { tenantId, token } = session
    const hash = tenantId === null ? await this.operatorHash(token) : hashToken(token)
    await this.store.transaction((tx) => tx.deleteDashboardSession(hash))
  }

  /** What the operator's session is stored under, bound to the password: with another one, nobody finds it any more. */
  private async operatorHash(token: string): Promise<Buffer> {
    return hashToken(`${token}.${await this.operatorPassword.fingerprint()}`)
  }

  cookie({ token }: Session): string {
    return this.setCookie(token, SESSION_MS / SECOND_MS)
  }

  clearedCookie(): string {
    return this.setCookie('', 0)
  }

  private setCookie(value: string, maxAgeSeconds: number): string {
    const secure = this.secure ? '; Secure' : ''
    return `${COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`
  }
}

/** What a page of ours sends back in `X-CSRF-Token`: known only to who could read the session's own answer. */
export function csrfToken({ token }: Session): string {
  return createHash('sha256').update(`csrf:${token}`).digest('base64url')
}

/** @throws DashboardError cross_site_request */
export function assertCsrfToken(session: Session, given: string | undefined): void {
  const expected = Buffer.from(csrfToken(session))
  const actual = Buffer.from(given ?? '')
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected))
    throw new DashboardError('cross_site_request')
}

/**
 * A browser names the page that a changing request comes from; a form on another site cannot hide it.
 * @throws DashboardError cross_site_request
 */
export function assertSameOrigin({ headers }: Pick<IncomingRequest, 'headers'>): void {
  const { origin, host } = headers
  if (origin === undefined || host === undefined || !URL.canParse(origin) || new URL(origin).host !== host)
    throw new DashboardError('cross_site_request')
}

function cookieOf(header: string | undefined): string | null {
  return new RegExp(`(?:^|;\\s*)${COOKIE}=([0-9A-Za-z]{1,64})(?:;|$)`).exec(header ?? '')?.[1] ?? null
}
