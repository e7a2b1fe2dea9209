/** The routes for the people who sign in for a tenant: names, roles and invitations. No address contains a name. */
import type { PersonRecord } from '../../admin/accounts/account-tables.js'
import type { Invitation, PeopleOperations } from '../../admin/people-operations.js'
import { personView } from '../../admin/views.js'
import type { DashboardServices } from '../dashboard-services.js'
import { personNamed, personWithRole } from '../lib/bodies.js'
import { asSecret, SIGNS_OUT, tenantRoute } from './route.js'
import { assertOfAnother } from './second-factor-routes.js'

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
export async function listedPeople<View>(
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
