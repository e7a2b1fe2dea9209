/** Operations on references that have taken captures in: restores them as they were enrolled. */
import type { Actor, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import { DomainError } from '../lib/domain-error.js'
import type { TenantRecord } from '../storage/records.js'
import type { Store } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'

export class AgeingOperations {
  constructor(
    private readonly audited: AuditedUnitOfWork,
    private readonly store: Pick<Store, 'transaction'>,
    private readonly vault: TemplateVault,
  ) {}

  /**
   * Deletes the aged template of a production user, or of every user of the tenant. A verify that is under way takes nothing in that was
   * made of a deleted template.
   * @param userId null for every user
   * @returns how many references are as they were enrolled again
   * @throws DomainError reference_not_found
   */
  async undo(tenant: TenantRecord, actor: Actor, userId: string | null): Promise<number> {
    return userId === null ? this.undoAll(tenant, actor) : this.undoOne(tenant, actor, userId)
  }

  private undoOne({ id }: TenantRecord, actor: Actor, userId: string): Promise<number> {
    return this.audited.run(id, actor, async (tx) => {
      const subject = await this.vault.find(tx, this.vault.blindIndex(id, 'production', userId), userId)
      if (!subject) throw new DomainError('reference_not_found')
      const restored = await tx.deleteAgedReferences(id, subject.record.id)
      const facts = { event: 'ageing_undone', subject: subject.pseudonym, references: restored } as const
      return { result: restored, facts }
    })
  }

  /** The entry counts all references, before the first of them is restored: a command that was killed is given again. */
  private async undoAll({ id }: TenantRecord, actor: Actor): Promise<number> {
    let restored = await this.audited.run(id, actor, async (tx) => {
      const references = await tx.countAgedReferences(id)
      const result = await tx.deleteAgedReferences(id, null)
      return { result, facts: { event: 'ageing_undone', references } }
    })
    for (let deleted = restored; deleted > 0; restored += deleted)
      deleted = await this.store.transaction({ tenantId: id }, (tx) => tx.deleteAgedReferences(id, null))
    return restored
  }
}
