/** The routes that look up, unlock, export and erase a tenant's user. */
import { erasureView } from '../../admin/user-views.js'
import { userId } from '../../api/schemas.js'
import { tenantModels } from '../../tenants/tenant-models.js'
import { userQuestion } from '../lib/bodies.js'
import { READS, tenantRoute } from './route.js'

export const USER_ROUTES = {
  'POST /users/find': tenantRoute({
    right: 'read',
    harmless: READS,
    body: userQuestion,
    async answer({ services: { engine }, operations: { users }, tenant, input }) {
      const address = addressOf(input)
      const user = await users.find(tenant, address)
      if (!user) return { user }
      // References of the sandbox belong to no model, so that they stay comparable after a change of model.
      const deciding = tenantModels(tenant)?.deciding ?? engine.pack.modelId
      const models = await users.modelsOf(tenant, address)
      const comparable = input.environment === 'sandbox' || models.includes(deciding)
      return { user: { ...user, reference: { ...user.reference, comparable } } }
    },
  }),

  'POST /users/unlock': tenantRoute({
    // Only for the operator, as on the command line: unlocking a user allows further guesses at the face.
    right: 'admin',
    body: { user_id: userId },
    answer: async ({ operations, tenant, actor, input }) => ({
      rejections: await operations.users.unlock(tenant, actor, input.user_id),
    }),
  }),

  /** Everything that is kept about the user, apart from the templates. */
  'POST /users/export': tenantRoute({
    // It writes an audit entry.
    right: 'write',
    body: userQuestion,
    answer: ({ operations, tenant, actor, input }) => operations.exports.run(tenant, actor, addressOf(input)),
  }),

  'POST /erase': tenantRoute({
    right: 'write',
    body: userQuestion,
    async answer({ services, operations, tenant, actor, input }) {
      const { receipt, isRepeated } = await operations.users.erase(tenant, actor, addressOf(input))
      if (!isRepeated) services.countEffect(input.environment, 'erased')
      return erasureView(receipt, input.user_id)
    },
  }),
}

function addressOf<E>({ environment, user_id: userId }: { environment: E; user_id: string }) {
  return { environment, userId }
}
