/** The routes for the operators of the installation: names, roles and passwords. No address contains a name. */
import type { NewPassword } from '../../admin/people-operations.js'
import { operatorView } from '../../admin/views.js'
import { personNamed, personWithRole } from '../lib/bodies.js'
import { listedPeople } from './people-routes.js'
import { asSecret, operatorRoute, SIGNS_OUT } from './route.js'
import { assertOfAnother } from './second-factor-routes.js'

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
