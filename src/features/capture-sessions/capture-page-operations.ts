/** Changes a tenant's settings of the hosted capture page, its logo included. */
import { createHash } from 'node:crypto'
import type { Actor, AuditedUnitOfWork } from '../../audit/audited-unit-of-work.js'
import { wire } from '../../lib/wire.js'
import type { TenantRecord } from '../../storage/records.js'
import { encodeLogo } from './capture-logo.js'
import { type CapturePageSettings, capturePageSettings, checkedCapturePage } from './capture-page-settings.js'
import { capturePageWriter } from './capture-tables.js'

/** The settings to change; the others stay. */
export type CapturePageChanges = Partial<Omit<CapturePageSettings, 'logo'>> & {
  /** A PNG or WebP of at most 512 KiB and 4 megapixels, which is encoded again; null for none. */
  logo?: Uint8Array | null | undefined
}

/**
 * Changes all of them, or none where one is refused. @returns the tenant as it is now
 * @throws CapturePageError invalid_origin, invalid_company, invalid_consent, invalid_color, invalid_logo
 */
export async function changeCapturePage(
  audited: AuditedUnitOfWork,
  known: TenantRecord,
  actor: Actor,
  { logo: file, ...changes }: CapturePageChanges,
): Promise<TenantRecord> {
  const { id } = known
  // Refused settings cost neither a look at the picture nor a transaction.
  checkedCapturePage({ ...capturePageSettings(known), ...changes })
  const made = file && (await encodeLogo(file))
  return audited.run(id, actor, async (tx) => {
    const { setSettings, putLogo, deleteLogo } = tx.statements(capturePageWriter)
    const before = (await tx.tenantById(id))!
    const present = capturePageSettings(before)
    const logo = made === undefined ? present.logo : (made?.facts ?? null)
    await setSettings(id, checkedCapturePage({ ...present, ...changes, logo }))
    if (made === null) await deleteLogo(id)
    else if (made)
      await putLogo({ tenantId: id, sha256: Buffer.from(made.facts.sha256, 'hex'), image: made.image })
    const tenant = (await tx.tenantById(id))!
    const previous = factsOf(before)
    return { result: tenant, facts: { event: 'capture_page_changed', ...factsOf(tenant), previous } }
  })
}

/** The settings as the audit log records them. */
function factsOf(tenant: TenantRecord) {
  const settings = capturePageSettings(tenant)
  const { consent, logo } = settings
  return {
    ...wire(settings, 'company', 'returnOrigins', 'frameAncestors'),
    consent_version: consent?.version ?? null,
    consent_sha256: consent ? createHash('sha256').update(consent.text).digest('hex') : null,
    color: settings.color,
    logo_sha256: logo?.sha256 ?? null,
  }
}
