/** Operations on a tenant's hosted capture page: change its settings, set or remove its logo. */
import { createHash } from 'node:crypto'
import type { Actor, AuditedUnitOfWork } from '../../audit/audited-unit-of-work.js'
import { wire } from '../../lib/wire.js'
import type { TenantRecord } from '../../storage/records.js'
import type { StoreTransaction } from '../../storage/store.js'
import { encodeLogo } from './capture-logo.js'
import { type CapturePageSettings, capturePageSettings, checkedCapturePage } from './capture-page-settings.js'
import { capturePageWriter } from './capture-tables.js'

export class CapturePageOperations {
  constructor(private readonly audited: AuditedUnitOfWork) {}

  /**
   * Changes the settings. @returns the tenant as it is now
   * @param settings all settings except the logo, which `setLogo` changes
   * @throws CapturePageError invalid_origin, invalid_company, invalid_consent, invalid_color
   */
  async set(
    { id }: TenantRecord,
    actor: Actor,
    settings: Omit<CapturePageSettings, 'logo'>,
  ): Promise<TenantRecord> {
    // Invalid settings are refused before a transaction begins.
    checkedCapturePage({ ...settings, logo: null })
    return this.change(id, actor, async (_tx, present) => ({ ...settings, logo: present.logo }))
  }

  /**
   * Sets or removes the logo. @returns the tenant as it is now
   * @param file a PNG or WebP of at most 512 KiB and 4 megapixels, which is encoded again; null for none
   * @throws CapturePageError invalid_logo
   */
  async setLogo({ id }: TenantRecord, actor: Actor, file: Uint8Array | null): Promise<TenantRecord> {
    const made = file && (await encodeLogo(file))
    return this.change(id, actor, async (tx, present) => {
      if (!made) {
        await tx.statements(capturePageWriter).deleteLogo(id)
        return { ...present, logo: null }
      }
      const { image, ...logo } = made
      const row = { tenantId: id, sha256: Buffer.from(logo.sha256, 'hex'), image }
      await tx.statements(capturePageWriter).putLogo(row)
      return { ...present, logo }
    })
  }

  private change(
    id: string,
    actor: Actor,
    change: (tx: StoreTransaction, present: CapturePageSettings) => Promise<CapturePageSettings>,
  ): Promise<TenantRecord> {
    return this.audited.run(id, actor, async (tx) => {
      const before = (await tx.tenantById(id))!
      const settings = checkedCapturePage(await change(tx, capturePageSettings(before)))
      await tx.statements(capturePageWriter).setSettings(id, settings)
      const tenant = (await tx.tenantById(id))!
      const previous = factsOf(before)
      return { result: tenant, facts: { event: 'capture_page_changed', ...factsOf(tenant), previous } }
    })
  }
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
