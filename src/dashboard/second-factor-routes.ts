/** The routes for the second factor of the signed-in person, and for removing that of an operator who has lost it. */
import * as bodies from './bodies.js'
import { DashboardError } from './dashboard-error.js'
import type { OperatorTable } from './route.js'
import type { SessionPerson } from './session-person.js'
import type { Session } from './sessions.js'

export const SECOND_FACTOR_ROUTES = {
  'POST /second-factor': {
    givesSecret: true,
    answer: ({ services, session }) => services.core.operations.secondFactors.begin(ownerOf(session)),
  },

  'POST /second-factor/confirm': {
    givesSecret: true,
    body: bodies.secondFactorCode,
    answer: async ({ services, session, actor, input }) => ({
      recovery_codes: await services.core.operations.secondFactors.confirm(
        ownerOf(session),
        input.code,
        actor,
      ),
    }),
  },

  'POST /second-factor/remove': {
    async answer({ services, session, actor }) {
      await services.core.operations.secondFactors.remove(ownerOf(session), actor)
      return { removed: true }
    },
  },

  'POST /operators/second-factor/remove': {
    body: bodies.namedOperator,
    async answer({ services, actor, input }) {
      await services.core.operations.secondFactors.reset(input.name, actor)
      return { removed: true }
    },
  },
} satisfies Partial<OperatorTable>

/** @throws DashboardError not_permitted for a session that began by a link or at a provider, where no second factor is asked for */
function ownerOf({ person, method }: Session): SessionPerson {
  if (method !== 'password') throw new DashboardError('not_permitted')
  return person
}
