/** What the hosted capture page is for a tenant: its company, where it leads back to, who may frame it, and the consent. */
import type { TenantRecord } from '../storage/records.js'
import { capturePageSettings } from '../tenancy/capture-page-settings.js'
import * as bodies from './bodies.js'
import type { CapturePageView } from './contract.js'
import type { TenantTable } from './route.js'

export const CAPTURE_PAGE_ROUTES = {
  'GET /capture-page': {
    answer: async ({ tenant }) => capturePageView(tenant),
  },

  'POST /capture-page': {
    asksFreshSignIn: true,
    body: bodies.capturePage,
    async answer({ services, tenant, actor, input }) {
      const { tenants } = services.ledger.operations
      const settings = {
        ...capturePageSettings(tenant),
        company: input.company,
        returnOrigins: input.return_origins,
        frameAncestors: input.frame_ancestors,
        consent: input.consent,
      }
      return capturePageView(await tenants.setCapturePage(tenant, actor, settings))
    },
  },
} satisfies Partial<TenantTable>

function capturePageView(tenant: TenantRecord): CapturePageView {
  const { company, returnOrigins, frameAncestors, consent } = capturePageSettings(tenant)
  return {
    tenant_name: tenant.name,
    company,
    return_origins: returnOrigins,
    frame_ancestors: frameAncestors,
    consent,
  }
}
