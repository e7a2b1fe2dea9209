/** The routes for the people who sign in for a tenant: names, roles and invitations. No address contains a name. */
import type { Invitation } from '../../admin/people-operations.js'
import { personView } from '../../admin/views.js'
import * as bodies from '../bodies.js'
import type { InvitedPerson } from '../contract.js'
import { DashboardError } from '../dashboard-error.js'
import { asSecret, type OperatorTable, type TenantTable } from './route.js'
import { assertOfAnother } from './second-factor-routes.js'

export const PEOPLE_ROUTES = {
  'GET /people': {
    async answer({ services: { core, config }, tenant }) {
      const { operations } = core
      const people = await operations.peopleOf(tenant.id).list()
      const enrolled = await operations.secondFactors.enrolled()
      const { oidcIssuer: issuer, oidcClaim: claim } = config
      return {
        people: people.map((one) => ({ ...personView(one), second_factor: enrolled.has(one.id) })),
        provider: issuer === undefined ? null : { issuer, claim },
      }
    },
  },

  'POST /people': {
    givesSecret: true,
    status: 201,
    body: bodies.newOperator,
    async answer({ services: { core, urls }, tenant, actor, input: { name, role } }) {
      const people = core.operations.peopleOf(tenant.id)
      return invitedView(await people.invite(name, role, urls().admin, actor))
    },
  },

  'POST /people/role': {
    body: bodies.operatorRole,
    answer: async ({ services, tenant, actor, input: { name, role } }) =>
      personView(await services.core.operations.peopleOf(tenant.id).setRole(name, role, actor)),
  },

  'POST /people/reset': {
    givesSecret: true,
    body: bodies.namedOperator,
    async answer({ services: { core, urls }, tenant, actor, input: { name } }) {
      const people = core.operations.peopleOf(tenant.id)
      return invitedView(await people.inviteAgain(name, urls().admin, actor))
    },
  },

  'POST /people/second-factor/remove': {
    body: bodies.namedOperator,
    async answer({ services, tenant, session, actor, input: { name } }) {
      assertOfAnother(session, name)
      await services.core.operations.secondFactors.reset(name, actor, tenant.id)
      return { removed: true }
    },
  },

  'POST /people/sign-out': {
    body: bodies.namedOperator,
    answer: async ({ services, tenant, actor, input: { name } }) => ({
      sessions: await services.core.operations.sessions.endOfPerson(name, actor, tenant.id),
    }),
  },

  'POST /people/remove': {
    body: bodies.namedOperator,
    answer: async ({ services, tenant, actor, input: { name } }) =>
      personView(await services.core.operations.peopleOf(tenant.id).remove(name, actor)),
  },
} satisfies Partial<TenantTable>

/** The routes by which a person with a name changes their own password. */
export const OWN_PASSWORD_ROUTES = {
  'POST /password': {
    choosesPassword: true,
    body: bodies.chosenPassword,
    async answer({ services: { core, sessions }, session, actor, input }) {
      if (sessions.ownPassword(session) === null) throw new DashboardError('not_permitted')
      const { person, hash } = session
      const { operators, peopleOf } = core.operations
      const people = person.tenantId === null ? operators : peopleOf(person.tenantId)
      await people.choosePassword(person.name, input.password, hash, actor)
      return { chosen: true }
    },
  },
} satisfies Partial<OperatorTable>

function invitedView({ person, link }: Invitation): InvitedPerson {
  return { person: personView(person), sign_in_link: asSecret(link) }
}
