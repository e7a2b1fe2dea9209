/** The routes for the people who sign in for a tenant, and for the operators: names, roles, invitations and passwords. No address contains a name. */
import type { PersonRecord } from '../../admin/accounts/account-tables.js'
import type { Invitation, NewPassword, PeopleOperations } from '../../admin/people-operations.js'
import { operatorView, personView } from '../../admin/views.js'
import type { DashboardServices } from '../dashboard-services.js'
import { personNamed, personWithRole } from '../lib/bodies.js'
import { asSecret, operatorRoute, SIGNS_OUT, tenantRoute } from './route.js'
import { assertOfAnother } from './session-routes.js'

export const PEOPLE_ROUTES = {
  'GET /people': tenantRoute({
    right: 'read',
    answer: ({ services, operations, tenant }) =>
      listedPeople(services, operations.peopleOf(tenant.id), personView),
  }),

  'POST /people': tenantRoute({
    right: 'write',
    givesSecret: true,
    status: 201,
    body: personWithRole,
    answer: async ({ operations, urls, tenant, actor, input: { name, role } }) =>
      invitedView(await operations.peopleOf(tenant.id).invite(name, role, urls().admin, actor)),
  }),

  'POST /people/role': tenantRoute({
    right: 'write',
    body: personWithRole,
    answer: async ({ operations, tenant, actor, input: { name, role } }) =>
      personView(await operations.peopleOf(tenant.id).setRole(name, role, actor)),
  }),

  /** Ends password and sessions, and makes a new link. */
  'POST /people/reset': tenantRoute({
    right: 'write',
    givesSecret: true,
    body: personNamed,
    answer: async ({ operations, urls, tenant, actor, input: { name } }) =>
      invitedView(await operations.peopleOf(tenant.id).inviteAgain(name, urls().admin, actor)),
  }),

  'POST /people/second-factor/remove': tenantRoute({
    right: 'write',
    body: personNamed,
    async answer({ operations, tenant, session, actor, input: { name } }) {
      assertOfAnother(session, name)
      await operations.secondFactors.reset(name, actor, tenant.id)
      return { removed: true }
    },
  }),

  'POST /people/sign-out': tenantRoute({
    right: 'write',
    harmless: SIGNS_OUT,
    body: personNamed,
    answer: async ({ operations, tenant, actor, input: { name } }) => ({
      sessions: await operations.sessions.endOfPerson(name, actor, tenant.id),
    }),
  }),

  'POST /people/remove': tenantRoute({
    right: 'write',
    body: personNamed,
    answer: async ({ operations, tenant, actor, input: { name } }) =>
      personView(await operations.peopleOf(tenant.id).remove(name, actor)),
  }),
}

/** The people with names, and the OpenID provider by which they may also sign in: its claim holds the name. */
async function listedPeople<View>(
  { core, config: { oidcIssuer: issuer, oidcClaim: claim } }: DashboardServices,
  people: PeopleOperations,
  view: (person: PersonRecord) => View,
) {
  const enrolled = await core.operations.secondFactors.enrolled()
  return {
    people: (await people.list()).map((one) => ({ ...view(one), second_factor: enrolled.has(one.id) })),
    provider: issuer === undefined ? null : { issuer, claim },
  }
}

/** An invited person, with the link that is shown only once. */
function invitedView({ person, link }: Invitation) {
  return { person: personView(person), sign_in_link: asSecret(link) }
}

export const OPERATOR_ROUTES = {
  'GET /operators': operatorRoute({
    right: 'read',
    async answer({ services, operations }) {
      const { people, provider } = await listedPeople(services, operations.operators, operatorView)
      // A person who only has the operator's password is not listed.
      return { operators: people, provider }
    },
  }),

  'POST /operators': operatorRoute({
    right: 'admin',
    givesSecret: true,
    status: 201,
    body: personWithRole,
    answer: async ({ operations, actor, input: { name, role } }) =>
      passwordView(await operations.operators.add(name, role, actor)),
  }),

  'POST /operators/role': operatorRoute({
    right: 'admin',
    body: personWithRole,
    answer: async ({ operations, actor, input: { name, role } }) =>
      operatorView(await operations.operators.setRole(name, role, actor)),
  }),

  'POST /operators/password': operatorRoute({
    right: 'admin',
    givesSecret: true,
    body: personNamed,
    answer: async ({ operations, actor, input: { name } }) =>
      passwordView(await operations.operators.resetPassword(name, actor)),
  }),

  'POST /operators/second-factor/remove': operatorRoute({
    right: 'admin',
    body: personNamed,
    async answer({ operations, session, actor, input: { name } }) {
      assertOfAnother(session, name)
      await operations.secondFactors.reset(name, actor)
      return { removed: true }
    },
  }),

  'POST /operators/sign-out': operatorRoute({
    right: 'admin',
    harmless: SIGNS_OUT,
    body: personNamed,
    answer: async ({ operations, actor, input: { name } }) => ({
      sessions: await operations.sessions.endOfPerson(name, actor),
    }),
  }),

  'POST /operators/remove': operatorRoute({
    right: 'admin',
    body: personNamed,
    answer: async ({ operations, actor, input: { name } }) =>
      operatorView(await operations.operators.remove(name, actor)),
  }),
}

/** A new password, which is shown only once. */
function passwordView({ operator, password }: NewPassword) {
  return { operator: operatorView(operator), password: asSecret(password) }
}
