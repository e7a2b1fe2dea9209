/**
 * Who came in at the dashboard, and who tried. A tenant's own log tells of its sign-ins; an operator may act for every tenant, so
 * every log tells of operators'.
 */

import type { Actor, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import { type Clock, MINUTE_MS } from '../lib/clock.js'
import type { PersonLinkRecord, PersonRecord, SessionRecord } from '../storage/records.js'
import type { Store } from '../storage/store.js'
import { assertNotSuspended } from '../tenants/tenancy.js'
import { UNNAMED_OPERATOR } from './session-operations.js'

/** A session that begins, whosever it is. */
export type NewSession = Omit<SessionRecord, 'tenantId' | 'personId'>

/** Whose log is told. */
type Told = Pick<PersonRecord, 'tenantId' | 'name'>

/** Strangers decide how many sign-ins fail, and nothing leaves a log again: one entry in this time, with their number. */
const FAILURES_PERIOD_MS = 10 * MINUTE_MS

export class SignInOperations {
  /** Since the last entry. */
  private failures = 0
  private failuresToldAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly audited: AuditedUnitOfWork,
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  /** Uses the link up. @returns whose it was; null where it is unknown, used or expired */
  byLink(linkHash: Buffer, session: NewSession, requestId: string): Promise<string | null> {
    return this.audited.runFound(undefined, { name: 'dashboard:tenant', requestId }, async (tx) => {
      const link = await tx.takeLoginLink(linkHash, this.clock.now())
      const tenant = link && (await tx.tenantById(link.tenantId))
      // A suspension deletes links: this one is from a version that kept them.
      if (!tenant || tenant.suspendedAt !== null) return { tenantId: null, result: null }
      await tx.insertDashboardSession({ ...session, tenantId: tenant.id, personId: null })
      return { tenantId: tenant.id, result: tenant.id, facts: { event: 'signed_in' } }
    })
  }

  /** Uses a person's link up. @returns whose it was; undefined where it is unknown, used or expired */
  takePersonLink(linkHash: Buffer): Promise<PersonLinkRecord | undefined> {
    return this.store.transaction((tx) => tx.takePersonLink(linkHash, this.clock.now()))
  }

  /** For whoever has the operator's password. */
  async asUnnamed(session: NewSession, requestId: string): Promise<void> {
    await this.store.transaction((tx) =>
      tx.insertDashboardSession({ ...session, tenantId: null, personId: null }),
    )
    await this.tell({ tenantId: null, name: UNNAMED_OPERATOR }, requestId)
  }

  /**
   * @returns false for a person who was removed, or given another password, since they were recognised
   * @throws TenancyError tenant_suspended for a person of such a tenant
   */
  async asPerson(person: PersonRecord, session: NewSession, requestId: string): Promise<boolean> {
    const { id, tenantId } = person
    const isStill = await this.store.transaction(async (tx) => {
      const current = await tx.personById(id)
      if (current?.passwordHash !== person.passwordHash) return false
      if (tenantId !== null) assertNotSuspended((await tx.tenantById(tenantId))!)
      // The table knows two ways: a link stands for the password that it takes the place of.
      const by = session.method === 'oidc' ? 'oidc' : 'password'
      await tx.setLastSignIn(id, this.clock.now(), by)
      await tx.insertDashboardSession({ ...session, tenantId, personId: id })
      return true
    })
    if (isStill) await this.tell(person, requestId)
    return isStill
  }

  /** Says in the log of the tenant, or of every tenant, that a person showed again who they are, in a session that goes on. */
  async confirmed(hash: Buffer, who: Told, requestId: string): Promise<void> {
    await this.store.transaction((tx) => tx.setSessionAuthenticated(hash, this.clock.now()))
    await this.tell(who, requestId, 'identity_confirmed')
  }

  /** A sign-in that was refused, whoever it was that tried. What they called themselves may be a password in the wrong place. */
  async failed(requestId: string): Promise<void> {
    this.failures++
    if (this.clock.now() - this.failuresToldAt < FAILURES_PERIOD_MS) return
    this.failuresToldAt = this.clock.now()
    await this.tellOfFailures({ name: 'dashboard', requestId })
  }

  /** This comes before the answer, which holds the session's token: nobody is signed in whom no log names. */
  private async tell(
    { tenantId, name }: Told,
    requestId: string,
    event: 'signed_in' | 'identity_confirmed' = 'signed_in',
  ): Promise<void> {
    const actor = { name: `dashboard:${name}`, requestId }
    if (tenantId !== null)
      return this.audited.run(tenantId, actor, async () => ({ result: undefined, facts: { event } }))
    await this.tellOfFailures({ name: 'dashboard', requestId })
    await this.audited.recordInAll(actor, { event })
  }

  private async tellOfFailures(actor: Actor): Promise<void> {
    const { failures } = this
    if (failures === 0) return
    this.failures = 0
    await this.audited.recordInAll(actor, { event: 'sign_in_failed', status: 401, count: failures })
  }
}
