/** The SQL of the change from one model pack to another, and of the templates that it adds next to references. */
import { type Connection, type ReadConnection, reading, writing } from '../connection.js'
import type { FollowingReferenceRecord, ModelCoverage, ModelMigrationRecord } from '../records.js'
import { FOLLOWING_REFERENCE, MODEL_MIGRATION, TENANT } from '../tables/index.js'

/** Templates deleted in one transaction: other writers wait meanwhile, and SQLite deletes on the thread that serves. */
const DELETED_AT_ONCE = 250

export function modelReader(database: ReadConnection) {
  const { rows, from } = reading(database)
  const coverage = rows<[number, string, string], ModelCoverage>(
    `SELECT subject.tenant_id AS "tenantId", count(*) AS users,
       count(CASE WHEN following.created_at >= ? THEN 1 END) AS recent,
       count(CASE WHEN reference.model = ? OR following.id IS NOT NULL THEN 1 END) AS covered
     FROM subject JOIN reference ON reference.subject_id = subject.id
     LEFT JOIN following_reference AS following ON following.reference_id = reference.id AND following.model = ?
     WHERE subject.environment = 'production' GROUP BY subject.tenant_id ORDER BY subject.tenant_id`,
  )
  return {
    /** The change that is under way; undefined for none. */
    modelMigration: from(MODEL_MIGRATION).row<[]>(''),
    /**
     * Counts the templates of a model, tenant by tenant, for every tenant with enrolled users in production. Reads all references.
     * @param since time from which templates next to references count as recent
     */
    modelCoverage: async (model: string, since: number) => coverage(since, model, model),
    /**
     * Blind indexes of up to `limit` production users whose reference was made by `model`, ordered by the id of the reference.
     * @param after id of the reference after which to begin (exclusive; empty for the start)
     */
    referencesMadeBy: rows<
      [model: string, after: string, limit: number],
      { blindIndex: Buffer; tenantId: string; referenceId: string }
    >(
      `SELECT subject.lookup AS "blindIndex", subject.tenant_id AS "tenantId", reference.id AS "referenceId"
       FROM reference JOIN subject ON subject.id = reference.subject_id
       WHERE reference.model = ? AND reference.id > ? AND subject.environment = 'production'
       ORDER BY reference.id LIMIT ?`,
    ),
  }
}

export function modelWriter(database: Connection) {
  const { changes, set } = writing(database)
  const insert = (condition: string) => {
    const columns = Object.values(FOLLOWING_REFERENCE.columnOf)
    const values = Object.keys(FOLLOWING_REFERENCE.columnOf).map((field) => `@${field}`)
    return `INSERT INTO following_reference (${columns.join(', ')}) SELECT ${values.join(', ')} ${condition}
      ON CONFLICT (reference_id, model) DO UPDATE SET id = excluded.id, sealed = excluded.sealed, created_at = excluded.created_at`
  }
  const sql = {
    deleteMigration: database.prepare('DELETE FROM model_migration'),
    putMigration: database.prepare(MODEL_MIGRATION.replace),
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
  }
  return {
    /** Inserts the change, or replaces it. @param migration null for none */
    putModelMigration: async (migration: ModelMigrationRecord | null) =>
      void (migration ? sql.putMigration.run(migration) : sql.deleteMigration.run()),
    /** To JSON; to null for none. */
    setTenantModels: set(TENANT, 'models'),
    /**
     * Puts a template next to a reference, and removes an earlier one of the same model.
     * @param only `models` of a tenant as the caller has read them; undefined for a caller that has read them in this transaction
     * @returns false where the tenant has other models meanwhile, or the reference is gone: then nothing was written
     */
    putFollowingReference: async (
      template: FollowingReferenceRecord,
      only?: { tenantId: string; models: string },
    ) => {
      const { changes } = await (only ? sql.putWhile.run({ ...template, ...only }) : sql.put.run(template))
      return changes === 1
    },
    /** Replaces model and content of a reference, and deletes the template of that model next to it and the aged one. Id and time stay. */
    replaceTemplate: async (reference: { id: string; model: string; sealed: Buffer }) => {
      sql.replace.run(reference)
      sql.deleteOne.run(reference.id, reference.model)
      sql.deleteAged.run(reference.id)
    },
    /** Deletes some of the templates of a model next to references. @returns how many; 0 when none is left */
    deleteFollowingReferences: changes<[model: string]>(
      `DELETE FROM following_reference WHERE id IN
         (SELECT id FROM following_reference WHERE model = ? LIMIT ${DELETED_AT_ONCE})`,
    ),
  }
}
