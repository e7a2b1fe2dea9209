/** The routes for the people who sign in for a tenant, and for the operators: names, roles, invitations and passwords. No address contains a name. */
import type { PersonRecord } from '../../admin/accounts/account-tables.js'
import type { Invitation, NewPassword } from '../../admin/people-operations.js'
import { operatorView, personView } from '../../admin/views.js'
import type { TenantRecord } from '../../storage/records.js'
import { personNamed, personWithRole } from '../lib/bodies.js'
import type { Taken } from '../lib/route.js'
import { asSecret, type OperatorCall, operatorRoute, SIGNS_OUT, tenantRoute } from './route.js'
import { assertOfAnother } from './session-routes.js'

/** A call about the people of a tenant, or about the operators where it names no tenant. */
type PeopleCall = OperatorCall & { tenant?: TenantRecord }
type NamingCall<Fields> = PeopleCall & Pick<Taken<Fields, never>, 'input'>

const peopleOf = ({ operations, tenant }: PeopleCall) =>
  tenant ? operations.peopleOf(tenant.id) : operations.operators

const changeOfRole = <View>(view: (person: PersonRecord) => View) => ({
  body: personWithRole,
  answer: async (call: NamingCall<typeof personWithRole>) =>
    view(await peopleOf(call).setRole(call.input.name, call.input.role, call.actor)),
})

const removal = <View>(view: (person: PersonRecord) => View) => ({
  body: personNamed,
  answer: async (call: NamingCall<typeof personNamed>) =>
    view(await peopleOf(call).remove(call.input.name, call.actor)),
})

const signOut = {
  harmless: SIGNS_OUT,
  body: personNamed,
  answer: async ({ operations, tenant, actor, input }: NamingCall<typeof personNamed>) => ({
    sessions: await operations.sessions.endOfPerson(input.name, actor, tenant?.id),
  }),
}

const removalOfFactor = {
  body: personNamed,
  async answer({ operations, tenant, session, actor, input }: NamingCall<typeof personNamed>) {
    assertOfAnother(session, input.name)
    await operations.secondFactors.reset(input.name, actor, tenant?.id)
    return { removed: true }
  },
}

export const PEOPLE_ROUTES = {
  'GET /people': tenantRoute({ right: 'read', answer: (call) => listedPeople(call, personView) }),

  'POST /people': tenantRoute({
    right: 'write',
    givesSecret: true,
    status: 201,
    body: personWithRole,
    answer: async ({ operations, urls, tenant, actor, input: { name, role } }) =>
      invitedView(await operations.peopleOf(tenant.id).invite(name, role, urls().admin, actor)),
  }),

  'POST /people/role': tenantRoute({ right: 'write', ...changeOfRole(personView) }),

  /** Ends password and sessions, and makes a new link. */
  'POST /people/reset': tenantRoute({
    right: 'write',
    givesSecret: true,
    body: personNamed,
    answer: async ({ operations, urls, tenant, actor, input: { name } }) =>
      invitedView(await operations.peopleOf(tenant.id).inviteAgain(name, urls().admin, actor)),
  }),

  'POST /people/second-factor/remove': tenantRoute({ right: 'write', ...removalOfFactor }),
  'POST /people/sign-out': tenantRoute({ right: 'write', ...signOut }),
  'POST /people/remove': tenantRoute({ right: 'write', ...removal(personView) }),
}

/** The people with names, and the OpenID provider by which they may also sign in: its claim holds the name. */
async function listedPeople<View>(call: PeopleCall, view: (person: PersonRecord) => View) {
  const { oidcIssuer: issuer, oidcClaim: claim } = call.services.config
  const enrolled = await call.operations.secondFactors.enrolled()
  const people = await peopleOf(call).list()
  return {
    people: people.map((one) => ({ ...view(one), second_factor: enrolled.has(one.id) })),
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
    async answer(call) {
      const { people, provider } = await listedPeople(call, operatorView)
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

  'POST /operators/role': operatorRoute({ right: 'admin', ...changeOfRole(operatorView) }),

  'POST /operators/password': operatorRoute({
    right: 'admin',
    givesSecret: true,
    body: personNamed,
    answer: async ({ operations, actor, input: { name } }) =>
      passwordView(await operations.operators.resetPassword(name, actor)),
  }),

  'POST /operators/second-factor/remove': operatorRoute({ right: 'admin', ...removalOfFactor }),
  'POST /operators/sign-out': operatorRoute({ right: 'admin', ...signOut }),
  'POST /operators/remove': operatorRoute({ right: 'admin', ...removal(operatorView) }),
}

/** A new password, which is shown only once. */
function passwordView({ operator, password }: NewPassword) {
  return { operator: operatorView(operator), password: asSecret(password) }
}
