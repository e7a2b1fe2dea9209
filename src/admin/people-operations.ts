/**
 * People who sign in to the dashboard under a name: the operators of the installation, or those of one tenant. What is done to operators
 * concerns every tenant, and stands in every log; what is done to a tenant's people stands in the tenant's log.
 */
import type { AuditEventName } from '../audit/audit-events.js'
import type { Actor, AuditedResult, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import { prefixedId, randomBase62 } from '../crypto/identifiers.js'
import { generatePassword, hashPassword, passwordWeakness } from '../crypto/password-hash.js'
import { type Clock, HOUR_MS, MINUTE_MS } from '../lib/clock.js'
import { CodedError } from '../lib/errors.js'
import type { PersonRecord, PersonRole } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import { hashToken, linkOf } from '../tenants/login-link.js'
import { assertNotSuspended } from '../tenants/tenancy.js'
import { UNNAMED_OPERATOR } from './session-operations.js'

/** How long an operator's link may wait for its one use: the operator who makes it opens it. */
export const SIGN_IN_LINK_MS = 10 * MINUTE_MS
/** The link of a tenant's person may wait longer, because it is handed over. */
export const INVITATION_MS = 24 * HOUR_MS

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$/
/** How the audit log calls those without a name. */
const RESERVED = new Set(['operator', 'tenant'])
/** Where an invitation waits for the password, or a provider's group is what lets the person in. */
const NO_PASSWORD = null

export class PersonError extends CodedError<
  | 'invalid_operator_name'
  | 'invalid_person_name'
  | 'operator_exists'
  | 'person_exists'
  | 'operator_not_found'
  | 'person_not_found'
  | 'last_admin'
  | 'weak_password'
> {
  override readonly name = 'PersonError'
}

/** Shown once. */
export interface NewPassword {
  operator: PersonRecord
  password: string
}

/** The link is shown once. */
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

  /** In the order of their names. */
  list(): Promise<PersonRecord[]> {
    return this.store.read.people(this.tenantId)
  }

  /** Adds an operator, whose password is made. @throws PersonError invalid_operator_name, operator_exists, person_exists */
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
   * Ends the password and the sessions of a tenant's person, and makes a link like that of `invite`.
   * @throws PersonError person_not_found; TenancyError tenant_suspended
   */
  inviteAgain(name: string, adminUrl: string, actor: Actor): Promise<Invitation> {
    return this.run(actor, async (tx) => {
      await this.assertTenantActive(tx)
      const person = {
        ...(await this.found(tx, name)),
        passwordHash: NO_PASSWORD,
        origin: 'invited' as const,
      }
      await tx.putPerson(person)
      await tx.deletePersonSessions(person.id)
      const link = await this.makeLink(tx, person.id, adminUrl, INVITATION_MS)
      return { result: { person, link }, facts: this.facts('password_reset', { name }) }
    })
  }

  /**
   * The person whom the provider's groups put into the tenant with a role, added or changed where that is new.
   * @throws PersonError operator_exists, person_exists where somebody else has the name; TenancyError tenant_suspended
   */
  fromProvider(name: string, role: PersonRole, actor: Actor): Promise<PersonRecord> {
    return this.run(actor, async (tx) => {
      await this.assertTenantActive(tx)
      const known = await tx.personByName(name)
      if (!known || known.tenantId !== this.tenantId) {
        const added = await this.insert(tx, { name, role, passwordHash: NO_PASSWORD, origin: 'provider' })
        return { result: added, facts: this.facts('added', { name, role, by: 'provider' }) }
      }
      const person = { ...known, role }
      await tx.putPerson(person)
      return { result: person, facts: this.facts('changed', { name, role, by: 'provider' }) }
    })
  }

  /** Holds for sessions that are open, too. @throws PersonError operator_not_found, person_not_found, last_admin */
  setRole(name: string, role: PersonRole, actor: Actor): Promise<PersonRecord> {
    return this.run(actor, async (tx) => {
      const before = await this.found(tx, name)
      if (role !== 'admin') await this.assertAdminStays(tx, before, actor)
      const person = { ...before, role }
      await tx.putPerson(person)
      return { result: person, facts: this.facts('changed', { name, role }) }
    })
  }

  /** Another password for an operator; sessions with the old one end. @throws PersonError operator_not_found */
  async resetPassword(name: string, actor: Actor): Promise<NewPassword> {
    const { password, passwordHash } = await newPassword()
    return this.run(actor, async (tx) => {
      const operator = { ...(await this.found(tx, name)), passwordHash }
      await tx.putPerson(operator)
      await tx.deletePersonSessions(operator.id)
      return { result: { operator, password }, facts: this.facts('password_reset', { name }) }
    })
  }

  /**
   * The password that a person chose; the person's other sessions end.
   * @param session hash of the session that stays @throws PersonError weak_password, operator_not_found, person_not_found
   */
  async choosePassword(name: string, password: string, session: Buffer, actor: Actor): Promise<void> {
    const weakness = passwordWeakness(password)
    if (weakness !== null) throw new PersonError('weak_password', `The password ${weakness}.`)
    const passwordHash = await hashPassword(password)
    return this.run(actor, async (tx) => {
      const person = { ...(await this.found(tx, name)), passwordHash }
      await tx.putPerson(person)
      await tx.deletePersonSessions(person.id, session)
      return { result: undefined, facts: this.facts('password_chosen', { name }) }
    })
  }

  /**
   * With the person's sessions; what the person did stays in the logs under the name.
   * @throws PersonError operator_not_found, person_not_found, last_admin
   */
  remove(name: string, actor: Actor): Promise<PersonRecord> {
    return this.run(actor, async (tx) => {
      const person = await this.found(tx, name)
      await this.assertAdminStays(tx, person, actor)
      await tx.deletePerson(person.id)
      return { result: person, facts: this.facts('removed', { name }) }
    })
  }

  /**
   * A link that signs an operator in once, without a password: for the day when the provider is away.
   * @param name `operator` for the one without a name @param adminUrl of the dashboard, without a slash at its end
   * @throws PersonError operator_not_found
   */
  createSignInLink(name: string, adminUrl: string, actor: Actor): Promise<string> {
    return this.run(actor, async (tx) => {
      const operatorId = name === UNNAMED_OPERATOR ? null : (await this.found(tx, name)).id
      const link = await this.makeLink(tx, operatorId, adminUrl, SIGN_IN_LINK_MS)
      return { result: link, facts: { event: 'operator_link_made', name } }
    })
  }

  /** Says that the password of the one without a name was replaced, and deletes the sessions that are bound to the one before. */
  recordPasswordReset(actor: Actor): Promise<void> {
    return this.run(actor, async (tx) => {
      await tx.deletePersonSessions(null)
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
    const [whose, prefix] = this.tenantId === null ? ["an operator's", 'opr'] : ["a person's", 'per']
    if (!NAME.test(name) || RESERVED.has(name))
      throw new PersonError(
        this.tenantId === null ? 'invalid_operator_name' : 'invalid_person_name',
        `"${name}" is not ${whose} name: use 1 to 128 letters, digits and . _ @ + -, other than ${[...RESERVED].join(' and ')}.`,
      )
    const known = await tx.personByName(name)
    if (known && this.tenantId === null && known.tenantId === null)
      throw new PersonError('operator_exists', `There is an operator named ${name} already.`)
    // Whether the other person is an operator or belongs to another tenant is not for this one to know.
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
    await tx.putPerson(record)
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
    await tx.insertPersonLink(
      { hash: hashToken(token), tenantId, personId, expiresAt: now + lifetimeMs },
      now,
    )
    return linkOf(adminUrl, token)
  }

  private async found(tx: StoreTransaction, name: string): Promise<PersonRecord> {
    const person = await tx.personByName(name)
    if (person && person.tenantId === this.tenantId) return person
    throw this.tenantId === null
      ? new PersonError('operator_not_found', `There is no operator named ${name}.`)
      : new PersonError('person_not_found', `Nobody named ${name} signs in for this tenant.`)
  }

  /**
   * The operator's password and a tenant's login link are not counted: they are for the day when nobody else can sign in. Who acts at
   * the command line has the machine, and may go back to them.
   * @throws PersonError last_admin
   */
  private async assertAdminStays(tx: StoreTransaction, leaving: PersonRecord, actor: Actor): Promise<void> {
    if (actor.requestId === null || leaving.role !== 'admin') return
    const others = (await tx.people(this.tenantId)).filter(({ id }) => id !== leaving.id)
    if (others.some(({ role }) => role === 'admin')) return
    const whose = this.tenantId === null ? 'operator with a name' : 'person of this tenant'
    throw new PersonError(
      'last_admin',
      `${leaving.name} is the last ${whose} who is an admin: make another one admin first.`,
    )
  }
}

/** Before the transaction, which must not wait for it. */
async function newPassword() {
  const password = generatePassword()
  return { password, passwordHash: await hashPassword(password) }
}
