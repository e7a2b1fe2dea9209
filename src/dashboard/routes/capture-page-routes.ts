/** The routes for a tenant's settings of the hosted capture page: company, color, logo, return origins, frame ancestors and consent. */

import type { TenantRecord } from '../../storage/records.js'
import type { StoreReader } from '../../storage/store.js'
import { capturePageSettings, checkedCapturePage } from '../../tenants/capture-page-settings.js'
import * as bodies from '../bodies.js'
import type { CapturePageView } from '../contract.js'
import type { TenantTable } from './route.js'

export const CAPTURE_PAGE_ROUTES = {
  'GET /capture-page': {
    answer: async ({ services, tenant }) => capturePageView(services.core.store.read, tenant),
  },

  'POST /capture-page': {
    takesLargeBody: true,
    body: bodies.capturePage,
    async answer({ services, tenant, actor, input }) {
      const { store, operations } = services.core
      const settings = {
        company: input.company,
        returnOrigins: input.return_origins,
        frameAncestors: input.frame_ancestors,
        consent: input.consent,
        color: input.color,
      }
      // The settings are checked before the logo is set, so that a refusal of either changes nothing.
      checkedCapturePage({ ...settings, logo: null })
      const { logo } = input
      if (logo !== undefined)
        await operations.tenants.setCaptureLogo(
          tenant,
          actor,
          logo === null ? null : Buffer.from(logo, 'base64'),
        )
      return capturePageView(store.read, await operations.tenants.setCapturePage(tenant, actor, settings))
    },
  },
} satisfies Partial<TenantTable>

async function capturePageView(store: StoreReader, tenant: TenantRecord): Promise<CapturePageView> {
  const { company, returnOrigins, frameAncestors, consent, color, logo } = capturePageSettings(tenant)
  const picture = logo && (await store.captureLogo(tenant.id))
  return {
    tenant_name: tenant.name,
    company,
    return_origins: returnOrigins,
    frame_ancestors: frameAncestors,
    consent,
    color,
    logo: picture ? picture.image.toString('base64') : null,
  }
}
