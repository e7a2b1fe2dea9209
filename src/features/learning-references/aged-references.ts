/** The statements on aged templates. Their table is the core's, which reads an aged template together with its user. */
import { type Connection, type ReadConnection, reading, writing } from '../../storage/connection.js'
import type { AgedReferenceRecord } from '../../storage/records.js'
import { AGED_REFERENCE } from '../../storage/tables/ageing.js'

/** Templates deleted in one transaction: other writers wait meanwhile, and SQLite deletes on the thread that serves. */
const DELETED_AT_ONCE = 250

const OF_TENANT = `FROM aged_reference JOIN reference ON reference.id = aged_reference.reference_id
  JOIN subject ON subject.id = reference.subject_id WHERE subject.tenant_id = ?`

export function agedReferenceReader(database: ReadConnection) {
  return {
    count: reading(database).count<[tenantId: string]>(OF_TENANT),
  }
}

export function agedReferenceWriter(database: Connection) {
  const columns = Object.values(AGED_REFERENCE.columnOf)
  const values = Object.keys(AGED_REFERENCE.columnOf).map((field) => `@${field}`)
  const { hits, changes } = writing(database)
  // An aged template that is there, and that the caller has not seen, stays.
  const insert = hits<[AgedReferenceRecord]>(
    `INSERT INTO aged_reference (${columns.join(', ')}) SELECT ${values.join(', ')}
     FROM reference WHERE reference.id = @referenceId AND reference.model = @model
     ON CONFLICT (reference_id) DO NOTHING`,
  )
  const replace = hits<[AgedReferenceRecord & { before: string }]>(
    `UPDATE aged_reference SET id = @id, model = @model, sealed = @sealed, created_at = @createdAt
     WHERE id = @before AND reference_id = @referenceId
       AND EXISTS (SELECT 1 FROM reference WHERE reference.id = @referenceId AND reference.model = @model)`,
  )
  const deleteSome = changes<[tenantId: string]>(
    `DELETE FROM aged_reference WHERE id IN (SELECT aged_reference.id ${OF_TENANT} LIMIT ${DELETED_AT_ONCE})`,
  )
  const deleteOf = changes<[tenantId: string, subjectId: string]>(
    `DELETE FROM aged_reference WHERE id IN (SELECT aged_reference.id ${OF_TENANT} AND subject.id = ?)`,
  )
  return {
    ...agedReferenceReader(database),
    /**
     * Stores what a reference has become.
     * @param before id of the aged template from which the new one was made; null where it was made from the reference
     * @returns false where reference or aged template are not those any more, so that nothing was written
     */
    put: (aged: AgedReferenceRecord, before: string | null) =>
      before === null ? insert(aged) : replace({ ...aged, before }),
    /**
     * Deletes aged templates of a tenant, so that the references count as they were enrolled.
     * @param subjectId the user; null for some of all users
     * @returns how many; 0 when none is left
     */
    delete: (tenantId: string, subjectId: string | null) =>
      subjectId === null ? deleteSome(tenantId) : deleteOf(tenantId, subjectId),
  }
}
