/** The routes that list and end sessions, and that confirm the identity of the signed-in person. */
import type { NamedSession } from '../../admin/session-operations.js'
import { sessionView } from '../../admin/views.js'
import { isoTime } from '../../lib/clock.js'
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
    ...sessionView(session),
    tenant_id: session.tenantId,
    /** Whether this is the session that made the request. */
    is_own: session.hash.equals(own.hash),
  }
}
