/**
 * Records sign-ins at the dashboard, and failed attempts. A sign-in of a tenant or its people is recorded in that tenant's audit log,
 * a sign-in of an operator in every log, because an operator may act for every tenant.
 */

import type { Actor, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import { type Clock, MINUTE_MS } from '../lib/clock.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import { assertNotSuspended } from '../tenants/tenancy-error.js'
import { accounts, accountsIn } from './accounts/account-statements.js'
import type { PersonLinkRecord, PersonRecord, SessionRecord } from './accounts/account-tables.js'
import { UNNAMED_OPERATOR } from './session-operations.js'

/** A new session, before it is known whose it is. */
export type NewSession = Omit<SessionRecord, 'tenantId' | 'personId'>

/** The person that an entry names; null as `tenantId` stands for an operator, who is named in every log. */
type SignedIn = Pick<PersonRecord, 'tenantId' | 'name'>

/** Failures of 10 minutes share one entry, with their number: strangers decide how many there are, and a log never shrinks. */
const FAILURES_PERIOD_MS = 10 * MINUTE_MS

export class SignInOperations {
  /** Failures since the last entry about them. */
  private failures = 0
  private failuresRecordedAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly audited: AuditedUnitOfWork,
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  /** Whether this is a tenant's login link that can be used; it stays so. */
  async isTenantLink(linkHash: Buffer): Promise<boolean> {
    return (await accountsIn(this.store.read).loginLink(linkHash, this.clock.now())) !== undefined
  }

  /** Uses up a tenant's login link. @returns the tenant's id, or null where the link is unknown, used or expired */
  async byLink(linkHash: Buffer, session: NewSession, requestId: string): Promise<string | null> {
    // Read first, so that a made-up link costs no transaction and a real one only its tenant's.
    const known = await accountsIn(this.store.read).loginLink(linkHash, this.clock.now())
    if (!known) return null
    const actor = { name: 'dashboard:tenant', requestId }
    return this.audited.runFound({ tenantId: known.tenantId }, actor, async (tx) => {
      const link = await accounts(tx).takeLoginLink(linkHash, this.clock.now())
      const tenant = link && (await tx.tenantById(link.tenantId))
      // A suspension deletes links; an earlier version kept them.
      if (!tenant || tenant.suspendedAt !== null) return { tenantId: null, result: null }
      await accounts(tx).insertDashboardSession({ ...session, tenantId: tenant.id, personId: null })
      return { tenantId: tenant.id, result: tenant.id, facts: { event: 'signed_in' } }
    })
  }

  /** @returns the person's link, which is not used up by reading it; undefined where it is unknown, used or expired */
  personLink(linkHash: Buffer): Promise<PersonLinkRecord | undefined> {
    return accountsIn(this.store.read).personLink(linkHash, this.clock.now())
  }

  /** Uses up a person's link. @returns the link, or undefined where it is unknown, used or expired */
  takePersonLink(linkHash: Buffer): Promise<PersonLinkRecord | undefined> {
    return this.store.transaction('rows', (tx) => accounts(tx).takePersonLink(linkHash, this.clock.now()))
  }

  /**
   * Begins a session of the operator without a name. @returns false where this operator got another second factor since the sign-in was
   * checked
   */
  async asUnnamed(session: NewSession, requestId: string): Promise<boolean> {
    const isStill = await this.store.transaction('rows', async (tx) => {
      if (!(await hasMetFactor(tx, UNNAMED_OPERATOR, session))) return false
      await accounts(tx).insertDashboardSession({ ...session, tenantId: null, personId: null })
      return true
    })
    if (isStill) await this.record({ tenantId: null, name: UNNAMED_OPERATOR }, requestId)
    return isStill
  }

  /**
   * Begins a session of a person. @returns false where the person was removed, or got another password or second factor, since the sign-in was checked
   * @throws TenancyError tenant_suspended for a person of such a tenant
   */
  async asPerson(person: PersonRecord, session: NewSession, requestId: string): Promise<boolean> {
    const { id, tenantId } = person
    // Changes and removals of operators have the scope `installation`, so that none runs meanwhile.
    const scope = tenantId === null ? 'rows' : { tenantId }
    const isStill = await this.store.transaction(scope, async (tx) => {
      const current = await accounts(tx).personById(id)
      if (current?.passwordHash !== person.passwordHash) return false
      if (session.method !== 'oidc' && !(await hasMetFactor(tx, id, session))) return false
      if (tenantId !== null) assertNotSuspended((await tx.tenantById(tenantId))!)
      // The column has two values: a link replaces a password, and counts as one.
      const by = session.method === 'oidc' ? 'oidc' : 'password'
      await accounts(tx).setLastSignIn(this.clock.now(), by, id)
      await accounts(tx).insertDashboardSession({ ...session, tenantId, personId: id })
      return true
    })
    if (isStill) await this.record(person, requestId)
    return isStill
  }

  /** Records that a person confirmed their identity again within a session. */
  async confirmed(
    proof: Pick<SessionRecord, 'hash' | 'authenticatedAt' | 'secondFactorAt'>,
    who: SignedIn,
    requestId: string,
  ): Promise<void> {
    await this.store.transaction('rows', (tx) => accounts(tx).setSessionAuthenticated(proof))
    await this.record(who, requestId, 'identity_confirmed')
  }

  /**
   * Records a refused sign-in. The name that was typed is not recorded: it may be a password in the wrong field.
   * @returns the error, or the failure that kept it from being recorded: no refusal must go without a trace
   */
  async refused(error: unknown, requestId: string): Promise<unknown> {
    this.failures++
    if (this.clock.now() - this.failuresRecordedAt < FAILURES_PERIOD_MS) return error
    this.failuresRecordedAt = this.clock.now()
    return this.recordFailures({ name: 'dashboard', requestId }).then(
      () => error,
      (failure) => failure,
    )
  }

  /** Runs before the response, which carries the session's token: nobody is signed in without an entry. */
  private async record(
    { tenantId, name }: SignedIn,
    requestId: string,
    event: 'signed_in' | 'identity_confirmed' = 'signed_in',
  ): Promise<void> {
    const actor = { name: `dashboard:${name}`, requestId }
    if (tenantId !== null) return this.audited.record(tenantId, actor, { event })
    await this.recordFailures({ name: 'dashboard', requestId })
    await this.audited.recordInAll(actor, { event })
  }

  private async recordFailures(actor: Actor): Promise<void> {
    const { failures } = this
    if (failures === 0) return
    this.failures = 0
    await this.audited.recordInAll(actor, { event: 'sign_in_failed', status: 401, count: failures })
  }
}

/** Whether the session met the second factor that is in force now, which may have been added since the sign-in was checked. */
async function hasMetFactor(tx: StoreTransaction, id: string, session: NewSession): Promise<boolean> {
  return ((await accounts(tx).secondFactor(id))?.enrolledAt ?? null) === session.secondFactorAt
}
