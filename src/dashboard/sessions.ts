/** Server-side sessions behind a cookie, which begin with a link, a password or a sign-in at an OpenID provider. */

import type { FactorOwner, SecondFactorOperations } from '../admin/second-factor-operations.js'
import { sessionId, UNNAMED_OPERATOR } from '../admin/session-operations.js'
import type { NewSession, SignInOperations } from '../admin/sign-in-operations.js'
import { randomBase62 } from '../crypto/identifiers.js'
import { matchesHash } from '../crypto/password-hash.js'
import { networkOf } from '../http/authentication/wrong-keys.js'
import type { IncomingRequest } from '../http/listeners/listener.js'
import { type Clock, MINUTE_MS, SECOND_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { PersonRecord, PersonRole, SessionMethod, SessionRecord } from '../storage/records.js'
import type { Scope, Store } from '../storage/store.js'
import { hashToken } from '../tenants/login-link.js'
import type { RateLimiter } from '../tenants/rate-limiter.js'
import { BACKGROUND_HEADER, type InputOf, type OperatorRoutes, type SessionRoutes } from './contract.js'
import { DashboardError } from './dashboard-error.js'
import type { OperatorPassword } from './operator-password.js'
import { ProviderSignInError } from './provider-sign-in-error.js'
import type { SessionTimes } from './session-times.js'

/** The audit log's name for anyone who opened a tenant's login link. */
const UNNAMED_TENANT = 'tenant'
const COOKIE = 'countersign_session'
/**
 * Prefix by which a browser accepts the cookie only from this very host and over TLS, so that no other host of the domain can replace it.
 */
export const HOST_PREFIX = '__Host-'
/** Limit of sign-ins per network: ten at once, then one in ten seconds. A login link cannot be guessed, but a password might be. */
const SIGN_IN_RATE = { ratePerSecond: 0.1, burst: 10 }
/**
 * Limit of codes per person, from any address: ten at once, then one in five minutes. Of a million codes three are valid at a time, so that
 * an attacker who knows the password would need three years.
 *
 */
const CODE_RATE = { ratePerSecond: 1 / 300, burst: 10 }
/** The use of a session is stored at most once in this time. */
const USE_INTERVAL_MS = MINUTE_MS
const MAX_BROWSER = 256

/** The person who signs in with the operator's password, and so without a name. */
const UNNAMED = {
  id: null,
  tenantId: null,
  name: UNNAMED_OPERATOR,
  role: 'admin',
  hasPassword: true,
} as const

/** The person of a session: an operator, or a person of a tenant. */
export interface SessionPerson {
  /** Id of the person, or null when the session began with the operator's password or a tenant's login link. */
  id: string | null
  /** Id of the person's tenant, or null for an operator. */
  tenantId: string | null
  name: string
  role: PersonRole
  /** False for a person who was invited and has not chosen a password yet. */
  hasPassword: boolean
}

export interface Session {
  person: SessionPerson
  /** The cookie's token. */
  token: string
  /** The hash under which the session is stored. */
  hash: Buffer
  /** Time at which the session ends unless it is used before. */
  expiresAt: number
  /** Time at which the person last confirmed their identity, or null when it is unknown. */
  authenticatedAt: number | null
  method: SessionMethod
}

/** The browser that asks to sign in. */
export interface Guest {
  address: string
  /** The header User-Agent. */
  browser: string | undefined
  requestId: string
}

export type Credentials = InputOf<SessionRoutes['POST /session']>
/** Password and code with which a person confirms their identity. */
type Proof = InputOf<OperatorRoutes['POST /session/confirm']>
type PasswordCredentials = Extract<Credentials, { password: string }>

export interface SessionParts {
  store: Store
  clock: Clock
  operatorPassword: OperatorPassword
  signIns: SignInOperations
  /** Whether the dashboard is reached over TLS. The cookie is then sent over nothing else. */
  isSecure: boolean
  secondFactors: SecondFactorOperations
  attempts: RateLimiter
  /** Whether operators and people of tenants may sign in by a password. */
  isPasswordSignIn: { operators: boolean; tenants: boolean }
  times: SessionTimes
}

export class Sessions {
  constructor(private readonly parts: SessionParts) {}

  /** @throws DashboardError sign_in_failed; DomainError rate_limited */
  async signIn(credentials: Credentials, guest: Guest): Promise<Session> {
    await this.assertNotGuessing(guest)
    return 'password' in credentials
      ? this.signInByPassword(credentials, guest)
      : this.signInByLink(credentials.login_token, guest)
  }

  /**
   * Begins a session for a person whom the provider has identified.
   * @param authenticatedAt time of the sign-in at the provider, or null when the provider does not report it
   * @throws ProviderSignInError unknown_person; TenancyError tenant_suspended
   */
  async signInNamed(name: string, authenticatedAt: number | null, guest: Guest): Promise<Session> {
    const person = await this.parts.store.read.personByName(name)
    const begun = this.begin('oidc', guest, authenticatedAt)
    const session = person && (await this.signInPerson(person, begun, guest))
    if (!session) throw new ProviderSignInError('unknown_person', `There is nobody named ${name}.`)
    return session
  }

  /**
   * Makes the sign-in of a session fresh again, for a person who repeats the password.
   * @throws DashboardError sign_in_failed; not_permitted for a session that began in another way; DomainError rate_limited
   */
  async confirm(session: Session, { password, code }: Proof, guest: Guest): Promise<Session> {
    const { person, method, hash } = session
    if (method !== 'password') throw new DashboardError('not_permitted')
    await this.assertNotGuessing(guest)
    const isRight =
      person.id === null
        ? await this.parts.operatorPassword.matches(password)
        : await matchesHash(password, (await this.person(person.id)).passwordHash)
    if (!isRight) throw new DashboardError('sign_in_failed', 'The password is wrong.')
    await this.assertSecondFactor(person, code)
    await this.parts.signIns.confirmed(hash, person, guest.requestId)
    return { ...session, authenticatedAt: this.parts.clock.now() }
  }

  /** @throws DashboardError fresh_sign_in_required, which says in `confirm_by` how to confirm the identity */
  assertFresh({ authenticatedAt, method }: Session): void {
    const { clock, times } = this.parts
    if (authenticatedAt !== null && clock.now() - authenticatedAt < times.freshMs) return
    throw new DashboardError('fresh_sign_in_required', HOW_TO_CONFIRM[method], { confirm_by: method })
  }

  /**
   * Uses up a code of the person's second factor, if the person has one. The password was checked before, so the caller knows it.
   * @throws DashboardError second_factor_required, sign_in_failed; DomainError rate_limited
   */
  private async assertSecondFactor(owner: FactorOwner, code: string | undefined): Promise<void> {
    const { secondFactors, attempts } = this.parts
    if (!(await secondFactors.isEnrolled(owner))) return
    if (!code) throw new DashboardError('second_factor_required')
    const attempt = await attempts.take(`second factor ${owner.id ?? owner.name}`, CODE_RATE)
    if (!attempt.allowed)
      throw new DomainError('rate_limited', {
        message: 'Too many codes of this second factor.',
        retryAfterMs: attempt.retryAfterSeconds * SECOND_MS,
      })
    if (!(await secondFactors.use(owner, code)))
      throw new DashboardError(
        'sign_in_failed',
        'The code is wrong, or was used already: wait for the next one.',
      )
  }

  /** Counts a sign-in against the limit of its network. @throws DomainError rate_limited */
  async assertNotGuessing({ address }: Guest): Promise<void> {
    const attempt = await this.parts.attempts.take(`sign-in ${networkOf(address)}`, SIGN_IN_RATE)
    if (!attempt.allowed)
      throw new DomainError('rate_limited', {
        message: 'Too many sign-ins from this address.',
        retryAfterMs: attempt.retryAfterSeconds * SECOND_MS,
      })
  }

  private async signInByLink(loginToken: string, guest: Guest): Promise<Session> {
    const ofPerson = await this.signInByPersonLink(loginToken, guest)
    if (ofPerson) return ofPerson
    const { token, record } = this.begin('link', guest)
    const tenantId = await this.parts.signIns.byLink(hashToken(loginToken), record, guest.requestId)
    // Unknown, used and expired links get the same answer, so that guesses reveal nothing.
    if (tenantId === null)
      throw new DashboardError(
        'sign_in_failed',
        'The login link is not valid: it was used already, or has expired. A link works once, and not for long.',
      )
    return opened(record, unnamedOf(tenantId), token)
  }

  /** @returns null when the link is no person's invitation */
  private async signInByPersonLink(loginToken: string, guest: Guest): Promise<Session | null> {
    const { signIns, store } = this.parts
    const link = await signIns.takePersonLink(hashToken(loginToken))
    if (link === undefined) return null
    const begun = this.begin('link', guest)
    if (link.personId !== null) {
      const person = await store.read.personById(link.personId)
      return person ? this.signInPerson(person, begun, guest) : null
    }
    const record = { ...begun.record, hash: await this.unnamedHash(begun.token) }
    await signIns.asUnnamed(record, guest.requestId)
    return opened(record, UNNAMED, begun.token)
  }

  private async signInByPassword(
    { name, password, code }: PasswordCredentials,
    guest: Guest,
  ): Promise<Session> {
    const { store, operatorPassword, signIns, isPasswordSignIn } = this.parts
    const isNamed = name !== undefined && name !== UNNAMED.name
    if (!isPasswordSignIn.operators && !(isPasswordSignIn.tenants && isNamed))
      throw new DashboardError('password_sign_in_off')
    const begun = this.begin('password', guest)
    if (isNamed) {
      const person = await store.read.personByName(name)
      const isRight = await matchesHash(password, person?.passwordHash ?? null)
      if (!person || !isRight || !this.takesPassword(person)) throw wrongPassword()
      await this.assertSecondFactor(person, code)
      const session = await this.signInPerson(person, begun, guest)
      if (!session) throw wrongPassword()
      return session
    }
    // The hash is made before the password is compared: if the password is replaced meanwhile, the session cannot be found.
    const record = { ...begun.record, hash: await this.unnamedHash(begun.token) }
    if (!(await operatorPassword.matches(password))) throw wrongPassword()
    await this.assertSecondFactor(UNNAMED, code)
    await signIns.asUnnamed(record, guest.requestId)
    return opened(record, UNNAMED, begun.token)
  }

  /** Whether this person may sign in by a password. */
  takesPassword({ tenantId }: Pick<SessionPerson, 'tenantId'>): boolean {
    const { operators, tenants } = this.parts.isPasswordSignIn
    return tenantId === null ? operators : tenants
  }

  /**
   * `required` when the person opened an invitation and could not sign in again without a password; `own` for a person with a password, who
   * may choose another; null for a person without one. A person who signs in by the provider gets none, since it would still work after the
   * provider has shut the person out.
   *
   */
  ownPassword({ person, method }: Session): 'required' | 'own' | null {
    if (person.id === null || method === 'oidc' || !this.takesPassword(person)) return null
    return person.hasPassword ? 'own' : 'required'
  }

  /** @returns null when the person was removed or got another password meanwhile */
  private async signInPerson(
    person: PersonRecord,
    { token, record }: { token: string; record: NewSession },
    { requestId }: Guest,
  ): Promise<Session | null> {
    if (!(await this.parts.signIns.asPerson(person, record, requestId))) return null
    return opened(record, asSessionPerson(person), token)
  }

  private begin(
    method: SessionMethod,
    { address, browser }: Guest,
    authenticatedAt: number | null = this.parts.clock.now(),
  ): { token: string; record: NewSession } {
    const { clock, times } = this.parts
    const token = randomBase62()
    const now = clock.now()
    const endsAt = now + times.absoluteMs
    const record = {
      hash: hashToken(token),
      expiresAt: Math.min(endsAt, now + times.idleMs),
      endsAt,
      createdAt: now,
      lastUsedAt: now,
      authenticatedAt,
      method,
      address,
      browser: browser?.slice(0, MAX_BROWSER) ?? null,
    }
    return { token, record }
  }

  /** @throws DashboardError not_signed_in */
  async find({ headers }: Pick<IncomingRequest, 'headers'>): Promise<Session> {
    const token = cookieOf(headers.cookie, this.cookieName)
    if (token === null) throw new DashboardError('not_signed_in')
    const session = await this.ofToken(token)
    // The session may have begun before passwords were switched off.
    if (session.opened.method === 'password' && !this.takesPassword(session.opened.person))
      throw new DashboardError('not_signed_in')
    const isInUse = headers[BACKGROUND_HEADER.toLowerCase()] === undefined
    return {
      ...session.opened,
      expiresAt: isInUse ? await this.keep(session.record) : session.record.expiresAt,
    }
  }

  private async ofToken(token: string): Promise<{ record: SessionRecord; opened: Session }> {
    const { read } = this.parts.store
    const now = this.parts.clock.now()
    const record = await read.dashboardSession(hashToken(token), now)
    // The person is read on every request, so that a change of role or a removal takes effect at once.
    if (record?.personId)
      return { record, opened: opened(record, asSessionPerson(await this.person(record.personId)), token) }
    if (record?.tenantId) return { record, opened: opened(record, unnamedOf(record.tenantId), token) }
    const unnamed = await read.dashboardSession(await this.unnamedHash(token), now)
    if (!unnamed) throw new DashboardError('not_signed_in')
    return { record: unnamed, opened: opened(unnamed, UNNAMED, token) }
  }

  /** Extends a session that is in use. @returns the time at which it ends */
  private async keep({ hash, tenantId, expiresAt, endsAt, lastUsedAt }: SessionRecord): Promise<number> {
    const { clock, store, times } = this.parts
    const now = clock.now()
    // A session that an earlier version began has no idle limit.
    if (endsAt === null || now - (lastUsedAt ?? 0) < USE_INTERVAL_MS) return expiresAt
    const kept = { lastUsedAt: now, expiresAt: Math.min(endsAt, now + times.idleMs) }
    // An operator's session is one row, which concerns no tenant: so the writers of only one lane wait for it.
    const scope: Scope = { tenantId: tenantId ?? sessionId(hash) }
    try {
      await store.transaction((tx) => tx.keepDashboardSession(hash, kept), undefined, scope)
      return kept.expiresAt
    } catch {
      // While the database cannot be written, the dashboard stays readable until the session ends.
      return expiresAt
    }
  }

  async signOut({ hash }: Session): Promise<void> {
    await this.parts.store.transaction((tx) => tx.deleteDashboardSession(hash))
  }

  /** @throws DashboardError not_signed_in */
  private async person(id: string): Promise<PersonRecord> {
    const person = await this.parts.store.read.personById(id)
    if (!person) throw new DashboardError('not_signed_in')
    return person
  }

  /**
   * The hash under which a session of the operator's password is stored. It depends on the password, so that a new password ends these
   * sessions.
   */
  private async unnamedHash(token: string): Promise<Buffer> {
    return hashToken(`${token}.${await this.parts.operatorPassword.fingerprint()}`)
  }

  cookie({ token }: Session): string {
    return this.setCookie(token, this.parts.times.absoluteMs / SECOND_MS)
  }

  clearedCookie(): string {
    return this.setCookie('', 0)
  }

  private get cookieName(): string {
    return this.parts.isSecure ? HOST_PREFIX + COOKIE : COOKIE
  }

  private setCookie(value: string, maxAgeSeconds: number): string {
    const secure = this.parts.isSecure ? '; Secure' : ''
    return `${this.cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`
  }
}

const HOW_TO_CONFIRM: Record<SessionMethod, string> = {
  password: 'This asks for a fresh sign-in: give your password again.',
  oidc: "This asks for a fresh sign-in: sign in again at your organisation's provider.",
  link: 'This asks for a fresh sign-in: sign in with your password, or open a new link, which an admin makes.',
}

function opened(
  record: Pick<SessionRecord, 'hash' | 'expiresAt' | 'authenticatedAt' | 'method'>,
  person: SessionPerson,
  token: string,
): Session {
  const { hash, expiresAt, authenticatedAt } = record
  // An earlier version did not store how a session began: a tenant's began with a link, the operator's with the password.
  const method = record.method ?? (person.tenantId === null ? 'password' : 'link')
  return { person, token, hash, expiresAt, authenticatedAt, method }
}

function asSessionPerson({ id, tenantId, name, role, passwordHash }: PersonRecord): SessionPerson {
  return { id, tenantId, name, role, hasPassword: passwordHash !== null }
}

/** The person without a name who opened a login link of the tenant. */
function unnamedOf(tenantId: string): SessionPerson {
  return { id: null, tenantId, name: UNNAMED_TENANT, role: 'admin', hasPassword: false }
}

/** The same answer for an unknown name and a wrong password. */
function wrongPassword(): DashboardError {
  return new DashboardError('sign_in_failed', 'The name or the password is wrong.')
}

function cookieOf(header: string | undefined, name: string): string | null {
  return new RegExp(`(?:^|;\\s*)${name}=([0-9A-Za-z]{1,64})(?:;|$)`).exec(header ?? '')?.[1] ?? null
}
