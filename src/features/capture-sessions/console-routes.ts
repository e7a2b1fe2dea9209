/** The routes for a tenant's settings of the hosted capture page, and for the texts that people have agreed to there. */
import Type from 'typebox'
import { consentTextView } from '../../admin/user-views.js'
import { invalidInput } from '../../dashboard/lib/invalid-input.js'
import type { ConsoleTable } from '../../dashboard/lib/route.js'
import type { TenantRecord } from '../../storage/records.js'
import type { StoreReader } from '../../storage/store.js'
import type { FeatureHost } from '../feature.js'
import { CapturePageOperations } from './capture-page-operations.js'
import { capturePageSettings, checkedCapturePage } from './capture-page-settings.js'
import { capturePageReader } from './capture-tables.js'
import { consentTextsOf } from './consent-texts.js'

/** The routes, as the pages see them. */
export interface CapturePageRoutes {
  'GET /capture-page': { answer: CapturePageView }
  'POST /capture-page': { body: typeof capturePage; answer: CapturePageView }
  /** Finds the texts with the `consent_sha256` of an audit entry; 404 `consent_text_not_found` when none is kept, or none any more. */
  'GET /audit/consent-text': {
    query: { sha256: string }
    answer: { texts: Array<ReturnType<typeof consentTextView>> }
  }
}

/** A tenant's settings of the hosted capture page. */
export interface CapturePageView {
  tenant_name: string
  /** Name that the page shows, or null for the tenant's name. */
  company: string | null
  /** Origins to which the page may lead back. No session can be created while the list is empty. */
  return_origins: string[]
  /** Origins whose pages may show it in a frame. */
  frame_ancestors: string[]
  /** Consent text, or null for the page's own. */
  consent: { version: string; text: string } | null
  /** Color as #rrggbb, or null for the page's own. */
  color: string | null
  /** Logo as a PNG in base64, or null for none. */
  logo: string | null
}

const closed = { additionalProperties: false }
const origins = Type.Array(Type.String({ maxLength: 2048 }), { maxItems: 64 })

export const capturePage = Type.Object(
  {
    /** Name that the page shows; null for the tenant's name. */
    company: Type.Union([Type.String({ maxLength: 256 }), Type.Null()]),
    return_origins: origins,
    frame_ancestors: origins,
    /** Consent text; null for the page's own text. */
    consent: Type.Union([
      Type.Object(
        { version: Type.String({ maxLength: 256 }), text: Type.String({ maxLength: 8000 }) },
        closed,
      ),
      Type.Null(),
    ]),
    /** Color as #rrggbb; null for the page's own. */
    color: Type.Union([Type.String({ maxLength: 64 }), Type.Null()]),
    /** Logo as PNG or WebP; null removes it. Without this field the logo stays as it is. */
    logo: Type.Optional(Type.Union([Type.String({ minLength: 1, contentEncoding: 'base64' }), Type.Null()])),
  },
  closed,
)

export function capturePageRoutes(host: FeatureHost): ConsoleTable<CapturePageRoutes> {
  const { read } = host.store
  const page = new CapturePageOperations(host.operations.audited)
  return {
    'GET /capture-page': {
      answer: ({ tenant }) => viewOf(read, tenant),
    },

    'POST /capture-page': {
      takesLargeBody: true,
      body: capturePage,
      async answer({ tenant, actor, input }) {
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
          await page.setLogo(tenant, actor, logo === null ? null : Buffer.from(logo, 'base64'))
        return viewOf(read, await page.set(tenant, actor, settings))
      },
    },

    'GET /audit/consent-text': {
      async answer({ tenant, query }) {
        const sha256 = query.get('sha256')
        if (!sha256 || !/^[0-9a-f]{64}$/.test(sha256)) throw invalidInput('sha256', 'must be 64 hex digits')
        const texts = await consentTextsOf(host, tenant.id, Buffer.from(sha256, 'hex'))
        return { texts: texts.map(consentTextView) }
      },
    },
  }
}

async function viewOf(store: StoreReader, tenant: TenantRecord): Promise<CapturePageView> {
  const { company, returnOrigins, frameAncestors, consent, color, logo } = capturePageSettings(tenant)
  const picture = logo && (await store.statements(capturePageReader).logo(tenant.id))
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
