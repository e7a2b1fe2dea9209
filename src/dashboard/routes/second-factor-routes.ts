/** The routes for password and second factor of the signed-in person. */
import { DashboardError } from '../dashboard-error.js'
import { code, password } from '../lib/bodies.js'
import { isUnnamedOfTenant, type SessionPerson } from '../sign-in/session-person.js'
import type { Session } from '../sign-in/sessions.js'
import { asSecret, operatorRoute } from './route.js'

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

/**
 * Keeps people from removing their own second factor without a code.
 * @throws DashboardError not_permitted
 */
export function assertOfAnother({ person }: Session, name: string): void {
  if (person.name === name)
    throw new DashboardError('not_permitted', 'Remove your own second factor on its page, with a code.')
}

/** @throws DashboardError not_permitted for a session that began at a provider or by a tenant's login link, where nobody has a second factor */
function ownerOf({ person, method }: Session): SessionPerson {
  if (method === 'oidc' || isUnnamedOfTenant(person)) throw new DashboardError('not_permitted')
  return person
}
