/** The routes that list and end sessions, and that confirm the identity of the signed-in person. */
import type { NamedSession } from '../../admin/session-operations.js'
import { isoTime, optionalTime } from '../../lib/clock.js'
import { text } from '../lib/bodies.js'
import { callerOf } from '../rights.js'
import type { Session } from '../sign-in/sessions.js'
import { PROOF } from '../sign-in/sign-in.js'
import { operatorRoute, SIGNS_OUT, tenantRoute } from './route.js'

const chosenSession = { session: text(64) }

export const SESSION_ROUTES = {
  'GET /sessions': operatorRoute({
    right: 'read',
    answer: async ({ operations, session }) => ({
      sessions: (await operations.sessions.list()).map((one) => listed(one, session)),
    }),
  }),

  'POST /sessions/end': operatorRoute({
    // A viewer and every person of a tenant end only sessions under their own name by it. The tenant has another route for all of its
    // sessions.
    right: 'own',
    harmless: SIGNS_OUT,
    body: chosenSession,
    async answer({ operations, session: own, actor, input }) {
      const isAdmin = callerOf(own.person) === 'operator admin'
      const isAllowed = ({ personId }: NamedSession) =>
        isAdmin || (personId !== null && personId === own.person.id)
      return listed(await operations.sessions.end(input.session, actor, isAllowed), own)
    },
  }),

  'POST /session/confirm': operatorRoute({
    right: 'own',
    harmless: 'It is the fresh sign-in itself, and asks for password and code.',
    body: PROOF,
    async answer({ services: { signIn, config }, session, guest, input }) {
      const { authenticatedAt } = await signIn.confirm(session, input, guest)
      return { fresh_until: isoTime(authenticatedAt! + config.dashboardFreshMinutes * 60_000) }
    },
  }),
}

export const TENANT_SESSION_ROUTES = {
  'GET /sessions': tenantRoute({
    right: 'read',
    async answer({ operations, session, tenant }) {
      const sessions = await operations.sessions.list()
      const own = sessions.filter(({ tenantId }) => tenantId === tenant.id)
      return { sessions: own.map((one) => listed(one, session)) }
    },
  }),

  'POST /sessions/end': tenantRoute({
    right: 'write',
    harmless: SIGNS_OUT,
    body: chosenSession,
    async answer({ operations, session, tenant, actor, input }) {
      const isOwn = ({ tenantId }: NamedSession) => tenantId === tenant.id
      return listed(await operations.sessions.end(input.session, actor, isOwn), session)
    },
  }),

  /** Ends every session of the tenant, and its login links that nobody has used. */
  'POST /sign-out': tenantRoute({
    right: 'write',
    harmless: SIGNS_OUT,
    answer: ({ operations, tenant, actor }) => operations.sessions.endOfTenant(tenant.id, actor),
  }),
}

/** An entry in a list of sessions. */
function listed(session: NamedSession, own: Session) {
  return {
    id: session.id,
    /** Name of the operator, `operator` when the operator has no name, or null for a tenant's session. */
    operator: session.operator,
    /** Name of the tenant, or null for an operator's session. */
    tenant: session.tenant,
    tenant_id: session.tenantId,
    /** Name of the tenant's person, or null for an operator's session and for one that a login link began. */
    person: session.person,
    /** How the session began. An earlier version did not record it, nor the times, address and browser: all are null then. */
    method: session.method,
    created_at: optionalTime(session.createdAt),
    last_used_at: optionalTime(session.lastUsedAt),
    /** Time at which the session ends unless it is used before. */
    ends_at: isoTime(session.expiresAt),
    address: session.address,
    browser: session.browser,
    /** Whether this is the session that made the request. */
    is_own: session.hash.equals(own.hash),
  }
}
