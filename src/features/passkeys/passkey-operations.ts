/**
 * Operations on a user's passkeys that the API and the dashboard share: list and revoke, and cancel a recovery; and the change of a tenant's
 * settings, for the command line and the dashboard.
 */

import type { Core } from '../../admin/core.js'
import type { Operations } from '../../admin/operations.js'
import type { UserAddress } from '../../admin/user-operations.js'
import type { Actor, AuditedUnitOfWork, OpenUnitOfWork } from '../../audit/audited-unit-of-work.js'
import type { Clock } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import type { TenantRecord } from '../../storage/records.js'
import { ownerOf } from '../../users/template-vault.js'
import { strongestOf } from './checks/passkey-check.js'
import { cancelRecovery } from './passkey-recovery.js'
import {
  checkedPasskeys,
  fingerprintOf,
  PASSKEY_DEFAULTS,
  type PasskeySettings,
  passkeySettings,
} from './passkey-settings.js'
import { passkeyWriter } from './passkey-table.js'
import { type Passkey, PasskeyVault } from './passkey-vault.js'
import { passkeySettingsView } from './passkey-views.js'

interface PasskeyOperationParts extends Pick<Core, 'store' | 'vault' | 'events'> {
  operations: Pick<Operations, 'audited'>
  clock: Clock
}

export class PasskeyOperations {
  private readonly passkeys: PasskeyVault

  constructor(private readonly parts: PasskeyOperationParts) {
    this.passkeys = new PasskeyVault(parts.vault, parts.clock)
  }

  /** The user's passkeys, oldest first. @throws DomainError reference_not_found for a user who is unknown */
  async list({ id }: TenantRecord, { environment, userId }: UserAddress): Promise<Passkey[]> {
    const { vault, store } = this.parts
    const subject = await vault.find(store.read, vault.blindIndex(id, environment, userId), userId)
    if (!subject) throw new DomainError('reference_not_found')
    return this.passkeys.of(store.read, subject)
  }

  /**
   * Deletes a passkey, which is refused from then on.
   * @param by who acts, or the unit of work of the API call
   * @throws DomainError reference_not_found, passkey_not_found
   */
  revoke(
    tenant: TenantRecord,
    by: Actor | OpenUnitOfWork,
    { environment, userId }: UserAddress,
    passkeyId: string,
  ): Promise<void> {
    const { id } = tenant
    const blindIndex = this.parts.vault.blindIndex(id, environment, userId)
    return this.parts.operations.audited.run(
      id,
      by,
      async (tx) => {
        const subject = await this.parts.vault.find(tx, blindIndex, userId)
        if (!subject) throw new DomainError('reference_not_found')
        const { record } = subject
        const passkeys = tx.statements(passkeyWriter)
        const passkey = (await this.passkeys.of(tx, subject)).find(({ record: { id } }) => id === passkeyId)
        if (!passkey || !(await passkeys.delete(record.id, passkeyId)))
          throw new DomainError('passkey_not_found')
        // Otherwise a revocation would make way for a weaker factor.
        const settings = passkeySettings(tenant) ?? PASSKEY_DEFAULTS
        const revokedPasskey = strongestOf(settings, record, [passkey])
        await passkeys.setState(record.id, { ...record, revokedPasskey })
        await this.parts.events.put(tx, {
          tenantId: id,
          environment,
          type: 'user.passkey_revoked',
          data: { user_id: userId, passkey_id: passkeyId },
          subject: ownerOf(subject),
        })
        return {
          result: undefined,
          facts: { event: 'passkey_revoked', subject: subject.pseudonym, passkey_id: passkeyId },
        }
      },
      { isAudited: environment === 'production' },
    )
  }

  /** Cancels a recovery that waits. @throws DomainError reference_not_found, passkey_recovery_not_found */
  cancelRecovery(
    { id: tenantId }: TenantRecord,
    by: Actor | OpenUnitOfWork,
    { environment, userId }: UserAddress,
  ): Promise<void> {
    const blindIndex = this.parts.vault.blindIndex(tenantId, environment, userId)
    return this.parts.operations.audited.run(
      tenantId,
      by,
      async (tx) => {
        const subject = await this.parts.vault.find(tx, blindIndex, userId)
        if (!subject) throw new DomainError('reference_not_found')
        const cancelled = await cancelRecovery(tx, this.parts, { tenantId, environment, userId, subject })
        return {
          result: undefined,
          facts: {
            event: 'passkey_recovery_cancelled',
            subject: subject.pseudonym,
            passkey_recovery_cancelled: cancelled,
          },
        }
      },
      { isAudited: environment === 'production' },
    )
  }
}

/**
 * Changes how a tenant uses passkeys.
 * @param settings null to use none: registered passkeys are kept, and refused meanwhile
 * @returns the tenant as it is now
 * @throws PasskeySettingsError
 */
export async function changeSettings(
  audited: AuditedUnitOfWork,
  { id }: TenantRecord,
  actor: Actor,
  settings: PasskeySettings | null,
): Promise<TenantRecord> {
  const json = settings && checkedPasskeys(settings)
  return audited.run(id, actor, async (tx) => {
    const previous = settingsFacts((await tx.tenantById(id))!)
    await tx.statements(passkeyWriter).setSettings(id, json)
    const tenant = (await tx.tenantById(id))!
    const facts = { event: 'passkey_settings_changed' as const, ...settingsFacts(tenant), previous }
    return { result: tenant, facts }
  })
}

/** The settings as the audit log records them. */
function settingsFacts(tenant: TenantRecord) {
  const { roots, ...view } = passkeySettingsView(tenant)
  return { ...view, roots: roots.map(fingerprintOf) }
}
