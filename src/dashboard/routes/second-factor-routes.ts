/** The routes for the second factor of the signed-in person, and for removing that of an operator who has lost it. */
import * as bodies from '../bodies.js'
import { DashboardError } from '../dashboard-error.js'
import { isUnnamedOfTenant, type SessionPerson } from '../sign-in/session-person.js'
import type { Session } from '../sign-in/sessions.js'
import { asSecret, type OperatorTable } from './route.js'

export const SECOND_FACTOR_ROUTES = {
  'POST /second-factor': {
    givesSecret: true,
    async answer({ services, session }) {
      const { secret, uri } = await services.core.operations.secondFactors.begin(ownerOf(session))
      return { secret: asSecret(secret), uri: asSecret(uri) }
    },
  },

  'POST /second-factor/confirm': {
    givesSecret: true,
    body: bodies.secondFactorCode,
    async answer({ services, session, actor, input }) {
      const { secondFactors } = services.core.operations
      const codes = await secondFactors.confirm(ownerOf(session), input.code, session, actor)
      return { recovery_codes: codes.map(asSecret) }
    },
  },

  'POST /second-factor/remove': {
    body: bodies.secondFactorCode,
    async answer({ services: { core, signIn }, session, actor, input }) {
      const owner = ownerOf(session)
      await signIn.assertSecondFactor(owner, input.code)
      await core.operations.secondFactors.remove(owner, session.hash, actor)
      return { removed: true }
    },
  },

  'POST /operators/second-factor/remove': {
    body: bodies.namedOperator,
    async answer({ services, session, actor, input }) {
      assertOfAnother(session, input.name)
      await services.core.operations.secondFactors.reset(input.name, actor)
      return { removed: true }
    },
  },
} satisfies Partial<OperatorTable>

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
