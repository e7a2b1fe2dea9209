/** The operator's routes for one tenant: its contract, its login links, its suspension and its deletion. */
import Type from 'typebox'
import { assertLivenessServed } from '../../../models/pack/pack-grade.js'
import { tenantErasureView } from '../../admin/views.js'
import { nullable } from '../../api/schemas.js'
import { LIVENESS_REQUIREMENTS } from '../../config/liveness-requirement.js'
import { DashboardError } from '../dashboard-error.js'
import { assertReached } from '../lib/assert-reached.js'
import { fmr, ratePerSecond, text } from '../lib/bodies.js'
import { asSecret, tenantRoute } from './route.js'
import { shownTenant } from './tenant-routes.js'

export const TENANT_ADMIN_ROUTES = {
  'PATCH /': tenantRoute({
    right: 'admin',
    body: {
      rate_per_second: ratePerSecond,
      fmr: nullable(fmr),
      require_liveness: Type.Optional(nullable(Type.Enum(LIVENESS_REQUIREMENTS))),
      /** Null when a reference may be replaced without a verdict. */
      replace_verdict_minutes: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 1440 }))),
    },
    async answer({ services, operations, tenant, actor, input }) {
      if (input.fmr !== null) assertReached(services, input.fmr)
      const {
        require_liveness: requireLiveness = tenant.requireLiveness,
        replace_verdict_minutes: replaceVerdictMinutes = tenant.replaceVerdictMinutes,
      } = input
      const bounds = { ratePerSecond: input.rate_per_second, fmr: input.fmr }
      const contract = { ...bounds, requireLiveness, replaceVerdictMinutes }
      assertLivenessServed(services.engine.pack, requireLiveness ?? 'none', 'The contract')
      return shownTenant(await operations.tenants.setContract(tenant, actor, contract))
    },
  }),

  'POST /suspend': tenantRoute({
    right: 'admin',
    answer: async ({ operations, tenant, actor }) =>
      shownTenant(await operations.lifecycle.suspend(tenant, actor)),
  }),

  'POST /resume': tenantRoute({
    right: 'admin',
    answer: async ({ operations, tenant, actor }) =>
      shownTenant(await operations.lifecycle.resume(tenant, actor)),
  }),

  'DELETE /': tenantRoute({
    right: 'admin',
    /** The tenant's name, again. */
    body: { name: text(64) },
    async answer({ operations, tenant, actor, input }) {
      if (input.name !== tenant.name) throw new DashboardError('not_confirmed')
      return tenantErasureView(tenant, await operations.lifecycle.delete(tenant, actor))
    },
  }),

  'POST /login-link': tenantRoute({
    right: 'admin',
    givesSecret: true,
    status: 201,
    answer: async ({ operations, urls, tenant, actor }) => ({
      login_link: asSecret(await operations.tenants.createLoginLink(tenant, actor, urls().admin)),
    }),
  }),
}
