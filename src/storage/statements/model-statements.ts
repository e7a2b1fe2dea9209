/** The SQL of the change from one model pack to another, and of the templates that it adds next to references. */
import type { Connection } from '../connection.js'
import type { ModelReader, ModelWriter } from '../readers-and-writers/model-store.js'
import type { FollowingReferenceRecord, ModelCoverage, ModelMigrationRecord } from '../records.js'
import { FOLLOWING_REFERENCE, MODEL_MIGRATION } from '../tables/index.js'

/** Templates deleted in one transaction: other writers wait meanwhile, and SQLite deletes on the thread that serves. */
const DELETED_AT_ONCE = 250

export function modelReader(database: Connection): ModelReader {
  const sql = {
    migration: database.prepare<[], ModelMigrationRecord>(
      `SELECT ${MODEL_MIGRATION.fields} FROM model_migration`,
    ),
    coverage: database.prepare<[number, string, string], ModelCoverage>(
      `SELECT subject.tenant_id AS "tenantId", count(*) AS users,
         count(CASE WHEN following.created_at >= ? THEN 1 END) AS recent,
         count(CASE WHEN reference.model = ? OR following.id IS NOT NULL THEN 1 END) AS covered
       FROM subject JOIN reference ON reference.subject_id = subject.id
       LEFT JOIN following_reference AS following ON following.reference_id = reference.id AND following.model = ?
       WHERE subject.environment = 'production' GROUP BY subject.tenant_id ORDER BY subject.tenant_id`,
    ),
    madeBy: database.prepare<
      [string, string, number],
      { blindIndex: Buffer; tenantId: string; referenceId: string }
    >(
      `SELECT subject.lookup AS "blindIndex", subject.tenant_id AS "tenantId", reference.id AS "referenceId"
       FROM reference JOIN subject ON subject.id = reference.subject_id
       WHERE reference.model = ? AND reference.id > ? AND subject.environment = 'production'
       ORDER BY reference.id LIMIT ?`,
    ),
  }
  return {
    modelMigration: async () => sql.migration.get(),
    modelCoverage: async (model, since) => sql.coverage.all(since, model, model),
    referencesMadeBy: async (model, after, limit) => sql.madeBy.all(model, after, limit),
  }
}

export function modelWriter(database: Connection): ModelWriter {
  const insert = (condition: string) => {
    const columns = Object.values(FOLLOWING_REFERENCE.columnOf)
    const values = Object.keys(FOLLOWING_REFERENCE.columnOf).map((field) => `@${field}`)
    return `INSERT INTO following_reference (${columns.join(', ')}) SELECT ${values.join(', ')} ${condition}
      ON CONFLICT (reference_id, model) DO UPDATE SET id = excluded.id, sealed = excluded.sealed, created_at = excluded.created_at`
  }
  const sql = {
    deleteMigration: database.prepare('DELETE FROM model_migration'),
    insertMigration: database.prepare(
      MODEL_MIGRATION.insert.replace('(', '(id, ').replace('VALUES (', 'VALUES (1, '),
    ),
    setModels: database.prepare('UPDATE tenant SET models = ? WHERE id = ?'),
    put: database.prepare<[FollowingReferenceRecord]>(
      insert('FROM reference WHERE reference.id = @referenceId'),
    ),
    putWhile: database.prepare<[FollowingReferenceRecord & { tenantId: string; models: string }]>(
      insert(
        'FROM reference JOIN tenant ON tenant.id = @tenantId AND tenant.models = @models WHERE reference.id = @referenceId',
      ),
    ),
    replace: database.prepare('UPDATE reference SET model = @model, sealed = @sealed WHERE id = @id'),
    deleteOne: database.prepare('DELETE FROM following_reference WHERE reference_id = ? AND model = ?'),
    deleteAged: database.prepare('DELETE FROM aged_reference WHERE reference_id = ?'),
    deleteSome: database.prepare(
      `DELETE FROM following_reference WHERE id IN
         (SELECT id FROM following_reference WHERE model = ? LIMIT ${DELETED_AT_ONCE})`,
    ),
  }
  return {
    putModelMigration: async (migration) => {
      sql.deleteMigration.run()
      if (migration) sql.insertMigration.run(migration)
    },
    setTenantModels: async (tenantId, models) => void sql.setModels.run(models, tenantId),
    putFollowingReference: async (template, only) => {
      const { changes } = await (only ? sql.putWhile.run({ ...template, ...only }) : sql.put.run(template))
      return changes === 1
    },
    replaceTemplate: async (reference) => {
      sql.replace.run(reference)
      sql.deleteOne.run(reference.id, reference.model)
      sql.deleteAged.run(reference.id)
    },
    deleteFollowingReferences: async (model) => (await sql.deleteSome.run(model)).changes,
  }
}
