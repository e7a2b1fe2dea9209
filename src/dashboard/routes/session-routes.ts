/** The routes for sessions, and for identity, password and second factor of the signed-in person. */
import type { NamedSession } from '../../admin/session-operations.js'
import { sessionView } from '../../admin/views.js'
import { isoTime } from '../../lib/clock.js'
import { DashboardError } from '../dashboard-error.js'
import { code, password, text } from '../lib/bodies.js'
import { callerOf } from '../rights.js'
import { isUnnamedOfTenant, type SessionPerson } from '../sign-in/session-person.js'
import type { Session } from '../sign-in/sessions.js'
import { PROOF } from '../sign-in/sign-in.js'
import { asSecret, operatorRoute, SIGNS_OUT, tenantRoute } from './route.js'

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

function listed(session: NamedSession, own: Session) {
  return {
    ...sessionView(session),
    tenant_id: session.tenantId,
    /** Whether this is the session that made the request. */
    is_own: session.hash.equals(own.hash),
  }
}

export const SECOND_FACTOR_ROUTES = {
  /** Makes a secret, which takes effect once the person has confirmed a code. */
  'POST /second-factor': operatorRoute({
    right: 'own',
    givesSecret: true,
    async answer({ operations, session }) {
      const { secret, uri } = await operations.secondFactors.begin(ownerOf(session))
      return { secret: asSecret(secret), uri: asSecret(uri) }
    },
  }),

  'POST /second-factor/confirm': operatorRoute({
    right: 'own',
    givesSecret: true,
    body: { code },
    async answer({ operations, session, actor, input }) {
      const codes = await operations.secondFactors.confirm(ownerOf(session), input.code, session, actor)
      return { recovery_codes: codes.map(asSecret) }
    },
  }),

  'POST /second-factor/remove': operatorRoute({
    right: 'own',
    body: { code },
    async answer({ services: { signIn }, operations, session, actor, input }) {
      const owner = ownerOf(session)
      await signIn.assertSecondFactor(owner, input.code)
      await operations.secondFactors.remove(owner, session.hash, actor)
      return { removed: true }
    },
  }),

  /** Chooses the person's own password; the person's other sessions end. */
  'POST /password': operatorRoute({
    right: 'own',
    choosesPassword: true,
    body: { password },
    async answer({ services: { sessions }, operations: { operators, peopleOf }, session, actor, input }) {
      if (sessions.ownPassword(session) === null) throw new DashboardError('not_permitted')
      const { person, hash } = session
      const people = person.tenantId === null ? operators : peopleOf(person.tenantId)
      await people.choosePassword(person.name, input.password, hash, actor)
      return { chosen: true }
    },
  }),
}

/** Keeps people from removing their own second factor without a code. @throws DashboardError not_permitted */
export function assertOfAnother({ person }: Session, name: string): void {
  if (person.name === name)
    throw new DashboardError('not_permitted', 'Remove your own second factor on its page, with a code.')
}

/** @throws DashboardError not_permitted for a session that began at a provider or by a tenant's login link, where nobody has a second factor */
function ownerOf({ person, method }: Session): SessionPerson {
  if (method === 'oidc' || isUnnamedOfTenant(person)) throw new DashboardError('not_permitted')
  return person
}
