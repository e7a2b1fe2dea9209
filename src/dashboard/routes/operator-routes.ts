/** The routes for the operators of the installation: names, roles and passwords. No address contains a name. */
import type { NewPassword } from '../../admin/people-operations.js'
import { operatorView } from '../../admin/views.js'
import * as bodies from '../bodies.js'
import type { NewOperatorPassword } from '../contract.js'
import { asSecret, type OperatorTable } from './route.js'

export const OPERATOR_ROUTES = {
  'GET /operators': {
    async answer({ services: { core, config } }) {
      const operators = await core.operations.operators.list()
      const enrolled = await core.operations.secondFactors.enrolled()
      const { oidcIssuer: issuer, oidcClaim: claim } = config
      return {
        operators: operators.map((one) => ({ ...operatorView(one), second_factor: enrolled.has(one.id) })),
        provider: issuer === undefined ? null : { issuer, claim },
      }
    },
  },

  'POST /operators': {
    givesSecret: true,
    status: 201,
    body: bodies.newOperator,
    answer: async ({ services, actor, input: { name, role } }) =>
      passwordView(await services.core.operations.operators.add(name, role, actor)),
  },

  'POST /operators/role': {
    body: bodies.operatorRole,
    answer: async ({ services, actor, input: { name, role } }) =>
      operatorView(await services.core.operations.operators.setRole(name, role, actor)),
  },

  'POST /operators/password': {
    givesSecret: true,
    body: bodies.namedOperator,
    answer: async ({ services, actor, input: { name } }) =>
      passwordView(await services.core.operations.operators.resetPassword(name, actor)),
  },

  'POST /operators/remove': {
    body: bodies.namedOperator,
    answer: async ({ services, actor, input: { name } }) =>
      operatorView(await services.core.operations.operators.remove(name, actor)),
  },
} satisfies Partial<OperatorTable>

function passwordView({ operator, password }: NewPassword): NewOperatorPassword {
  return { operator: operatorView(operator), password: asSecret(password) }
}
