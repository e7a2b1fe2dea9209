/** Sessions of the dashboard: the list of those who are signed in, and ending any of them. */

import type { Actor, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import type { Clock } from '../lib/clock.js'
import { CodedError } from '../lib/errors.js'
import type { Store } from '../storage/store.js'
import { accounts, accountsIn, personNamed } from './accounts/account-statements.js'

/** The audit log's and the command line's name for the person who has the operator's password. */
export const UNNAMED_OPERATOR = 'operator'

const ID_CHARACTERS = 32

export class SessionError extends CodedError<'session_not_found'> {}

/** A session with the names of its tenant and person. */
export type NamedSession = Awaited<ReturnType<SessionOperations['list']>>[number]

export class SessionOperations {
  constructor(
    private readonly audited: AuditedUnitOfWork,
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  /** @returns every session that has not ended, newest first */
  async list() {
    const { read } = this.store
    const [sessions, tenants, people] = await Promise.all([
      accountsIn(read).dashboardSessions(this.clock.now()),
      read.tenants(),
      accountsIn(read).everyone(),
    ])
    const tenantNames = new Map(tenants.map(({ id, name }) => [id, name]))
    const names = new Map(people.map(({ id, name }) => [id, name]))
    return sessions.map((session) => {
      const { tenantId, personId } = session
      const name = personId === null ? null : (names.get(personId) ?? personId)
      return {
        ...session,
        id: sessionId(session.hash),
        /** Name of the tenant; null for an operator's session. */
        tenant: tenantId === null ? null : (tenantNames.get(tenantId) ?? tenantId),
        /** Name of the operator; null for a tenant's session. */
        operator: tenantId === null ? (name ?? UNNAMED_OPERATOR) : null,
        /** Name of the tenant's person; null for an operator's session, and for one that a tenant's login link began. */
        person: tenantId === null ? null : name,
      }
    })
  }

  /** Ends every session of a tenant and of its people, and deletes unused links. @returns how many of each */
  endOfTenant(tenantId: string, actor: Actor) {
    return this.audited.run(tenantId, actor, async (tx) => {
      const ended = await accounts(tx).deleteTenantSignIns(tenantId)
      return { result: ended, facts: { event: 'sessions_ended', ...ended } }
    })
  }

  /**
   * Ends every session of one person. @param name `operator` for the person who has the operator's password
   * @param tenantId the tenant to which the person belongs; null for an operator
   * @returns how many there were @throws SessionError session_not_found where nobody has this name
   */
  endOfPerson(name: string, actor: Actor, tenantId: string | null = null): Promise<number> {
    return this.audited.runFor(tenantId, actor, async (tx) => {
      const isUnnamed = tenantId === null && name === UNNAMED_OPERATOR
      const refusal = (text: string) => new SessionError('session_not_found', text)
      const person = isUnnamed ? null : await personNamed(tx, name, tenantId, refusal)
      const sessions = await accounts(tx).deletePersonSessions(person?.id ?? null)
      return { result: sessions, facts: { event: 'sessions_ended', name, sessions } }
    })
  }

  /** Ends every session of every operator. @returns how many there were */
  endOfOperators(actor: Actor): Promise<number> {
    return this.audited.runForAll(actor, async (tx) => {
      let sessions = await accounts(tx).deletePersonSessions(null)
      for (const { id } of await accounts(tx).people(null))
        sessions += await accounts(tx).deletePersonSessions(id)
      return { result: sessions, facts: { event: 'sessions_ended', name: 'all operators', sessions } }
    })
  }

  /**
   * Ends one session. @param isAllowed whether the actor may see and end the session; any other session counts as not found
   * @throws SessionError session_not_found
   */
  async end(
    id: string,
    actor: Actor,
    isAllowed: (session: NamedSession) => boolean = () => true,
  ): Promise<NamedSession> {
    const session = (await this.list()).find((one) => one.id === id && isAllowed(one))
    if (!session) throw notFound()
    const { hash, tenantId, operator, person } = session
    const name = tenantId === null ? operator : (person ?? 'tenant')
    return this.audited.runFor(tenantId, actor, async (tx) => {
      if (!(await accounts(tx).deleteDashboardSession(hash))) throw notFound()
      return { result: session, facts: { event: 'sessions_ended', name, session: id, sessions: 1 } }
    })
  }
}

/** The public id of a session: half of the hash under which it is stored. The cookie cannot be computed from it. */
export function sessionId(hash: Buffer): string {
  return `ses_${hash.toString('hex').slice(0, ID_CHARACTERS)}`
}

function notFound(): SessionError {
  return new SessionError('session_not_found', 'There is no such session, or it has ended already.')
}
