/** The routes that look up, unlock, export and erase a tenant's user. */

import { erasureView } from '../../admin/user-views.js'
import { tenantModels } from '../../tenants/tenant-models.js'
import * as bodies from '../bodies.js'
import type { TenantTable } from './route.js'

export const USER_ROUTES = {
  'POST /users/find': {
    body: bodies.userQuestion,
    async answer({ services, tenant, input: { environment, user_id: userId } }) {
      const { engine, core } = services
      const user = await core.operations.users.find(tenant, { environment, userId })
      if (!user) return { user }
      // References of the sandbox belong to no model, so that they stay comparable after a change of model.
      const deciding = tenantModels(tenant)?.deciding ?? engine.pack.modelId
      const models = await core.operations.users.modelsOf(tenant, { environment, userId })
      const comparable = environment === 'sandbox' || models.includes(deciding)
      return { user: { ...user, reference: { ...user.reference, comparable } } }
    },
  },

  'POST /users/unlock': {
    body: bodies.unlocking,
    answer: async ({ services, tenant, actor, input }) => ({
      rejections: await services.core.operations.users.unlock(tenant, actor, input.user_id),
    }),
  },

  'POST /users/export': {
    body: bodies.userQuestion,
    answer: ({ services, tenant, actor, input: { environment, user_id: userId } }) =>
      services.core.operations.exports.run(tenant, actor, { environment, userId }),
  },

  'POST /erase': {
    body: bodies.erasure,
    async answer({ services, tenant, actor, input: { environment, user_id: userId } }) {
      const { users } = services.core.operations
      const { receipt, isRepeated } = await users.erase(tenant, actor, { environment, userId })
      if (!isRepeated) services.countEffect(environment, 'erased')
      return erasureView(receipt, userId)
    },
  },
} satisfies Partial<TenantTable>
