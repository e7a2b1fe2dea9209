/**
 * Operations on a user's passkeys that the API and the dashboard share: list and revoke, and cancel a recovery; and the change of a tenant's
 * settings, for the command line and the dashboard.
 */

import type { Core } from '../../admin/core.js'
import type { Operations } from '../../admin/operations.js'
import type { UserAddress } from '../../admin/user-operations.js'
import type { AuditFacts } from '../../audit/audit-log.js'
import type { Actor, AuditedUnitOfWork, OpenUnitOfWork } from '../../audit/audited-unit-of-work.js'
import { eventAbout } from '../../events/events.js'
import type { Clock } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import type { TenantRecord } from '../../storage/records.js'
import type { StoreTransaction } from '../../storage/store.js'
import type { Subject } from '../../users/template-vault.js'
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
    user: UserAddress,
    passkeyId: string,
  ): Promise<void> {
    return this.change(tenant, by, user, async (tx, subject) => {
      const { record } = subject
      const passkeys = tx.statements(passkeyWriter)
      const passkey = (await this.passkeys.of(tx, subject)).find(({ record: { id } }) => id === passkeyId)
      if (!passkey || !(await passkeys.delete(record.id, passkeyId)))
        throw new DomainError('passkey_not_found')
      // Otherwise a revocation would make way for a weaker factor.
      const settings = passkeySettings(tenant) ?? PASSKEY_DEFAULTS
      await passkeys.setState({ ...record, revokedPasskey: strongestOf(settings, record, [passkey]) })
      const data = { user_id: user.userId, passkey_id: passkeyId }
      await this.parts.events.put(tx, eventAbout(subject, 'user.passkey_revoked', data))
      return { event: 'passkey_revoked', subject: subject.pseudonym, passkey_id: passkeyId }
    })
  }

  /** Cancels a recovery that waits. @throws DomainError reference_not_found, passkey_recovery_not_found */
  cancelRecovery(tenant: TenantRecord, by: Actor | OpenUnitOfWork, user: UserAddress): Promise<void> {
    return this.change(tenant, by, user, async (tx, subject) => ({
      event: 'passkey_recovery_cancelled',
      subject: subject.pseudonym,
      passkey_recovery_cancelled: await cancelRecovery(tx, this.parts, { userId: user.userId, subject }),
    }))
  }

  private change(
    { id }: TenantRecord,
    by: Actor | OpenUnitOfWork,
    { environment, userId }: UserAddress,
    work: (tx: StoreTransaction, subject: Subject) => Promise<AuditFacts>,
  ): Promise<void> {
    const { vault, operations } = this.parts
    const blindIndex = vault.blindIndex(id, environment, userId)
    const found = async (tx: StoreTransaction) => {
      const subject = await vault.find(tx, blindIndex, userId)
      if (!subject) throw new DomainError('reference_not_found')
      return { result: undefined, facts: await work(tx, subject) }
    }
    return operations.audited.run(id, by, found, { isAudited: environment === 'production' })
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
    await tx.statements(passkeyWriter).setSettings(json, id)
    const tenant = (await tx.tenantById(id))!
    const facts = { event: 'passkey_settings_changed' as const, ...settingsFacts(tenant), previous }
    return { result: tenant, facts }
  })
}

function settingsFacts(tenant: TenantRecord) {
  const { roots, ...view } = passkeySettingsView(tenant)
  return { ...view, roots: roots.map(fingerprintOf) }
}
