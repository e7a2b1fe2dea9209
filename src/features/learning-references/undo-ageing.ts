/** Restores references that have taken captures in as they were enrolled. */
import type { Core } from '../../admin/core.js'
import type { Actor } from '../../audit/audited-unit-of-work.js'
import { DomainError } from '../../lib/domain-error.js'
import type { TenantRecord } from '../../storage/records.js'
import { agedReferenceWriter } from './aged-references.js'

type Parts = Pick<Core, 'operations' | 'store' | 'vault'>

/**
 * Deletes the aged template of a production user, or of every user of the tenant. A verify that is under way takes nothing in that was
 * made of a deleted template.
 * @param userId null for every user
 * @returns how many references are as they were enrolled again
 * @throws DomainError reference_not_found
 */
export function undoAgeing(
  parts: Parts,
  { id }: TenantRecord,
  actor: Actor,
  userId: string | null,
): Promise<number> {
  if (userId === null) return undoAll(parts, id, actor)
  const { operations, vault } = parts
  return operations.audited.run(id, actor, async (tx) => {
    const subject = await vault.find(tx, vault.blindIndex(id, 'production', userId), userId)
    if (!subject) throw new DomainError('reference_not_found')
    const references = await tx.statements(agedReferenceWriter).delete(id, subject.record.id)
    const facts = { event: 'ageing_undone', subject: subject.pseudonym, references } as const
    return { result: references, facts }
  })
}

/** The entry counts all references, before the first of them is restored: a command that was killed is given again. */
async function undoAll({ operations, store }: Parts, tenantId: string, actor: Actor): Promise<number> {
  let restored = await operations.audited.run(tenantId, actor, async (tx) => {
    const aged = tx.statements(agedReferenceWriter)
    const references = await aged.count(tenantId)
    return { result: await aged.delete(tenantId, null), facts: { event: 'ageing_undone', references } }
  })
  for (let deleted = restored; deleted > 0; restored += deleted)
    deleted = await store.transaction({ tenantId }, (tx) =>
      tx.statements(agedReferenceWriter).delete(tenantId, null),
    )
  return restored
}
