/** The routes that list and end sessions, and that confirm the identity of the signed-in person. */

import type { NamedSession } from '../../admin/session-operations.js'
import { isoTime, optionalTime } from '../../lib/clock.js'
import * as bodies from '../bodies.js'
import type { ListedSession } from '../contract.js'
import { callerOf } from '../rights.js'
import type { Session } from '../sign-in/sessions.js'
import type { OperatorTable, TenantTable } from './route.js'

export const SESSION_ROUTES = {
  'GET /sessions': {
    async answer({ services, session }) {
      const sessions = await services.core.operations.sessions.list()
      return { sessions: sessions.map((one) => listed(one, session)) }
    },
  },

  'POST /sessions/end': {
    body: bodies.sessionChoice,
    async answer({ services, session: own, actor, input }) {
      const isAdmin = callerOf(own.person) === 'operator admin'
      const isAllowed = ({ personId }: NamedSession) =>
        isAdmin || (personId !== null && personId === own.person.id)
      const ended = await services.core.operations.sessions.end(input.session, actor, isAllowed)
      return listed(ended, own)
    },
  },

  'POST /session/confirm': {
    body: bodies.confirmation,
    async answer({ services: { signIn, config }, session, guest, input }) {
      const { authenticatedAt } = await signIn.confirm(session, input, guest)
      return { fresh_until: isoTime(authenticatedAt! + config.dashboardFreshMinutes * 60_000) }
    },
  },

  'POST /operators/sign-out': {
    body: bodies.namedOperator,
    answer: async ({ services, actor, input }) => ({
      sessions: await services.core.operations.sessions.endOfPerson(input.name, actor),
    }),
  },
} satisfies Partial<OperatorTable>

export const TENANT_SESSION_ROUTES = {
  'GET /sessions': {
    async answer({ services, session, tenant }) {
      const sessions = await services.core.operations.sessions.list()
      const own = sessions.filter(({ tenantId }) => tenantId === tenant.id)
      return { sessions: own.map((one) => listed(one, session)) }
    },
  },

  'POST /sessions/end': {
    body: bodies.sessionChoice,
    async answer({ services, session, tenant, actor, input }) {
      const isOwn = ({ tenantId }: NamedSession) => tenantId === tenant.id
      return listed(await services.core.operations.sessions.end(input.session, actor, isOwn), session)
    },
  },

  'POST /sign-out': {
    answer: async ({ services, tenant, actor }) =>
      services.core.operations.sessions.endOfTenant(tenant.id, actor),
  },
} satisfies Partial<TenantTable>

function listed(session: NamedSession, own: Session): ListedSession {
  return {
    id: session.id,
    operator: session.operator,
    tenant: session.tenant,
    tenant_id: session.tenantId,
    person: session.person,
    method: session.method,
    created_at: optionalTime(session.createdAt),
    last_used_at: optionalTime(session.lastUsedAt),
    ends_at: isoTime(session.expiresAt),
    address: session.address,
    browser: session.browser,
    is_own: session.hash.equals(own.hash),
  }
}
