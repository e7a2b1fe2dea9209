/** Operations on tenants: create, change the contract and the capture page, make login links. */
import { createHash } from 'node:crypto'
import type { Actor, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import type { Clock } from '../lib/clock.js'
import type { TenantRecord } from '../storage/records.js'
import type { StoreTransaction } from '../storage/store.js'
import { encodeLogo } from '../tenants/capture-logo.js'
import {
  type CapturePageSettings,
  capturePageSettings,
  checkedCapturePage,
} from '../tenants/capture-page-settings.js'
import {
  checkedPasskeys,
  fingerprintOf,
  type PasskeySettings,
  passkeySettings,
} from '../tenants/passkey-settings.js'
import type { Contract, CreatedTenant, GrantedContract, Tenancy } from '../tenants/tenancy.js'
import { TenancyError } from '../tenants/tenancy-error.js'
import { createLoginLink } from './accounts/login-link.js'

export interface TenantWithLoginLink extends CreatedTenant {
  /** Signs the tenant in to the dashboard, once. */
  loginLink: string
}

export class TenantOperations {
  constructor(
    private readonly audited: AuditedUnitOfWork,
    private readonly tenancy: Tenancy,
    private readonly clock: Clock,
  ) {}

  /**
   * Makes a tenant. The first entry of its audit log has the actor and the contract.
   * @param adminUrl address of the dashboard, without a slash at its end
   * @throws TenancyError invalid_tenant_name, tenant_exists
   */
  create(name: string, actor: Actor, contract: Contract, adminUrl: string): Promise<TenantWithLoginLink> {
    const now = this.clock.now()
    return this.audited.runFound('installation', actor, async (tx) => {
      const created = await this.tenancy.add(tx, name, contract)
      const { tenant } = created
      const loginLink = await createLoginLink(tx, { tenantId: tenant.id, adminUrl, now })
      return {
        tenantId: tenant.id,
        result: { ...created, loginLink },
        facts: { event: 'tenant_created', name, ...contractFacts(tenant) },
      }
    })
  }

  /**
   * @param adminUrl address of the dashboard, without a slash at its end
   * @throws TenancyError tenant_suspended: nobody signs in for a suspended tenant
   */
  createLoginLink({ id: tenantId }: TenantRecord, actor: Actor, adminUrl: string): Promise<string> {
    const now = this.clock.now()
    return this.audited.run(tenantId, actor, async (tx) => {
      const { name, suspendedAt } = (await tx.tenantById(tenantId))!
      if (suspendedAt !== null)
        throw new TenancyError(
          'tenant_suspended',
          `The tenant ${name} is suspended, and nobody can sign in for it. Resume it first.`,
        )
      return {
        result: await createLoginLink(tx, { tenantId, adminUrl, now }),
        facts: { event: 'login_link_made' },
      }
    })
  }

  /** Records in every log that the database was restored to an earlier state. */
  noteRestored(actor: Actor): Promise<void> {
    return this.audited.runForAll(actor, async () => ({
      result: undefined,
      facts: { event: 'database_restored' },
    }))
  }

  /**
   * Changes the tenant's settings of the hosted capture page. @returns the tenant as it is now
   * @param settings all settings except the logo, which `setCaptureLogo` changes
   * @throws CapturePageError invalid_origin, invalid_company, invalid_consent, invalid_color
   */
  async setCapturePage(
    { id }: TenantRecord,
    actor: Actor,
    settings: Omit<CapturePageSettings, 'logo'>,
  ): Promise<TenantRecord> {
    // Invalid settings are refused before a transaction begins.
    checkedCapturePage({ ...settings, logo: null })
    return this.changeCapturePage(id, actor, async (_tx, present) => ({ ...settings, logo: present.logo }))
  }

  /**
   * Sets or removes the logo of the hosted capture page. @returns the tenant as it is now
   * @param file a PNG or WebP of at most 512 KiB and 4 megapixels, which is encoded again; null for none
   * @throws CapturePageError invalid_logo
   */
  async setCaptureLogo({ id }: TenantRecord, actor: Actor, file: Uint8Array | null): Promise<TenantRecord> {
    const made = file && (await encodeLogo(file))
    return this.changeCapturePage(id, actor, async (tx, present) => {
      if (!made) {
        await tx.deleteCaptureLogo(id)
        return { ...present, logo: null }
      }
      const { image, sha256, width, height } = made
      await tx.putCaptureLogo({ tenantId: id, sha256: Buffer.from(sha256, 'hex'), image })
      return { ...present, logo: { sha256, width, height } }
    })
  }

  private changeCapturePage(
    id: string,
    actor: Actor,
    change: (tx: StoreTransaction, present: CapturePageSettings) => Promise<CapturePageSettings>,
  ): Promise<TenantRecord> {
    return this.audited.run(id, actor, async (tx) => {
      const before = (await tx.tenantById(id))!
      await tx.setCapturePage(id, checkedCapturePage(await change(tx, capturePageSettings(before))))
      const tenant = (await tx.tenantById(id))!
      const previous = capturePageFacts(before)
      return {
        result: tenant,
        facts: { event: 'capture_page_changed', ...capturePageFacts(tenant), previous },
      }
    })
  }

  /**
   * Changes how the tenant uses passkeys. @returns the tenant as it is now
   * @param settings null to use none: registered passkeys are kept, and refused meanwhile
   * @throws PasskeySettingsError
   */
  async setPasskeys(
    { id }: TenantRecord,
    actor: Actor,
    settings: PasskeySettings | null,
  ): Promise<TenantRecord> {
    const json = settings && checkedPasskeys(settings)
    return this.audited.run(id, actor, async (tx) => {
      const previous = passkeyFacts((await tx.tenantById(id))!)
      await tx.setPasskeySettings(id, json)
      const tenant = (await tx.tenantById(id))!
      return {
        result: tenant,
        facts: { event: 'passkey_settings_changed', ...passkeyFacts(tenant), previous },
      }
    })
  }

  /** Changes the rate limit, the false match rate, the liveness requirement and the replacement window. @returns the tenant as it is now */
  setContract({ id }: TenantRecord, actor: Actor, contract: GrantedContract): Promise<TenantRecord> {
    const { ratePerSecond, fmr, requireLiveness, replaceVerdictMinutes } = contract
    return this.audited.run(id, actor, async (tx) => {
      const previous = contractFacts((await tx.tenantById(id))!)
      await this.tenancy.setContract(tx, id, { ratePerSecond, fmr, requireLiveness, replaceVerdictMinutes })
      const tenant = (await tx.tenantById(id))!
      return { result: tenant, facts: { event: 'contract_changed', ...contractFacts(tenant), previous } }
    })
  }
}

/** A contract as the audit log records it. Null stands for the configured default. */
function contractFacts(contract: GrantedContract) {
  const { ratePerSecond, fmr, requireLiveness, replaceVerdictMinutes } = contract
  return {
    rate_per_second: ratePerSecond,
    fmr,
    require_liveness: requireLiveness,
    replace_verdict_minutes: replaceVerdictMinutes,
  }
}

/** The settings of passkeys as the audit log records them. */
function passkeyFacts(tenant: TenantRecord) {
  const settings = passkeySettings(tenant)
  return {
    rp_id: settings?.rpId ?? null,
    origins: settings?.origins ?? [],
    synced: settings?.synced ?? null,
    registration: settings?.registration ?? null,
    recovery_hours: settings?.recoveryHours ?? null,
    roots: (settings?.roots ?? []).map(fingerprintOf),
    aaguids: settings?.aaguids ?? [],
  }
}

/** The settings of the hosted capture page as the audit log records them. */
function capturePageFacts(tenant: TenantRecord) {
  const { company, returnOrigins, frameAncestors, consent, color, logo } = capturePageSettings(tenant)
  return {
    company,
    return_origins: returnOrigins,
    frame_ancestors: frameAncestors,
    consent_version: consent?.version ?? null,
    consent_sha256: consent ? createHash('sha256').update(consent.text).digest('hex') : null,
    color,
    logo_sha256: logo?.sha256 ?? null,
  }
}
