/** Sessions of the dashboard: the list of those who are signed in, and ending any of them. */
import type { Clock } from '../clock.js'
import { CodedError } from '../errors.js'
import type { SessionRecord } from '../storage/records.js'
import type { Store } from '../storage/store.js'
import type { Actor, AuditedTransactions } from './operation.js'

/** The audit log's and the command line's name for the person who has the operator's password. */
export const UNNAMED_OPERATOR = 'operator'

const ID_CHARACTERS = 32

export class SessionError extends CodedError<'session_not_found'> {
  override readonly name = 'SessionError'
}

/** A session with the names of those it belongs to. */
export interface NamedSession extends SessionRecord {
  id: string
  /** Name of the operator; null for a tenant's session. */
  operator: string | null
  /** Name of the tenant; null for an operator's session. */
  tenant: string | null
}

export interface EndedSignIns {
  sessions: number
  /** Login links that nobody had used yet. */
  links: number
}

export class SessionOperations {
  constructor(
    private readonly audited: AuditedTransactions,
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  /** Every session that has not ended, the newest first. */
  async list(): Promise<NamedSession[]> {
    const { read } = this.store
    const [sessions, tenants, operators] = await Promise.all([
      read.dashboardSessions(this.clock.now()),
      read.tenants(),
      read.operators(),
    ])
    const tenantNames = new Map(tenants.map(({ id, name }) => [id, name]))
    const operatorNames = new Map(operators.map(({ id, name }) => [id, name]))
    return sessions.map((session) => ({
      ...session,
      id: sessionId(session.hash),
      tenant: session.tenantId === null ? null : (tenantNames.get(session.tenantId) ?? session.tenantId),
      operator:
        session.tenantId !== null
          ? null
          : session.operatorId === null
            ? UNNAMED_OPERATOR
            : (operatorNames.get(session.operatorId) ?? session.operatorId),
    }))
  }

  /** Ends every session of a tenant, and its login links that nobody has used. */
  endOfTenant(tenantId: string, actor: Actor): Promise<EndedSignIns> {
    return this.audited.run(tenantId, actor, async (tx) => {
      const ended = await tx.deleteTenantSignIns(tenantId)
      return { result: ended, facts: { event: 'sessions_ended', ...ended } }
    })
  }

  /**
   * Ends every session of one operator. @param name `operator` for the person who has the operator's password
   * @returns how many there were @throws SessionError session_not_found where nobody has this name
   */
  endOfOperator(name: string, actor: Actor): Promise<number> {
    return this.audited.runForAll(actor, async (tx) => {
      const operator = name === UNNAMED_OPERATOR ? { id: null } : await tx.operatorByName(name)
      if (!operator) throw new SessionError('session_not_found', `There is no operator named ${name}.`)
      const sessions = await tx.deleteOperatorSessions(operator.id)
      return { result: sessions, facts: { event: 'sessions_ended', name, sessions } }
    })
  }

  /** Ends every session of every operator. @returns how many there were */
  endOfOperators(actor: Actor): Promise<number> {
    return this.audited.runForAll(actor, async (tx) => {
      let sessions = await tx.deleteOperatorSessions(null)
      for (const { id } of await tx.operators()) sessions += await tx.deleteOperatorSessions(id)
      return { result: sessions, facts: { event: 'sessions_ended', name: 'all operators', sessions } }
    })
  }

  /**
   * Ends one session. @param isAllowed whether the actor may end this one: another one is not found
   * @throws SessionError session_not_found
   */
  async end(
    id: string,
    actor: Actor,
    isAllowed: (session: NamedSession) => boolean = () => true,
  ): Promise<NamedSession> {
    const session = (await this.list()).find((one) => one.id === id && isAllowed(one))
    if (!session) throw notFound()
    const facts = { event: 'sessions_ended', name: session.operator, session: id, sessions: 1 } as const
    const { tenantId } = session
    if (tenantId !== null)
      return this.audited.run(tenantId, actor, async (tx) => {
        if (!(await tx.deleteDashboardSession(session.hash))) throw notFound()
        return { result: session, facts: { ...facts, name: 'tenant' } }
      })
    return this.audited.runForAll(actor, async (tx) => {
      if (!(await tx.deleteDashboardSession(session.hash))) throw notFound()
      return { result: session, facts }
    })
  }
}

/** The public id of a session: half of the hash under which it is stored, from which nobody computes its cookie. */
export function sessionId(hash: Buffer): string {
  return `ses_${hash.toString('hex').slice(0, ID_CHARACTERS)}`
}

function notFound(): SessionError {
  return new SessionError('session_not_found', 'There is no such session, or it has ended already.')
}
