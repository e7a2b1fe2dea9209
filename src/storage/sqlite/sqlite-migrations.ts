/**
 * The schema of the SQLite store, which follows from the declarations of tables: a database gets what it lacks of them. What they do not say
 * stands here. A version knows its own schema and those of releases; databases of builds in between are refused.
 */
import type { Database } from 'better-sqlite3'
import { tablesWith } from '../endings.js'
import { assertVersionKnown, type FoundPart, missingOf, newerSchema, SQLITE } from '../schema.js'
import type { Table } from '../table.js'

/** The version of the schema, `user_version` of a database. A change of the core's declarations raises it. */
export const SCHEMA_VERSION = 49
/** Schemas of releases before: that of 0.1.0. */
const RELEASED: readonly number[] = [5]

const TRIGGERS = `
  CREATE TRIGGER IF NOT EXISTS audit_no_update BEFORE UPDATE ON audit
  BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;
  CREATE TRIGGER IF NOT EXISTS audit_no_delete BEFORE DELETE ON audit
  BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;
  -- REPLACE deletes without firing the delete trigger; an entry comes at the end, or not at all.
  CREATE TRIGGER IF NOT EXISTS audit_in_order BEFORE INSERT ON audit
  WHEN NEW.sequence <> (SELECT coalesce(max(sequence), 0) + 1 FROM audit WHERE tenant_id = NEW.tenant_id)
  BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;
  -- A call that was under way when its tenant was deleted.
  CREATE TRIGGER IF NOT EXISTS subject_of_deleted_tenant BEFORE INSERT ON subject
  WHEN (SELECT deleted_at FROM tenant WHERE id = NEW.tenant_id) IS NOT NULL
  BEGIN SELECT RAISE (ABORT, 'the tenant is deleted'); END;
`

/** Changes of rows that a new schema needs, by its version. */
const STEPS: ReadonlyArray<{ to: number; sql: string }> = [
  {
    to: 49,
    sql: `INSERT INTO sandbox_user (lookup, tenant_id, used_at)
      SELECT lookup, tenant_id, unixepoch() * 1000 FROM subject WHERE environment = 'sandbox'`,
  },
]

/** "CSGN" marks the file as Countersign's, so that another application's database is refused instead of migrated. */
export const APPLICATION_ID = 0x4353474e
/** "CSGB" marks a backup, whose users' keys are in another file; it has to be restored first. */
export const BACKUP_APPLICATION_ID = 0x43534742

/**
 * Refuses a file without changing it.
 * @throws Error when the file is a backup, or belongs to another application; as `assertKnownSchema`
 */
export function assertOurs(database: Database): void {
  const application = database.pragma('application_id', { simple: true }) as number
  if (application === BACKUP_APPLICATION_ID)
    throw new Error('it is a backup: put it in place with `countersign restore`.')
  const tables = database.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() as number
  if (application !== APPLICATION_ID && tables > 0) throw new Error('it belongs to another application.')
  assertKnownSchema(database)
}

/** @throws Error when a newer version, or a build between two releases, made the schema */
export function assertKnownSchema(database: Database): void {
  const version = schemaVersion(database)
  if (version > SCHEMA_VERSION) throw newerSchema(version, SCHEMA_VERSION)
  assertVersionKnown(version, [0, ...RELEASED, SCHEMA_VERSION])
}

export function schemaVersion(database: Database): number {
  return database.pragma('user_version', { simple: true }) as number
}

/** Brings the schema up to date, with the tables of features, in one transaction. @throws as `assertOurs` */
export function migrate(database: Database, tables: readonly Table[] = []): void {
  database
    .transaction(() => {
      // Checked again under the lock, because another process may have migrated meanwhile.
      assertOurs(database)
      const version = schemaVersion(database)
      const wanted = version < SCHEMA_VERSION ? tablesWith(tables) : tables
      for (const sql of missingOf(wanted, SQLITE, partsOf(database))) database.exec(sql)
      if (version === SCHEMA_VERSION) return
      database.exec(TRIGGERS)
      for (const { to, sql } of STEPS) if (to > version) database.exec(sql)
      database.pragma(`application_id = ${APPLICATION_ID}`)
      database.pragma(`user_version = ${SCHEMA_VERSION}`)
    })
    .immediate()
}

function partsOf(database: Database): FoundPart[] {
  return database
    .prepare<[], FoundPart>(
      `SELECT one.name AS "table", own.name AS part FROM sqlite_schema AS one, pragma_table_xinfo(one.name) AS own
       WHERE one.type = 'table' UNION ALL SELECT tbl_name, name FROM sqlite_schema WHERE type = 'index'`,
    )
    .all()
}
