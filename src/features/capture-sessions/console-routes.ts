/** The routes for a tenant's settings of the hosted capture page, and for the texts that people have agreed to there. */

import Type from 'typebox'
import { consentTextView } from '../../admin/user-views.js'
import { nullable } from '../../api/schemas.js'
import { base64, text } from '../../dashboard/lib/bodies.js'
import { asks, consoleRoute } from '../../dashboard/lib/route.js'
import { invalidField } from '../../lib/domain-error.js'
import { wire } from '../../lib/wire.js'
import type { TenantRecord } from '../../storage/records.js'
import type { StoreReader } from '../../storage/store.js'
import type { FeatureHost } from '../feature.js'
import { changeCapturePage } from './capture-page-operations.js'
import { capturePageSettings } from './capture-page-settings.js'
import { capturePageReader } from './capture-tables.js'
import { consentTextsOf } from './consent-texts.js'

const origins = Type.Array(text(2048), { maxItems: 64 })

export function capturePageRoutes(host: FeatureHost) {
  const { read } = host.store
  return {
    'GET /capture-page': consoleRoute({
      right: 'read',
      answer: ({ tenant }) => viewOf(read, tenant),
    }),

    'POST /capture-page': consoleRoute({
      right: 'write',
      takesLargeBody: true,
      body: {
        /** Name that the page shows; null for the tenant's name. */
        company: nullable(text(256)),
        return_origins: origins,
        frame_ancestors: origins,
        /** Consent text; null for the page's own text. */
        consent: nullable(
          Type.Object({ version: text(256), text: text(8000) }, { additionalProperties: false }),
        ),
        /** Color as #rrggbb; null for the page's own. */
        color: nullable(text(64)),
        /** Logo as PNG or WebP; null removes it. Without this field the logo stays as it is. */
        logo: Type.Optional(nullable(base64)),
      },
      async answer({ tenant, actor, input }) {
        const { return_origins: returnOrigins, frame_ancestors: frameAncestors, logo, ...rest } = input
        const changed = await changeCapturePage(host.operations.audited, tenant, actor, {
          ...rest,
          returnOrigins,
          frameAncestors,
          logo: typeof logo === 'string' ? Buffer.from(logo, 'base64') : logo,
        })
        return viewOf(read, changed)
      },
    }),

    /** Finds the texts with the `consent_sha256` of an audit entry; 404 `consent_text_not_found` when none is kept, or none any more. */
    'GET /audit/consent-text': consoleRoute({
      right: 'read',
      query: asks<{ sha256: string }>(),
      async answer({ tenant, query }) {
        const sha256 = query.get('sha256')
        if (!sha256 || !/^[0-9a-f]{64}$/.test(sha256)) throw invalidField('sha256', 'must be 64 hex digits')
        const texts = await consentTextsOf(host, tenant.id, Buffer.from(sha256, 'hex'))
        return { texts: texts.map(consentTextView) }
      },
    }),
  }
}

async function viewOf(store: StoreReader, tenant: TenantRecord) {
  const settings = capturePageSettings(tenant)
  const picture = settings.logo && (await store.statements(capturePageReader).logo(tenant.id))
  return {
    tenant_name: tenant.name,
    /**
     * Null for the tenant's name, the page's own text and the page's own color (#rrggbb). No session can be created while the list of
     * origins to which the page may lead back is empty; the pages of the other origins may show it in a frame.
     */
    ...wire(settings, 'company', 'returnOrigins', 'frameAncestors', 'consent', 'color'),
    /** Logo as a PNG in base64, or null for none. */
    logo: picture ? picture.image.toString('base64') : null,
  }
}
