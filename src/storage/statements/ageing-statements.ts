/** The SQL of aged templates. */

import type { Connection } from '../connection.js'
import type { AgeingReader, AgeingWriter } from '../readers-and-writers/ageing-store.js'
import type { AgedReferenceRecord } from '../records.js'
import { AGED_REFERENCE } from '../tables/index.js'

/** Templates deleted in one transaction: other writers wait meanwhile, and SQLite deletes on the thread that serves. */
const DELETED_AT_ONCE = 250

const OF_TENANT = `FROM aged_reference JOIN reference ON reference.id = aged_reference.reference_id
  JOIN subject ON subject.id = reference.subject_id WHERE subject.tenant_id = ?`

export function ageingReader(database: Connection): AgeingReader {
  const count = database.prepare<[string], { count: number }>(`SELECT count(*) AS count ${OF_TENANT}`)
  return { countAgedReferences: async (tenantId) => (await count.get(tenantId))!.count }
}

export function ageingWriter(database: Connection): AgeingWriter {
  const columns = Object.values(AGED_REFERENCE.columnOf)
  const values = Object.keys(AGED_REFERENCE.columnOf).map((field) => `@${field}`)
  const sql = {
    // An aged template that is there, and that the caller has not seen, stays.
    insert: database.prepare<[AgedReferenceRecord]>(
      `INSERT INTO aged_reference (${columns.join(', ')}) SELECT ${values.join(', ')}
       FROM reference WHERE reference.id = @referenceId AND reference.model = @model
       ON CONFLICT (reference_id) DO NOTHING`,
    ),
    replace: database.prepare<[AgedReferenceRecord & { before: string }]>(
      `UPDATE aged_reference SET id = @id, model = @model, sealed = @sealed, created_at = @createdAt
       WHERE id = @before AND reference_id = @referenceId
         AND EXISTS (SELECT 1 FROM reference WHERE reference.id = @referenceId AND reference.model = @model)`,
    ),
    deleteSome: database.prepare<[string]>(
      `DELETE FROM aged_reference WHERE id IN (SELECT aged_reference.id ${OF_TENANT} LIMIT ${DELETED_AT_ONCE})`,
    ),
    deleteOf: database.prepare<[string, string]>(
      `DELETE FROM aged_reference WHERE id IN (SELECT aged_reference.id ${OF_TENANT} AND subject.id = ?)`,
    ),
  }
  return {
    putAgedReference: async (aged, before) => {
      const { changes } = await (before === null
        ? sql.insert.run(aged)
        : sql.replace.run({ ...aged, before }))
      return changes === 1
    },
    deleteAgedReferences: async (tenantId, subjectId) =>
      (await (subjectId === null ? sql.deleteSome.run(tenantId) : sql.deleteOf.run(tenantId, subjectId)))
        .changes,
  }
}
