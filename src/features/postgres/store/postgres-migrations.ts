/**
 * The schema of the PostgreSQL store, under the rules of `sqlite-migrations.ts`. Text is compared by its bytes, as in SQLite, in any collation of
 * the database. Services of the previous version keep working during and after a migration, so it only adds; columns that are not needed any
 * more are removed a release later.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { TABLES } from '../../../storage/endings.js'
import {
  assertVersionKnown,
  type FoundPart,
  missingOf,
  newerSchema,
  POSTGRES,
} from '../../../storage/schema.js'
import type { Table } from '../../../storage/table.js'
import { isLockTimeout } from './postgres-errors.js'
import { createIndexes } from './postgres-indexes.js'

/**
 * Tables that SQLite has no use for, by which services agree. Two keep their first names: `lane` has the lock partitions, and `duty` the leader
 * lease.
 */
const SHARED = `
  -- Locks under which all writing is done, each of some of the tenants; the token says whose commit was the last. What all agree on stands in
  -- every one, and is changed in all together.
  CREATE TABLE lane (
    id integer PRIMARY KEY,
    token text COLLATE "C" NOT NULL,
    keys_revision bigint NOT NULL DEFAULT 0,
    -- The oldest schema whose code may work with this one: a writer reads it under the lock.
    compatible_from bigint NOT NULL DEFAULT 1,
    -- A service that wraps under an earlier epoch writes nothing.
    oldest_epoch bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 10);
  INSERT INTO lane (id, token) SELECT number, '' FROM generate_series(1, 256) AS number;

  -- The service that does what one does for all.
  CREATE TABLE duty (
    id integer PRIMARY KEY CHECK (id = 1),
    holder text COLLATE "C" NOT NULL,
    ends_at timestamptz NOT NULL
  ) WITH (fillfactor = 10);
  INSERT INTO duty (id, holder, ends_at) VALUES (1, '', '-infinity');

  -- The password of the operator without a name.
  CREATE TABLE operator_password (
    id integer PRIMARY KEY CHECK (id = 1),
    hash text COLLATE "C" NOT NULL
  );

  -- Keys outside of the database that wrap users' data keys.
  CREATE TABLE epoch (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key_id text COLLATE "C" NOT NULL UNIQUE,
    announced_at bigint NOT NULL,
    activated_at bigint,
    settled_at bigint,
    retired_at bigint
  );
  -- One change at a time, whichever service begins it.
  CREATE UNIQUE INDEX epoch_unsettled ON epoch ((true)) WHERE settled_at IS NULL AND retired_at IS NULL;

  -- What services agree on while they run: nothing that a crash of the server may not lose.
  CREATE UNLOGGED TABLE node (
    id text COLLATE "C" PRIMARY KEY,
    lease_until timestamptz NOT NULL,
    -- Name of the service for the others, the schema that its code was made for, and what all are to have alike.
    name text COLLATE "C",
    version text COLLATE "C",
    schema bigint,
    started_at bigint,
    settings text COLLATE "C",
    epoch_loaded bigint,
    epoch_used bigint,
    master_keys text,
    -- Why it is not ready, as a JSON array of the reasons that its /readyz names, and the commit that it was built from.
    not_ready text COLLATE "C",
    build_commit text COLLATE "C"
  );
  CREATE UNLOGGED TABLE claim (
    scope bytea PRIMARY KEY,
    payload_hash bytea NOT NULL,
    node text COLLATE "C" NOT NULL,
    token text COLLATE "C" NOT NULL UNIQUE
  );
  CREATE INDEX claim_of_node ON claim (node);
  CREATE UNLOGGED TABLE bucket (
    holder text COLLATE "C" PRIMARY KEY,
    granted float8 NOT NULL,
    tokens float8 NOT NULL,
    at timestamptz NOT NULL
  );
`

/** A new schema gets them after its tables. */
const TRIGGERS = `
  -- A call that was under way when its tenant was deleted.
  CREATE FUNCTION refuse_subject_of_deleted_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF (SELECT deleted_at FROM tenant WHERE id = NEW.tenant_id) IS NOT NULL THEN
      RAISE EXCEPTION 'the tenant is deleted';
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER subject_of_deleted_tenant BEFORE INSERT ON subject
    FOR EACH ROW EXECUTE FUNCTION refuse_subject_of_deleted_tenant();
  CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
  END $$;
  CREATE TRIGGER audit_no_update BEFORE UPDATE OR DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
  CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
  -- An entry comes at the end, or not at all.
  CREATE FUNCTION refuse_audit_gap() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NEW.sequence <> (SELECT coalesce(max(sequence), 0) + 1 FROM audit WHERE tenant_id = NEW.tenant_id) THEN
      RAISE EXCEPTION 'the audit log is append-only';
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER audit_in_order BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION refuse_audit_gap();
  -- Every transaction sees by the lane whether the keys that it works with are those of the database.
  CREATE FUNCTION count_keyring_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE lane SET keys_revision = keys_revision + 1;
    RETURN NULL;
  END $$;
  CREATE TRIGGER keyring_change AFTER INSERT OR UPDATE OR DELETE ON keyring
    FOR EACH STATEMENT EXECUTE FUNCTION count_keyring_change();
`

/** Changes that the declarations do not say, by the version of the schema that needs them. */
const STEPS: Array<{ to: number; sql: string }> = []

/** Schemas of releases before: none. */
const RELEASED: readonly number[] = []

/** The schema version that this code works with. A change of the core's declarations raises it. */
export const SCHEMA = 41
/** Number of lock partitions: rows of the table `lane`. */
export const LOCK_PARTITIONS = 256
/**
 * The oldest schema version whose code may work with this schema. A step that removes something raises it to the first version whose code
 * does without it. It must never be the step's own version, because then every service would have to be stopped for the upgrade. Builds
 * of schemas before 5 cannot open records that are sealed under a key of their own (`sealed-box.ts`).
 */
const COMPATIBLE_FROM = 5

const APPLICATION = 'countersign'
/** "CSGN": the advisory lock under which schemas of this database are changed. */
const MIGRATION_LOCK = 0x4353474e
/** How long a process waits for another one that migrates at the same time. */
const TURN_MS = 60_000
/** A statement that waits for a table lock also blocks readers, so it gives up soon and tries again. */
const TABLE_LOCK_MS = 300
const RETRY_MS = 200
const RETRY_LIMIT_MS = 30_000

/**
 * Reads the version of the schema.
 * @returns 0 for a schema without tables
 * @throws Error when it belongs to another application, to a newer version with which this one may not work, or to a build between
 * two releases
 */
export async function schemaVersion(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{
    schema: string | null
    tables: number
    isMarked: boolean
  }>(
    `SELECT current_schema() AS schema, count(tablename) AS tables,
       count(*) FILTER (WHERE tablename = 'schema_version') > 0 AS "isMarked"
     FROM (SELECT 1) AS one LEFT JOIN pg_tables ON schemaname = current_schema()`,
  )
  const { schema, tables, isMarked } = rows[0]!
  if (schema === null) throw new Error('its search path leads to no schema.')
  if (tables === 0) return 0
  const marked = isMarked
    ? await client.query<{ application: string; version: number }>(
        `SELECT to_jsonb(one) ->> 'application' AS application, (to_jsonb(one) ->> 'version')::bigint AS version
         FROM schema_version AS one LIMIT 1`,
      )
    : null
  const found = marked?.rows[0]
  if (found?.application !== APPLICATION)
    throw new Error(
      `the schema ${schema} belongs to another application: give Countersign a database, or a schema, of its own.`,
    )
  if (found.version > SCHEMA) await assertCompatible(client, found.version)
  else assertVersionKnown(found.version, [...RELEASED, SCHEMA])
  return found.version
}

async function assertCompatible(client: ClientBase, version: number): Promise<void> {
  const { rows } = await client.query<{ compatibleFrom: number }>(
    'SELECT compatible_from AS "compatibleFrom" FROM lane WHERE id = 1',
  )
  if (rows[0]!.compatibleFrom > SCHEMA) throw newerSchema(version, SCHEMA)
}

/**
 * Brings the schema up to date, with the tables of features, in one transaction; when several processes start at once, one does it.
 * @throws as `schemaVersion`; Error while a service is running whose code the new schema does not support
 */
export async function migrate(client: ClientBase, tables: readonly Table[] = []): Promise<void> {
  // Without the lock, so that most starts, which find the schema up to date, do not wait.
  if ((await schemaVersion(client)) >= SCHEMA && (await missing(client, tables)).length === 0) return
  for (const untilMs = performance.now() + RETRY_LIMIT_MS; ; await sleep(RETRY_MS))
    try {
      await client.query(`BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${TURN_MS}`)
      await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
      const version = await schemaVersion(client)
      if (version < SCHEMA) await takeSteps(client, version)
      await addTables(client, tables)
      await client.query('COMMIT')
      return
    } catch (error) {
      await client.query('ROLLBACK')
      if (!isLockTimeout(error) || performance.now() > untilMs) throw error
    }
}

/**
 * Creates the schema inside the caller's transaction where there is none; waits for a process that changes it.
 * @returns the version that was found, 0 for none @throws as `schemaVersion`
 */
export async function createSchema(client: ClientBase, tables: readonly Table[]): Promise<number> {
  await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
  const version = await schemaVersion(client)
  if (version === 0) await takeSteps(client, 0)
  if (version === 0 || version === SCHEMA) await addTables(client, tables)
  return version
}

/**
 * Makes what is missing of the tables of features. They have no part in the version of the schema: services that do not know them go on
 * writing, and what they delete takes the rows along.
 */
async function addTables(client: ClientBase, tables: readonly Table[]): Promise<void> {
  const statements = await missing(client, tables)
  if (statements.length === 0) return
  // A new table locks those that it refers to.
  await client.query(`SET LOCAL lock_timeout = ${TABLE_LOCK_MS}`)
  for (const sql of statements) await client.query(sql)
}

async function missing(client: ClientBase, tables: readonly Table[]): Promise<string[]> {
  if (tables.length === 0) return []
  const { rows } = await client.query<FoundPart>(
    `SELECT relname AS table, attname AS part FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND attnum > 0 AND relname = ANY($1)
     UNION ALL SELECT tablename, indexname FROM pg_indexes WHERE schemaname = current_schema() AND tablename = ANY($1)`,
    [tables.map(({ name }) => name)],
  )
  return missingOf(tables, POSTGRES, rows)
}

async function takeSteps(client: ClientBase, version: number): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = ${TABLE_LOCK_MS}`)
  if (version === 0)
    await client.query(
      `CREATE TABLE schema_version (application text NOT NULL, version bigint NOT NULL);
       INSERT INTO schema_version (application, version) VALUES ('${APPLICATION}', 0)`,
    )
  else await assertNoneLeftBehind(client)
  if (version === 0) await client.query(SHARED)
  for (const sql of await missing(client, TABLES)) await client.query(sql)
  for (const { to, sql } of STEPS) if (to > version) await client.query(sql)
  if (version === 0) {
    await client.query(TRIGGERS)
    await createIndexes(client)
  }
  await client.query(`UPDATE schema_version SET version = ${SCHEMA}`)
  await client.query(`UPDATE lane SET compatible_from = ${COMPATIBLE_FROM}`)
}

/**
 * Keeps everybody from writing and services from beginning or renewing a lease until the commit, after which they find the new schema.
 * Locks whole tables, because a step may change them; `node` first, in the order in which a heartbeat locks them.
 * @throws Error that names the services whose code the new schema does not support
 */
async function assertNoneLeftBehind(client: ClientBase): Promise<void> {
  await client.query('LOCK TABLE node IN SHARE ROW EXCLUSIVE MODE')
  await client.query('LOCK TABLE lane IN ACCESS EXCLUSIVE MODE')
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM node WHERE lease_until > clock_timestamp() AND schema < ${COMPATIBLE_FROM}`,
  )
  if (rows.length > 0)
    throw new Error(
      `services of a version that cannot work with the new schema are running: ${rows.map(({ name }) => name).join(', ')}. Stop them first, or upgrade them to the version in between.`,
    )
}
