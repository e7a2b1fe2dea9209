/** Server-side sessions behind a cookie: finding, extending and ending them. `SignIn` begins them. */

import { accounts, accountsIn } from '../../admin/accounts/account-statements.js'
import type { PersonRecord, SessionMethod, SessionRecord } from '../../admin/accounts/account-tables.js'
import { hashToken } from '../../admin/accounts/login-link.js'
import type { NewSession } from '../../admin/sign-in-operations.js'
import type { Config } from '../../config/config.js'
import { randomBase62 } from '../../crypto/identifiers.js'
import type { IncomingRequest } from '../../http/listeners/listener.js'
import { type Clock, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/clock.js'
import type { Store } from '../../storage/store.js'
import { BACKGROUND_HEADER } from '../constants.js'
import { DashboardError } from '../dashboard-error.js'
import type { OperatorPassword } from './operator-password.js'
import { asSessionPerson, type SessionPerson, UNNAMED, unnamedOf } from './session-person.js'

const COOKIE = 'countersign_session'
/**
 * Prefix by which a browser accepts the cookie only from this very host and over TLS, so that no other host of the domain can replace it.
 */
export const HOST_PREFIX = '__Host-'
/** The use of a session is stored at most once in this time. */
const USE_INTERVAL_MS = MINUTE_MS
const MAX_BROWSER = 256

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
  /** Time since when the second factor that this session met is in force; null when it met none. */
  secondFactorAt: number | null
  method: SessionMethod
}

/** The browser that asks to sign in. */
export interface Guest {
  address: string
  /** The header User-Agent. */
  browser: string | undefined
  requestId: string
}

export interface SessionParts {
  store: Store
  clock: Clock
  operatorPassword: OperatorPassword
  /** Whether the dashboard is reached over TLS. The cookie is then sent over nothing else. */
  isSecure: boolean
  config: Pick<
    Config,
    | 'dashboardIdleMinutes'
    | 'dashboardSessionHours'
    | 'dashboardFreshMinutes'
    | 'operatorPasswordSignIn'
    | 'tenantPasswordSignIn'
  >
}

export class Sessions {
  /** A session ends after this time without use. */
  private readonly idleMs: number
  /** A session ends after this time, however much it is used. */
  private readonly absoluteMs: number
  /** After a sign-in, the session may reveal secrets and destroy data for this time. */
  private readonly freshMs: number

  constructor(private readonly parts: SessionParts) {
    const { dashboardIdleMinutes, dashboardSessionHours, dashboardFreshMinutes } = parts.config
    this.idleMs = dashboardIdleMinutes * MINUTE_MS
    this.absoluteMs = dashboardSessionHours * HOUR_MS
    this.freshMs = dashboardFreshMinutes * MINUTE_MS
  }

  /**
   * A sign-in is fresh only by the second factor that is in force now.
   * @param factorAt time since when the person's second factor is in force; null for none
   * @throws DashboardError fresh_sign_in_required, which says in `confirm_by` how to confirm the identity
   */
  assertFresh({ authenticatedAt, secondFactorAt, method }: Session, factorAt: number | null): void {
    const { clock } = this.parts
    const hasMetFactor = factorAt === null || factorAt === secondFactorAt
    if (hasMetFactor && authenticatedAt !== null && clock.now() - authenticatedAt < this.freshMs) return
    throw new DashboardError('fresh_sign_in_required', HOW_TO_CONFIRM[method], { confirm_by: method })
  }

  /** Whether this person may sign in by a password. */
  takesPassword({ tenantId }: Pick<SessionPerson, 'tenantId'>): boolean {
    const { operatorPasswordSignIn, tenantPasswordSignIn } = this.parts.config
    return tenantId === null ? operatorPasswordSignIn : tenantPasswordSignIn
  }

  /**
   * `required` when the person opened an invitation and could not sign in again without a password; `own` for a person with a password, who
   * may choose another; null for a person without one. A person who signs in by the provider gets none, since it would still work after the
   * provider has shut the person out.
   */
  ownPassword({ person, method }: Session): 'required' | 'own' | null {
    if (person.id === null || method === 'oidc' || !this.takesPassword(person)) return null
    return person.hasPassword ? 'own' : 'required'
  }

  /** Makes the token and the record of a new session, which is not stored yet. */
  begin(
    method: SessionMethod,
    { address, browser }: Guest,
    authenticatedAt: number | null = this.parts.clock.now(),
  ): { token: string; record: NewSession } {
    const token = randomBase62()
    const now = this.parts.clock.now()
    const endsAt = now + this.absoluteMs
    const record = {
      hash: hashToken(token),
      expiresAt: Math.min(endsAt, now + this.idleMs),
      endsAt,
      createdAt: now,
      lastUsedAt: now,
      authenticatedAt,
      secondFactorAt: null,
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
    const record = await accountsIn(read).dashboardSession(hashToken(token), now)
    // The person is read on every request, so that a change of role or a removal takes effect at once.
    if (record?.personId)
      return { record, opened: opened(record, asSessionPerson(await this.person(record.personId)), token) }
    if (record?.tenantId) return { record, opened: opened(record, unnamedOf(record.tenantId), token) }
    const unnamed = await accountsIn(read).dashboardSession(await this.unnamedHash(token), now)
    if (!unnamed) throw new DashboardError('not_signed_in')
    return { record: unnamed, opened: opened(unnamed, UNNAMED, token) }
  }

  /** Extends a session that is in use. @returns the time at which it ends */
  private async keep({ hash, expiresAt, endsAt, lastUsedAt }: SessionRecord): Promise<number> {
    const { clock, store } = this.parts
    const now = clock.now()
    // A session that an earlier version began has no idle limit.
    if (endsAt === null || now - (lastUsedAt ?? 0) < USE_INTERVAL_MS) return expiresAt
    const kept = { hash, lastUsedAt: now, expiresAt: Math.min(endsAt, now + this.idleMs) }
    try {
      await store.transaction('rows', (tx) => accounts(tx).keepDashboardSession(kept))
      return kept.expiresAt
    } catch {
      // While the database cannot be written, the dashboard stays readable until the session ends.
      return expiresAt
    }
  }

  async signOut({ hash }: Session): Promise<void> {
    await this.parts.store.transaction('rows', (tx) => accounts(tx).deleteDashboardSession(hash))
  }

  /** @throws DashboardError not_signed_in */
  async person(id: string): Promise<PersonRecord> {
    const person = await accountsIn(this.parts.store.read).personById(id)
    if (!person) throw new DashboardError('not_signed_in')
    return person
  }

  /**
   * The hash under which a session of the operator's password is stored. It depends on the password, so that a new password ends these
   * sessions.
   */
  async unnamedHash(token: string): Promise<Buffer> {
    return hashToken(`${token}.${await this.parts.operatorPassword.fingerprint()}`)
  }

  cookie({ token }: Session): string {
    return this.setCookie(token, this.absoluteMs / SECOND_MS)
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
  password: 'This action needs a fresh sign-in: enter your password again.',
  oidc: 'This action needs a fresh sign-in: sign in again with SSO.',
  link: 'This action needs a fresh sign-in: sign in with your password, or open a new link, which an admin makes.',
}

/** Returns the session of a record. */
export function opened(
  record: Pick<SessionRecord, 'hash' | 'expiresAt' | 'authenticatedAt' | 'secondFactorAt' | 'method'>,
  person: SessionPerson,
  token: string,
): Session {
  const { hash, expiresAt, authenticatedAt, secondFactorAt } = record
  // An earlier version did not store how a session began: a tenant's began with a link, the operator's with the password.
  const method = record.method ?? (person.tenantId === null ? 'password' : 'link')
  return { person, token, hash, expiresAt, authenticatedAt, secondFactorAt, method }
}

function cookieOf(header: string | undefined, name: string): string | null {
  return new RegExp(`(?:^|;\\s*)${name}=([0-9A-Za-z]{1,64})(?:;|$)`).exec(header ?? '')?.[1] ?? null
}
