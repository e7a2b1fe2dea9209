/**
 * Operations on people who sign in to the dashboard under a name: the operators of the installation, or the people of one tenant. A
 * change of an operator is recorded in every tenant's audit log, a change of a tenant's person in the log of that tenant.
 */
import type { AuditEventName } from '../audit/audit-events.js'
import type { Actor, AuditedResult, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import { prefixedId, randomBase62 } from '../crypto/identifiers.js'
import { type Clock, HOUR_MS, MINUTE_MS } from '../lib/clock.js'
import { CodedError } from '../lib/errors.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import { assertNotSuspended } from '../tenants/tenancy-error.js'
import { accounts, accountsIn, personNamed } from './accounts/account-statements.js'
import type { PersonRecord, PersonRole } from './accounts/account-tables.js'
import { hashToken, linkOf } from './accounts/login-link.js'
import { generatePassword, hashPassword, passwordWeakness } from './accounts/password-hash.js'
import { UNNAMED_OPERATOR } from './session-operations.js'

/** How long an operator's link can be used: the operator who makes it also opens it. */
export const SIGN_IN_LINK_MS = 10 * MINUTE_MS
/** The link of a tenant's person lasts longer, because it is handed over. */
export const INVITATION_MS = 24 * HOUR_MS

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$/
/** Names that the audit log uses for actors without a name. */
const RESERVED = new Set(['operator', 'tenant'])
/** The person was invited and has not chosen a password, or signs in through an identity provider. */
const NO_PASSWORD = null

/** HTTP status where the dashboard answers these errors, by code. */
export const PERSON_ERRORS = {
  invalid_operator_name: 400,
  invalid_person_name: 400,
  operator_exists: 409,
  person_exists: 409,
  operator_not_found: 404,
  person_not_found: 404,
  last_admin: 409,
  weak_password: 400,
}

export class PersonError extends CodedError<keyof typeof PERSON_ERRORS> {}

export interface NewPassword {
  operator: PersonRecord
  password: string
}

/** An invited person and the link to open, which is shown once. */
export interface Invitation {
  person: PersonRecord
  link: string
}

type Facts = Omit<AuditedResult<never>['facts'], 'event'>

export class PeopleOperations {
  /** @param tenantId null for the operators of the installation */
  constructor(
    private readonly audited: AuditedUnitOfWork,
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly tenantId: string | null = null,
  ) {}

  /** @returns the people, sorted by name */
  list(): Promise<PersonRecord[]> {
    return accountsIn(this.store.read).people(this.tenantId)
  }

  /** Adds an operator and generates a password. @throws PersonError invalid_operator_name, operator_exists, person_exists */
  async add(name: string, role: PersonRole, actor: Actor): Promise<NewPassword> {
    const { password, passwordHash } = await newPassword()
    const operator = await this.run(actor, async (tx) => {
      const added = await this.insert(tx, { name, role, passwordHash, origin: 'invited' })
      return { result: added, facts: this.facts('added', { name, role }) }
    })
    return { operator, password }
  }

  /**
   * Adds a person of the tenant, who opens the link once and chooses a password.
   * @param adminUrl of the dashboard, without a slash at its end
   * @throws PersonError invalid_person_name, person_exists, operator_exists; TenancyError tenant_suspended
   */
  invite(name: string, role: PersonRole, adminUrl: string, actor: Actor): Promise<Invitation> {
    return this.run(actor, async (tx) => {
      await this.assertTenantActive(tx)
      const person = await this.insert(tx, { name, role, passwordHash: NO_PASSWORD, origin: 'invited' })
      const link = await this.makeLink(tx, person.id, adminUrl, INVITATION_MS)
      return { result: { person, link }, facts: this.facts('added', { name, role }) }
    })
  }

  /**
   * Deletes the password and the sessions of a tenant's person, and makes a link as `invite` does.
   * @throws PersonError person_not_found; TenancyError tenant_suspended
   */
  inviteAgain(name: string, adminUrl: string, actor: Actor): Promise<Invitation> {
    return this.run(actor, async (tx) => {
      await this.assertTenantActive(tx)
      const found = await this.found(tx, name)
      const person = { ...found, passwordHash: NO_PASSWORD, origin: 'invited' as const }
      await accounts(tx).putPerson(person)
      await accounts(tx).deletePersonSessions(person.id)
      const link = await this.makeLink(tx, person.id, adminUrl, INVITATION_MS)
      return { result: { person, link }, facts: this.facts('password_reset', { name }) }
    })
  }

  /**
   * Adds the person whom the identity provider's groups put into the tenant, or changes that person's role.
   * @throws PersonError operator_exists, person_exists where another person has the name; TenancyError tenant_suspended
   */
  fromProvider(name: string, role: PersonRole, actor: Actor): Promise<PersonRecord> {
    return this.run(actor, async (tx) => {
      await this.assertTenantActive(tx)
      const known = await accounts(tx).personByName(name)
      if (!known || known.tenantId !== this.tenantId) {
        const added = await this.insert(tx, { name, role, passwordHash: NO_PASSWORD, origin: 'provider' })
        return { result: added, facts: this.facts('added', { name, role, by: 'provider' }) }
      }
      const person = { ...known, role }
      await accounts(tx).putPerson(person)
      return { result: person, facts: this.facts('changed', { name, role, by: 'provider' }) }
    })
  }

  /** Changes the role, for open sessions too. @throws PersonError operator_not_found, person_not_found, last_admin */
  setRole(name: string, role: PersonRole, actor: Actor): Promise<PersonRecord> {
    return this.run(actor, async (tx) => {
      const before = await this.found(tx, name)
      if (role !== 'admin') await this.assertAdminStays(tx, before, actor)
      const person = { ...before, role }
      await accounts(tx).putPerson(person)
      return { result: person, facts: this.facts('changed', { name, role }) }
    })
  }

  /** Generates another password for an operator, and ends the operator's sessions. @throws PersonError operator_not_found */
  async resetPassword(name: string, actor: Actor): Promise<NewPassword> {
    const { password, passwordHash } = await newPassword()
    return this.run(actor, async (tx) => {
      const operator = { ...(await this.found(tx, name)), passwordHash }
      await accounts(tx).putPerson(operator)
      await accounts(tx).deletePersonSessions(operator.id)
      return { result: { operator, password }, facts: this.facts('password_reset', { name }) }
    })
  }

  /**
   * Sets the password that a person chose, and ends the person's other sessions.
   * @param session hash of the session that stays @throws PersonError weak_password, operator_not_found, person_not_found
   */
  async choosePassword(name: string, password: string, session: Buffer, actor: Actor): Promise<void> {
    const weakness = passwordWeakness(password)
    if (weakness !== null) throw new PersonError('weak_password', `The password ${weakness}.`)
    const passwordHash = await hashPassword(password)
    return this.run(actor, async (tx) => {
      const person = { ...(await this.found(tx, name)), passwordHash }
      await accounts(tx).putPerson(person)
      await accounts(tx).deletePersonSessions(person.id, session)
      return { result: undefined, facts: this.facts('password_chosen', { name }) }
    })
  }

  /**
   * Deletes the person and the person's sessions. Entries of the audit logs keep the name.
   * @throws PersonError operator_not_found, person_not_found, last_admin
   */
  remove(name: string, actor: Actor): Promise<PersonRecord> {
    return this.run(actor, async (tx) => {
      const person = await this.found(tx, name)
      await this.assertAdminStays(tx, person, actor)
      await accounts(tx).deletePerson(person.id)
      return { result: person, facts: this.facts('removed', { name }) }
    })
  }

  /**
   * Makes a link that signs an operator in once, without a password, for when the identity provider is unavailable.
   * @param name name of the operator, or `operator` for the one without a name @param adminUrl of the dashboard, without a slash at its end
   * @throws PersonError operator_not_found
   */
  createSignInLink(name: string, adminUrl: string, actor: Actor): Promise<string> {
    return this.run(actor, async (tx) => {
      const operatorId = name === UNNAMED_OPERATOR ? null : (await this.found(tx, name)).id
      const link = await this.makeLink(tx, operatorId, adminUrl, SIGN_IN_LINK_MS)
      return { result: link, facts: { event: 'operator_link_made', name } }
    })
  }

  /** Records that the password of the operator without a name was replaced, and deletes the sessions of that operator. */
  recordPasswordReset(actor: Actor): Promise<void> {
    return this.run(actor, async (tx) => {
      await accounts(tx).deletePersonSessions(null)
      return { result: undefined, facts: { event: 'operator_password_reset' } }
    })
  }

  private run<Result>(
    actor: Actor,
    work: (tx: StoreTransaction) => Promise<AuditedResult<Result>>,
  ): Promise<Result> {
    return this.audited.runFor(this.tenantId, actor, work)
  }

  private facts(
    what: 'added' | 'changed' | 'password_reset' | 'password_chosen' | 'removed',
    facts: Facts,
  ): AuditedResult<never>['facts'] {
    const whom = this.tenantId === null ? 'operator' : 'person'
    return { ...facts, event: `${whom}_${what}` satisfies AuditEventName }
  }

  private async assertTenantActive(tx: StoreTransaction): Promise<void> {
    if (this.tenantId !== null) assertNotSuspended((await tx.tenantById(this.tenantId))!)
  }

  private async insert(
    tx: StoreTransaction,
    person: Pick<PersonRecord, 'name' | 'role' | 'passwordHash' | 'origin'>,
  ): Promise<PersonRecord> {
    const { name } = person
    const [whose, prefix, code] =
      this.tenantId === null
        ? (["an operator's", 'opr', 'invalid_operator_name'] as const)
        : (["a person's", 'per', 'invalid_person_name'] as const)
    if (!NAME.test(name) || RESERVED.has(name))
      throw new PersonError(
        code,
        `"${name}" is not ${whose} name: use 1 to 128 letters, digits and . _ @ + -, other than ${[...RESERVED].join(' and ')}.`,
      )
    const known = await accounts(tx).personByName(name)
    if (known && this.tenantId === null && known.tenantId === null)
      throw new PersonError('operator_exists', `There is an operator named ${name} already.`)
    // The message does not say whether the other person is an operator or belongs to another tenant.
    if (known) throw new PersonError('person_exists', `Somebody named ${name} signs in here already.`)
    const createdAt = this.clock.now()
    const record = {
      ...person,
      id: prefixedId(prefix, createdAt),
      tenantId: this.tenantId,
      createdAt,
      lastSignInAt: null,
      lastSignInBy: null,
    }
    await accounts(tx).putPerson(record)
    return record
  }

  private async makeLink(
    tx: StoreTransaction,
    personId: string | null,
    adminUrl: string,
    lifetimeMs: number,
  ): Promise<string> {
    const token = randomBase62()
    const now = this.clock.now()
    const { tenantId } = this
    await accounts(tx).insertPersonLink(
      { hash: hashToken(token), tenantId, personId, expiresAt: now + lifetimeMs },
      now,
    )
    return linkOf(adminUrl, token)
  }

  private found(tx: StoreTransaction, name: string): Promise<PersonRecord> {
    const code = this.tenantId === null ? 'operator_not_found' : 'person_not_found'
    return personNamed(tx, name, this.tenantId, (message) => new PersonError(code, message))
  }

  /**
   * The operator's password and a tenant's login link do not count: they are for when nobody else can sign in. The command line may
   * remove the last admin, because it can always make another one.
   * @throws PersonError last_admin
   */
  private async assertAdminStays(tx: StoreTransaction, leaving: PersonRecord, actor: Actor): Promise<void> {
    if (actor.requestId === null || leaving.role !== 'admin') return
    const others = (await accounts(tx).people(this.tenantId)).filter(({ id }) => id !== leaving.id)
    if (others.some(({ role }) => role === 'admin')) return
    const whose = this.tenantId === null ? 'operator with a name' : 'person of this tenant'
    throw new PersonError(
      'last_admin',
      `${leaving.name} is the last ${whose} who is an admin: make another one admin first.`,
    )
  }
}

/** Generates and hashes a password before the transaction begins: hashing takes tens of milliseconds, and a transaction must not wait. */
async function newPassword() {
  const password = generatePassword()
  return { password, passwordHash: await hashPassword(password) }
}
