/** Operations on a user's passkeys that the API, the command line and the dashboard share: list and revoke, and cancel a recovery. */

import type { Core } from '../../admin/core.js'
import type { Operations } from '../../admin/operations.js'
import type { UserAddress } from '../../admin/user-operations.js'
import type { Actor, AuditedUnitOfWork, OpenUnitOfWork } from '../../audit/audited-unit-of-work.js'
import type { Clock } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import type { TenantRecord } from '../../storage/records.js'
import type { Store } from '../../storage/store.js'
import { PASSKEY_DEFAULTS, passkeySettings } from '../../tenants/passkey-settings.js'
import { ownerOf, type TemplateVault } from '../../users/template-vault.js'
import type { Outbox } from '../../webhooks/outbox.js'
import { strongestOf } from './passkey-check.js'
import { cancelRecovery } from './passkey-recovery.js'
import { type Passkey, PasskeyVault } from './passkey-vault.js'
import { inspectedPasskeyView, passkeyView } from './passkey-views.js'

interface PasskeyOperationParts extends Pick<Core, 'store' | 'vault' | 'outbox'> {
  operations: Pick<Operations, 'audited'>
  clock: Clock
}

export class PasskeyOperations {
  readonly outbox: Outbox
  private readonly audited: AuditedUnitOfWork
  private readonly store: Store
  private readonly vault: TemplateVault
  private readonly passkeys: PasskeyVault

  constructor({ operations, store, vault, outbox, clock }: PasskeyOperationParts) {
    this.outbox = outbox
    this.audited = operations.audited
    this.store = store
    this.vault = vault
    this.passkeys = new PasskeyVault(vault, clock)
  }

  /** The user's passkeys, oldest first. @throws DomainError reference_not_found for a user who is unknown */
  async list(tenant: TenantRecord, address: UserAddress): Promise<Array<ReturnType<typeof passkeyView>>> {
    return (await this.find(tenant, address)).map(passkeyView)
  }

  /** The user's passkeys with the state of their counters, oldest first. @throws DomainError reference_not_found for a user who is unknown */
  async inspect(
    tenant: TenantRecord,
    address: UserAddress,
  ): Promise<Array<ReturnType<typeof inspectedPasskeyView>>> {
    return (await this.find(tenant, address)).map(inspectedPasskeyView)
  }

  private async find({ id }: TenantRecord, { environment, userId }: UserAddress): Promise<Passkey[]> {
    const { vault, store, passkeys } = this
    const subject = await vault.find(store.read, vault.blindIndex(id, environment, userId), userId)
    if (!subject) throw new DomainError('reference_not_found')
    return passkeys.of(store.read, subject)
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
    const blindIndex = this.vault.blindIndex(id, environment, userId)
    return this.audited.run(
      id,
      by,
      async (tx) => {
        const subject = await this.vault.find(tx, blindIndex, userId)
        if (!subject) throw new DomainError('reference_not_found')
        const { record } = subject
        const passkey = (await this.passkeys.of(tx, subject)).find(({ record: { id } }) => id === passkeyId)
        if (!passkey || !(await tx.deletePasskey(record.id, passkeyId)))
          throw new DomainError('passkey_not_found')
        // Otherwise a revocation would make way for a weaker factor.
        const settings = passkeySettings(tenant) ?? PASSKEY_DEFAULTS
        const revokedPasskey = strongestOf(settings, record, [passkey])
        await tx.setPasskeyState(record.id, { ...record, revokedPasskey })
        await this.outbox.put(tx, {
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
    const blindIndex = this.vault.blindIndex(tenantId, environment, userId)
    return this.audited.run(
      tenantId,
      by,
      async (tx) => {
        const subject = await this.vault.find(tx, blindIndex, userId)
        if (!subject) throw new DomainError('reference_not_found')
        const cancelled = await cancelRecovery(tx, this, { tenantId, environment, userId, subject })
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
