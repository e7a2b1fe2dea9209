/** Who is signed in: server-side sessions behind a cookie, made from a login link, the operator's password, or a named operator's. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { ApiError, retryAfter } from '../api-error.js'
import { type Clock, HOUR_MS, SECOND_MS } from '../clock.js'
import { randomBase62 } from '../crypto/identifiers.js'
import { matchesHash } from '../crypto/password-hash.js'
import type { SignInOperations } from '../operations/sign-in-operations.js'
import type { IncomingRequest } from '../server/listener.js'
import { networkOf } from '../server/wrong-keys.js'
import type { OperatorRecord, OperatorRole, SignInMethod } from '../storage/records.js'
import type { Store } from '../storage/store.js'
import { hashToken } from '../tenancy/login-link.js'
import type { RateLimiter } from '../tenancy/rate-limiter.js'
import type { InputOf, SessionRoutes } from './contract.js'
import { DashboardError } from './dashboard-error.js'
import type { OperatorPassword } from './operator-password.js'
import { ProviderSignInError } from './provider-sign-in-error.js'

const SESSION_MS = 8 * HOUR_MS
const COOKIE = 'countersign_session'
/** By it a browser takes the cookie from this very host alone, over TLS: no neighbour in the domain puts another in its place. */
export const HOST_PREFIX = '__Host-'
/** Per network: ten tries at once, then one in ten seconds. A login link cannot be guessed; a password might. */
const SIGN_IN_RATE = { ratePerSecond: 0.1, burst: 10 }

/** Whoever has the operator's password: the one who was there before anybody had a name. */
const UNNAMED = { id: null, name: 'operator', role: 'admin' } as const

/** Who is signed in, where it is no tenant. */
export interface SessionOperator {
  /** Null for whoever has the operator's password. */
  id: string | null
  name: string
  role: OperatorRole
}

export interface Session {
  /** Null for an operator. */
  tenantId: string | null
  /** Null for a tenant. */
  operator: SessionOperator | null
  /** The cookie's token. */
  token: string
  expiresAt: number
}

/** Whoever signs in. */
export interface Guest {
  address: string
  requestId: string
}

export type Credentials = InputOf<SessionRoutes['POST /session']>
type PasswordCredentials = Extract<Credentials, { password: string }>

export class Sessions {
  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly operatorPassword: OperatorPassword,
    private readonly signIns: SignInOperations,
    /** The dashboard is reached over TLS: the cookie then travels on nothing else. */
    private readonly secure: boolean,
    private readonly attempts: RateLimiter,
  ) {}

  /** @throws DashboardError sign_in_failed; ApiError rate_limited */
  async signIn(credentials: Credentials, guest: Guest): Promise<Session> {
    await this.assertNotGuessing(guest)
    return 'password' in credentials
      ? this.signInByPassword(credentials, guest)
      : this.signInByLink(credentials.login_token, guest)
  }

  /**
   * For a named operator whom somebody trusted has recognised.
   * @throws ProviderSignInError unknown_operator
   */
  async signInNamed(name: string, guest: Guest): Promise<Session> {
    const operator = await this.store.read.operatorByName(name)
    const session = operator && (await this.signInOperator(operator, 'oidc', guest))
    if (!session) throw new ProviderSignInError('unknown_operator', `There is no operator named ${name}.`)
    return session
  }

  /** A sign-in begins. @throws ApiError rate_limited */
  async assertNotGuessing({ address }: Guest): Promise<void> {
    const attempt = await this.attempts.take(`sign-in ${networkOf(address)}`, SIGN_IN_RATE)
    if (!attempt.allowed)
      throw new ApiError('rate_limited', {
        message: 'Too many sign-ins from this address.',
        headers: retryAfter(attempt.retryAfterSeconds),
      })
  }

  private async signInByLink(loginToken: string, { requestId }: Guest): Promise<Session> {
    const { token, expiresAt } = this.next()
    const hash = hashToken(token)
    const tenantId = await this.signIns.byLink(hashToken(loginToken), { hash, expiresAt }, requestId)
    // Unknown, used and expired are one answer: a guess learns nothing of which links there were.
    if (tenantId === null)
      throw new DashboardError(
        'sign_in_failed',
        'The login link is not valid: it was used already, or has expired. A link works once, within an hour.',
      )
    return { tenantId, operator: null, token, expiresAt }
  }

  private async signInByPassword({ name, password }: PasswordCredentials, guest: Guest): Promise<Session> {
    if (name !== undefined && name !== UNNAMED.name) {
      const operator = await this.store.read.operatorByName(name)
      const isRight = await matchesHash(password, operator?.passwordHash ?? null)
      const session = operator && isRight && (await this.signInOperator(operator, 'password', guest))
      if (!session) throw wrongPassword()
      return session
    }
    const { token, expiresAt } = this.next()
    // Before the password is compared: where another takes its place meanwhile, nobody finds the session.
    const hash = await this.unnamedHash(token)
    if (!(await this.operatorPassword.matches(password))) throw wrongPassword()
    await this.signIns.asUnnamed({ hash, expiresAt }, guest.requestId)
    return { tenantId: null, operator: UNNAMED, token, expiresAt }
  }

  /** @returns null for an operator who was removed, or given another password, meanwhile */
  private async signInOperator(
    operator: OperatorRecord,
    method: SignInMethod,
    { requestId }: Guest,
  ): Promise<Session | null> {
    const { token, expiresAt } = this.next()
    const session = { hash: hashToken(token), expiresAt }
    if (!(await this.signIns.asOperator(operator, method, session, requestId))) return null
    return { tenantId: null, operator, token, expiresAt }
  }

  private next(): Pick<Session, 'token' | 'expiresAt'> {
    return { token: randomBase62(), expiresAt: this.clock.now() + SESSION_MS }
  }

  /** @throws DashboardError not_signed_in */
  async find({ headers }: Pick<IncomingRequest, 'headers'>): Promise<Session> {
    const token = cookieOf(headers.cookie, this.cookieName)
    if (token === null) throw new DashboardError('not_signed_in')
    const { read } = this.store
    const now = this.clock.now()
    const named = await read.dashboardSession(hashToken(token), now)
    if (named?.tenantId)
      return { tenantId: named.tenantId, operator: null, token, expiresAt: named.expiresAt }
    if (named?.operatorId) {
      // Asked each time: another role, or none any more, holds at once.
      const operator = await read.operatorById(named.operatorId)
      if (!operator) throw new DashboardError('not_signed_in')
      return { tenantId: null, operator, token, expiresAt: named.expiresAt }
    }
    const unnamed = await read.dashboardSession(await this.unnamedHash(token), now)
    if (!unnamed) throw new DashboardError('not_signed_in')
    return { tenantId: null, operator: UNNAMED, token, expiresAt: unnamed.expiresAt }
  }

  async signOut(session: Session): Promise<void> {
    const { operator, token } = session
    const hash = operator?.id === null ? await this.unnamedHash(token) : hashToken(token)
    await this.store.transaction((tx) => tx.deleteDashboardSession(hash))
  }

  /** What a session by the operator's password is stored under, bound to it: with another one, nobody finds it any more. */
  private async unnamedHash(token: string): Promise<Buffer> {
    return hashToken(`${token}.${await this.operatorPassword.fingerprint()}`)
  }

  cookie({ token }: Session): string {
    return this.setCookie(token, SESSION_MS / SECOND_MS)
  }

  clearedCookie(): string {
    return this.setCookie('', 0)
  }

  private get cookieName(): string {
    return this.secure ? HOST_PREFIX + COOKIE : COOKIE
  }

  private setCookie(value: string, maxAgeSeconds: number): string {
    const secure = this.secure ? '; Secure' : ''
    return `${this.cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`
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

/** One answer for an unknown name and a wrong password. */
function wrongPassword(): DashboardError {
  return new DashboardError('sign_in_failed', 'The name or the password is wrong.')
}

function cookieOf(header: string | undefined, name: string): string | null {
  return new RegExp(`(?:^|;\\s*)${name}=([0-9A-Za-z]{1,64})(?:;|$)`).exec(header ?? '')?.[1] ?? null
}
