/** Begins sessions, with a link, a password or a sign-in at an OpenID provider, and confirms the identity in one that exists. */
import Type, { type Static } from 'typebox'
import { accountsIn } from '../../admin/accounts/account-statements.js'
import type { PersonRecord } from '../../admin/accounts/account-tables.js'
import { hashToken } from '../../admin/accounts/login-link.js'
import { matchesHash } from '../../admin/accounts/password-hash.js'
import type { FactorOwner, SecondFactorOperations } from '../../admin/second-factor-operations.js'
import type { NewSession, SignInOperations } from '../../admin/sign-in-operations.js'
import type { Config } from '../../config/config.js'
import { networkOf } from '../../http/authentication/wrong-keys.js'
import { type Clock, SECOND_MS } from '../../lib/clock.js'
import type { Store } from '../../storage/store.js'
import type { RateLimiter } from '../../tenants/rate-limiter.js'
import { DashboardError } from '../dashboard-error.js'
import { code, password, personNamed, text } from '../lib/bodies.js'
import type { OperatorPassword } from './operator-password.js'
import { ProviderSignInError } from './provider-sign-in-error.js'
import { asSessionPerson, UNNAMED, unnamedOf } from './session-person.js'
import { type Guest, opened, type Session, type Sessions } from './sessions.js'

/** Limit of sign-ins per network: ten at once, then one in ten seconds. A login link cannot be guessed, but a password might be. */
const SIGN_IN_RATE = { ratePerSecond: 0.1, burst: 10 }
/**
 * Limit of codes per person, from any address: ten at once, then one in five minutes. Of a million codes three are valid at a time, so that
 * an attacker who knows the password would need three years.
 */
const CODE_RATE = { ratePerSecond: 1 / 300, burst: 10 }

const closed = { additionalProperties: false }

/** Password and code with which a person confirms their identity: the code is for a person who has a second factor. */
export const PROOF = { password, code: Type.Optional(code) }
export const CREDENTIALS = Type.Union([
  Type.Object({ login_token: text(64), code: PROOF.code }, closed),
  Type.Object({ name: Type.Optional(personNamed.name), ...PROOF }, closed),
])
export type Credentials = Static<typeof CREDENTIALS>
type PasswordCredentials = Extract<Credentials, { password: string }>
type LinkCredentials = Extract<Credentials, { login_token: string }>

export interface SignInParts {
  store: Store
  clock: Clock
  operatorPassword: OperatorPassword
  signIns: SignInOperations
  secondFactors: SecondFactorOperations
  attempts: RateLimiter
  config: Pick<Config, 'operatorPasswordSignIn' | 'tenantPasswordSignIn' | 'operatorSecondFactor'>
}

export class SignIn {
  constructor(
    private readonly parts: SignInParts,
    private readonly sessions: Sessions,
  ) {}

  /** @throws DashboardError sign_in_failed, too_many_sign_ins */
  async byCredentials(credentials: Credentials, guest: Guest): Promise<Session> {
    await this.assertNotGuessing(guest)
    return 'password' in credentials ? this.byPassword(credentials, guest) : this.byLink(credentials, guest)
  }

  /**
   * Begins a session for a person whom the provider has identified.
   * @param authenticatedAt time of the sign-in at the provider, or null when the provider does not report it
   * @throws ProviderSignInError unknown_person; TenancyError tenant_suspended
   */
  async byProvider(name: string, authenticatedAt: number | null, guest: Guest): Promise<Session> {
    const person = await accountsIn(this.parts.store.read).personByName(name)
    const begun = this.sessions.begin('oidc', guest, authenticatedAt)
    const session = person && (await this.byPerson(person, begun, guest))
    if (!session) throw new ProviderSignInError('unknown_person', `There is nobody named ${name}.`)
    return session
  }

  /**
   * Makes the sign-in of a session fresh again, for a person who repeats the password.
   * @throws DashboardError sign_in_failed; too_many_sign_ins; not_permitted for a session that began in another way
   */
  async confirm(
    session: Session,
    { password, code }: Static<Type.TObject<typeof PROOF>>,
    guest: Guest,
  ): Promise<Session> {
    const { person, method, hash } = session
    if (method !== 'password') throw new DashboardError('not_permitted')
    await this.assertNotGuessing(guest)
    const isRight =
      person.id === null
        ? await this.parts.operatorPassword.matches(password)
        : await matchesHash(password, (await this.sessions.person(person.id)).passwordHash)
    if (!isRight) throw new DashboardError('sign_in_failed', 'The password is wrong.')
    const secondFactorAt = await this.assertSecondFactor(person, code)
    const proof = { hash, authenticatedAt: this.parts.clock.now(), secondFactorAt }
    await this.parts.signIns.confirmed(proof, person, guest.requestId)
    return { ...session, ...proof }
  }

  /** Counts a sign-in against the limit of its network. @throws DashboardError too_many_sign_ins */
  async assertNotGuessing({ address }: Guest): Promise<void> {
    const attempt = await this.parts.attempts.take(`sign-in ${networkOf(address)}`, SIGN_IN_RATE)
    if (!attempt.allowed) throw tooMany('Too many sign-ins from this address.', attempt.retryAfterSeconds)
  }

  /**
   * Uses up a code of the person's second factor, if the person has one. The password or the link was checked before, so the caller knows it.
   * @returns time since when the second factor is in force; null for none
   * @throws DashboardError second_factor_required, sign_in_failed, too_many_sign_ins
   */
  async assertSecondFactor(owner: FactorOwner, code: string | undefined): Promise<number | null> {
    const { secondFactors, attempts } = this.parts
    const since = await secondFactors.inForceSince(owner)
    if (since === null) return null
    if (!code) throw new DashboardError('second_factor_required')
    const attempt = await attempts.take(`second factor ${owner.id ?? owner.name}`, CODE_RATE)
    if (!attempt.allowed) throw tooMany('Too many codes of this second factor.', attempt.retryAfterSeconds)
    if (!(await secondFactors.use(owner, code)))
      throw new DashboardError(
        'sign_in_failed',
        'The code is wrong, or was used already: wait for the next one.',
      )
    return since
  }

  private async byLink(credentials: LinkCredentials, guest: Guest): Promise<Session> {
    const ofPerson = await this.byPersonLink(credentials, guest)
    if (ofPerson) return ofPerson
    const loginToken = credentials.login_token
    // Nobody stands behind this link who could have a second factor. The link is not used up.
    const { config, signIns } = this.parts
    if (config.operatorSecondFactor === 'required' && (await signIns.isTenantLink(hashToken(loginToken))))
      throw new DashboardError(
        'second_factor_not_added',
        'A second factor is needed here, and this link names nobody: ask for an invitation under your name.',
      )
    const { token, record } = this.sessions.begin('link', guest)
    const tenantId = await signIns.byLink(hashToken(loginToken), record, guest.requestId)
    // Unknown, used and expired links get the same answer, so that guesses reveal nothing.
    if (tenantId === null)
      throw new DashboardError(
        'sign_in_failed',
        'The login link is not valid: it was used already, or has expired. A link works once, and not for long.',
      )
    return opened(record, unnamedOf(tenantId), token)
  }

  /** @returns null when the link is no person's invitation */
  private async byPersonLink(
    { login_token: loginToken, code }: LinkCredentials,
    guest: Guest,
  ): Promise<Session | null> {
    const { signIns, store } = this.parts
    const known = await signIns.personLink(hashToken(loginToken))
    if (known === undefined) return null
    const person = known.personId === null ? null : await accountsIn(store.read).personById(known.personId)
    if (person === undefined) return null
    // The code is asked for before the link is used up, so that the same link works with it.
    const secondFactorAt = await this.assertSecondFactor(person ?? UNNAMED, code)
    if ((await signIns.takePersonLink(hashToken(loginToken))) === undefined) return null
    const { token, record: base } = this.sessions.begin('link', guest)
    const begun = { token, record: { ...base, secondFactorAt } }
    if (person) return this.byPerson(person, begun, guest)
    const record = { ...begun.record, hash: await this.sessions.unnamedHash(begun.token) }
    return (await signIns.asUnnamed(record, guest.requestId)) ? opened(record, UNNAMED, begun.token) : null
  }

  private async byPassword({ name, password, code }: PasswordCredentials, guest: Guest): Promise<Session> {
    const { store, operatorPassword, signIns, config } = this.parts
    const isNamed = name !== undefined && name !== UNNAMED.name
    if (!config.operatorPasswordSignIn && !(config.tenantPasswordSignIn && isNamed))
      throw new DashboardError('password_sign_in_off')
    const begun = this.sessions.begin('password', guest)
    if (isNamed) {
      const person = await accountsIn(store.read).personByName(name)
      const isRight = await matchesHash(password, person?.passwordHash ?? null)
      if (!person || !isRight || !this.sessions.takesPassword(person)) throw wrongPassword()
      begun.record.secondFactorAt = await this.assertSecondFactor(person, code)
      const session = await this.byPerson(person, begun, guest)
      if (!session) throw wrongPassword()
      return session
    }
    // The hash is made before the password is compared: if the password is replaced meanwhile, the session cannot be found.
    const record = { ...begun.record, hash: await this.sessions.unnamedHash(begun.token) }
    if (!(await operatorPassword.matches(password))) throw wrongPassword()
    record.secondFactorAt = await this.assertSecondFactor(UNNAMED, code)
    if (!(await signIns.asUnnamed(record, guest.requestId))) throw wrongPassword()
    return opened(record, UNNAMED, begun.token)
  }

  /** @returns null when the person was removed or got another password meanwhile */
  private async byPerson(
    person: PersonRecord,
    { token, record }: { token: string; record: NewSession },
    { requestId }: Guest,
  ): Promise<Session | null> {
    if (!(await this.parts.signIns.asPerson(person, record, requestId))) return null
    return opened(record, asSessionPerson(person), token)
  }
}

/** The same answer for an unknown name and a wrong password. */
function wrongPassword(): DashboardError {
  return new DashboardError('sign_in_failed', 'The name or the password is wrong.')
}

function tooMany(message: string, retryAfterSeconds: number): DashboardError {
  return new DashboardError('too_many_sign_ins', message, {}, retryAfterSeconds * SECOND_MS)
}
