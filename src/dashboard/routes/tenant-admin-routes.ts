/** The operator's routes for one tenant: its contract, its login links, its suspension and its deletion. */
import { assertLivenessServed } from '../../../models/pack/pack-grade.js'
import { tenantErasureView } from '../../admin/views.js'
import * as bodies from '../bodies.js'
import { DashboardError } from '../dashboard-error.js'
import { assertReached } from '../lib/assert-reached.js'
import { asSecret, type TenantTable } from './route.js'
import { tenantView } from './tenant-routes.js'

export const TENANT_ADMIN_ROUTES = {
  'PATCH /': {
    body: bodies.tenantContract,
    async answer({ services, tenant, actor, input }) {
      if (input.fmr !== null) assertReached(services, input.fmr)
      const contract = {
        ratePerSecond: input.rate_per_second,
        fmr: input.fmr,
        requireLiveness:
          input.require_liveness === undefined ? tenant.requireLiveness : input.require_liveness,
        replaceVerdictMinutes:
          input.replace_verdict_minutes === undefined
            ? tenant.replaceVerdictMinutes
            : input.replace_verdict_minutes,
      }
      assertLivenessServed(services.engine.pack, contract.requireLiveness ?? 'none', 'The contract')
      return tenantView(await services.core.operations.tenants.setContract(tenant, actor, contract))
    },
  },

  'POST /suspend': {
    answer: async ({ services, tenant, actor }) =>
      tenantView(await services.core.operations.lifecycle.suspend(tenant, actor)),
  },

  'POST /resume': {
    answer: async ({ services, tenant, actor }) =>
      tenantView(await services.core.operations.lifecycle.resume(tenant, actor)),
  },

  'DELETE /': {
    body: bodies.tenantDeletion,
    async answer({ services, tenant, actor, input }) {
      if (input.name !== tenant.name) throw new DashboardError('not_confirmed')
      return tenantErasureView(tenant, await services.core.operations.lifecycle.delete(tenant, actor))
    },
  },

  'POST /login-link': {
    givesSecret: true,
    status: 201,
    async answer({ services, tenant, actor }) {
      const { tenants } = services.core.operations
      return { login_link: asSecret(await tenants.createLoginLink(tenant, actor, services.urls().admin)) }
    },
  },
} satisfies Partial<TenantTable>
