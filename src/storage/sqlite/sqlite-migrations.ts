/**
 * The schema of the SQLite store, as steps: each takes a database from the schema of the step before to its own, the first an empty one. A new
 * database takes all steps, so the schema is written down once. The steps of a release are never edited. A change adds a step. A release merges
 * the steps since the last release into one, which keeps the last number (docs/internals/releasing.md): databases of builds in between are then refused.
 */
import type { Database } from 'better-sqlite3'
import { type FoundPart, missingOf, type OwnTable, SQLITE } from '../own-table.js'
import { assertStepLeadsTo, newerSchema, type SchemaStep, sqlAfter } from '../schema-steps.js'

/** The number of a step's schema, `to`, is the `user_version` of a database. */
const STEPS: SchemaStep[] = [
  // Release 0.1.0.
  {
    to: 5,
    sql: `
  CREATE TABLE tenant (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    rate_per_second REAL NOT NULL,
    burst INTEGER NOT NULL,
    fmr REAL,
    production_issued_at INTEGER,
    production_revealed_at INTEGER
  ) STRICT;

  CREATE TABLE api_key (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenant (id),
    type TEXT NOT NULL CHECK (type IN ('sandbox', 'production')),
    hash BLOB NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    valid_until INTEGER,
    revoked_at INTEGER
  ) STRICT;
  CREATE INDEX api_key_of_tenant ON api_key (tenant_id, created_at);

  CREATE TABLE signing_secret (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenant (id),
    sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    valid_until INTEGER
  ) STRICT;
  -- One current secret a tenant, whatever races.
  CREATE UNIQUE INDEX signing_secret_current ON signing_secret (tenant_id) WHERE valid_until IS NULL;
  CREATE INDEX signing_secret_of_tenant ON signing_secret (tenant_id, valid_until);

  CREATE TABLE subject (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenant (id),
    environment TEXT NOT NULL CHECK (environment IN ('sandbox', 'production')),
    lookup BLOB NOT NULL UNIQUE,
    wrapped_key BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    locked_until INTEGER,
    disabled_at INTEGER
  ) STRICT;

  CREATE TABLE reference (
    id TEXT PRIMARY KEY,
    subject_id TEXT NOT NULL UNIQUE REFERENCES subject (id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE capture (
    subject_id TEXT NOT NULL REFERENCES subject (id) ON DELETE CASCADE,
    digest BLOB NOT NULL,
    sealed BLOB NOT NULL,
    seen_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX capture_of_subject ON capture (subject_id, seen_at);
  CREATE INDEX capture_seen_at ON capture (seen_at);

  CREATE TABLE idempotency (
    scope BLOB PRIMARY KEY,
    lookup BLOB,
    subject_id TEXT,
    payload_hash BLOB NOT NULL,
    status INTEGER NOT NULL,
    sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX idempotency_lookup ON idempotency (lookup) WHERE lookup IS NOT NULL;
  CREATE INDEX idempotency_expires_at ON idempotency (expires_at);

  CREATE TABLE erasure (
    lookup BLOB PRIMARY KEY,
    erasure_id TEXT NOT NULL,
    erased_at INTEGER NOT NULL,
    reference_count INTEGER NOT NULL,
    capture_count INTEGER NOT NULL,
    idempotency_count INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX erasure_expires_at ON erasure (expires_at);

  CREATE TABLE audit (
    tenant_id TEXT NOT NULL REFERENCES tenant (id),
    sequence INTEGER NOT NULL,
    entry TEXT NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (tenant_id, sequence)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;
  CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;
  -- REPLACE deletes without firing the delete trigger; an entry comes at the end, or not at all.
  CREATE TRIGGER audit_in_order BEFORE INSERT ON audit
  WHEN NEW.sequence <> (SELECT coalesce(max(sequence), 0) + 1 FROM audit WHERE tenant_id = NEW.tenant_id)
  BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;

  CREATE TABLE audit_seal (
    tenant_id TEXT PRIMARY KEY REFERENCES tenant (id),
    sequence INTEGER NOT NULL,
    mac BLOB NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE keyring (
    master_key_id TEXT PRIMARY KEY,
    sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    -- How often the working keys were changed: users' keys of a backup fit copies of their own generation alone.
    generation INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  CREATE TABLE login_link (
    hash BLOB PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenant (id),
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE dashboard_session (
    hash BLOB PRIMARY KEY,
    -- NULL for the operator.
    tenant_id TEXT REFERENCES tenant (id),
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  },
  // Not released yet.
  {
    to: 49,
    sql: `
  -- How a tenant is served. Of a deleted tenant only its row and its audit log are kept.
  ALTER TABLE tenant ADD COLUMN suspended_at INTEGER;
  ALTER TABLE tenant ADD COLUMN deleted_at INTEGER;
  ALTER TABLE tenant ADD COLUMN require_liveness TEXT
    CHECK (require_liveness IN ('none', 'passive', 'active', 'both'));
  ALTER TABLE tenant ADD COLUMN capture_page TEXT;
  -- A contract may ask for a verdict before a reference is replaced; a user has one such verdict at most.
  ALTER TABLE tenant ADD COLUMN replace_verdict_minutes INTEGER;
  ALTER TABLE tenant ADD COLUMN policy_hash TEXT;
  ALTER TABLE tenant ADD COLUMN sandbox_policy_hash TEXT;
  ALTER TABLE tenant ADD COLUMN passkeys TEXT;
  ALTER TABLE tenant ADD COLUMN models TEXT;
  -- Time from which the verifies of a tenant are compared to notice drift.
  ALTER TABLE tenant ADD COLUMN drift_since INTEGER;

  -- Keys of 0.1.0 have no name and no bounds: they do everything, from anywhere.
  ALTER TABLE api_key ADD COLUMN name TEXT;
  ALTER TABLE api_key ADD COLUMN scopes TEXT;
  ALTER TABLE api_key ADD COLUMN networks TEXT;
  ALTER TABLE api_key ADD COLUMN certificate TEXT;

  ALTER TABLE subject ADD COLUMN replace_verdict TEXT;
  ALTER TABLE subject ADD COLUMN replace_verdict_at INTEGER;
  -- The recovery of a lost passkey, and the strongest passkey that was revoked: neither opens the way for a weaker one.
  ALTER TABLE subject ADD COLUMN passkey_recovery TEXT;
  ALTER TABLE subject ADD COLUMN passkey_recovery_at INTEGER;
  ALTER TABLE subject ADD COLUMN revoked_passkey TEXT;
  CREATE INDEX subject_of_tenant ON subject (tenant_id);
  -- A call that was under way when its tenant was deleted.
  CREATE TRIGGER subject_of_deleted_tenant BEFORE INSERT ON subject
  WHEN (SELECT deleted_at FROM tenant WHERE id = NEW.tenant_id) IS NOT NULL
  BEGIN SELECT RAISE (ABORT, 'the tenant is deleted'); END;

  -- Number of passkeys in the receipt of an erasure.
  ALTER TABLE erasure ADD COLUMN passkey_count INTEGER NOT NULL DEFAULT 0;

  -- Indexes of the audit log: by event; by the ids of verifications of production, with the erasures of their users. The column is computed
  -- from the entry, which the log's hashes cover, and takes no space outside of the index.
  ALTER TABLE audit ADD COLUMN event TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(entry) THEN json_extract(entry, '$.event') END) VIRTUAL;
  CREATE INDEX audit_event ON audit (tenant_id, event, sequence);
  CREATE INDEX audit_verification
    ON audit (tenant_id, CASE WHEN json_valid(entry) THEN json_extract(entry, '$.verification_id') END) WHERE event = 'verify';
  CREATE INDEX audit_erased
    ON audit (tenant_id, CASE WHEN json_valid(entry) THEN json_extract(entry, '$.subject') END) WHERE event = 'delete';

  -- Progress of the background verification of the audit logs, authenticated under a key that is not in the database.
  CREATE TABLE audit_walk (id INTEGER PRIMARY KEY CHECK (id = 1), state TEXT NOT NULL, mac BLOB NOT NULL) STRICT;

  -- Time of the last backup: one row at most.
  CREATE TABLE last_backup (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at INTEGER NOT NULL
  ) STRICT;

  -- Operators with names and roles. The operator's password belongs to none of them.
  CREATE TABLE operator (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL CHECK (role IN ('admin', 'viewer')),
    password_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_sign_in_at INTEGER,
    last_sign_in_by TEXT CHECK (last_sign_in_by IN ('password', 'oidc'))
  ) STRICT;

  -- One-time links that sign an operator in without a password, made at the command line; NULL for the operator without a name.
  CREATE TABLE operator_link (
    hash BLOB PRIMARY KEY,
    operator_id TEXT REFERENCES operator (id) ON DELETE CASCADE,
    expires_at INTEGER NOT NULL
  ) STRICT;

  -- Second factors, by the id of an operator, or 'operator' for the one without a name. They are in force from enrolled_at on.
  CREATE TABLE second_factor (
    id TEXT PRIMARY KEY,
    sealed BLOB NOT NULL,
    recovery TEXT NOT NULL,
    last_step INTEGER,
    enrolled_at INTEGER
  ) STRICT;

  -- People of tenants, who sign in under names of their own, and the links by which they do so first.
  CREATE TABLE person (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenant (id),
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL CHECK (role IN ('admin', 'viewer')),
    password_hash TEXT,
    origin TEXT NOT NULL CHECK (origin IN ('invited', 'provider')),
    created_at INTEGER NOT NULL,
    last_sign_in_at INTEGER,
    last_sign_in_by TEXT CHECK (last_sign_in_by IN ('password', 'oidc'))
  ) STRICT;
  CREATE INDEX person_of_tenant ON person (tenant_id, name);
  CREATE TABLE person_link (
    hash BLOB PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenant (id),
    person_id TEXT NOT NULL REFERENCES person (id),
    expires_at INTEGER NOT NULL
  ) STRICT;

  -- Address and times of dashboard sessions, and when and how their people last authenticated.
  ALTER TABLE dashboard_session ADD COLUMN operator_id TEXT REFERENCES operator (id);
  ALTER TABLE dashboard_session ADD COLUMN ends_at INTEGER;
  ALTER TABLE dashboard_session ADD COLUMN created_at INTEGER;
  ALTER TABLE dashboard_session ADD COLUMN last_used_at INTEGER;
  ALTER TABLE dashboard_session ADD COLUMN authenticated_at INTEGER;
  ALTER TABLE dashboard_session ADD COLUMN method TEXT;
  ALTER TABLE dashboard_session ADD COLUMN address TEXT;
  ALTER TABLE dashboard_session ADD COLUMN browser TEXT;
  ALTER TABLE dashboard_session ADD COLUMN person_id TEXT REFERENCES person (id);
  ALTER TABLE dashboard_session ADD COLUMN second_factor_at INTEGER;
  CREATE INDEX dashboard_session_of_tenant ON dashboard_session (tenant_id);

  -- Webhook endpoints with their recent successes and failures, and the deliveries to them.
  CREATE TABLE webhook_endpoint (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
    environment TEXT NOT NULL CHECK (environment IN ('sandbox', 'production')),
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    last_success_at INTEGER,
    last_failure_at INTEGER,
    last_failure TEXT,
    failures INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX webhook_endpoint_of_tenant ON webhook_endpoint (tenant_id, created_at);
  CREATE TABLE webhook_delivery (
    id TEXT PRIMARY KEY,
    event_id TEXT NOT NULL,
    endpoint_id TEXT NOT NULL REFERENCES webhook_endpoint (id) ON DELETE CASCADE,
    tenant_id TEXT NOT NULL,
    type TEXT NOT NULL,
    lookup BLOB,
    subject_id TEXT,
    sealed BLOB,
    status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'erased')),
    attempts INTEGER NOT NULL,
    next_attempt_at INTEGER,
    last_outcome TEXT,
    -- Id of the sender that is sending it.
    taken_by TEXT,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    expires_at INTEGER NOT NULL,
    CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))
  ) STRICT;
  CREATE INDEX webhook_delivery_due ON webhook_delivery (endpoint_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
  CREATE INDEX webhook_delivery_of_tenant ON webhook_delivery (tenant_id, created_at);
  CREATE INDEX webhook_delivery_lookup ON webhook_delivery (lookup) WHERE lookup IS NOT NULL;
  CREATE INDEX webhook_delivery_expires_at ON webhook_delivery (expires_at);

  -- Counted traffic for the charts of the dashboard.
  CREATE TABLE traffic (
    tenant_id TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
    resolution TEXT NOT NULL CHECK (resolution IN ('minute', 'hour')),
    at INTEGER NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (tenant_id, resolution, at)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX traffic_at ON traffic (resolution, at);

  -- The request log of the last days, in both environments. Its ids begin with their time.
  CREATE TABLE request_log (
    request_id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenant (id),
    environment TEXT NOT NULL CHECK (environment IN ('sandbox', 'production')),
    endpoint TEXT NOT NULL,
    status INTEGER NOT NULL,
    code TEXT,
    verdict TEXT,
    is_replay INTEGER NOT NULL,
    duration_ms REAL NOT NULL,
    key_id TEXT,
    address TEXT,
    client_request_id TEXT,
    verification_id TEXT,
    subject TEXT,
    sandbox_user TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX request_log_of_tenant ON request_log (tenant_id, environment, request_id);
  CREATE INDEX request_log_code ON request_log (tenant_id, environment, code, request_id) WHERE code IS NOT NULL;
  CREATE INDEX request_log_subject ON request_log (subject, request_id) WHERE subject IS NOT NULL;
  CREATE INDEX request_log_verification ON request_log (verification_id) WHERE verification_id IS NOT NULL;
  CREATE INDEX request_log_client ON request_log (client_request_id) WHERE client_request_id IS NOT NULL;

  -- Challenges: the steps that users were asked for in front of the camera, and the text of a typed action.
  CREATE TABLE challenge (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenant (id),
    environment TEXT NOT NULL CHECK (environment IN ('sandbox', 'production')),
    lookup BLOB NOT NULL,
    binding BLOB NOT NULL,
    steps TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    display BLOB
  ) STRICT;
  CREATE INDEX challenge_lookup ON challenge (lookup);
  CREATE INDEX challenge_expires_at ON challenge (expires_at);

  -- Sessions on the hosted capture page.
  CREATE TABLE capture_session (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenant (id),
    environment TEXT NOT NULL CHECK (environment IN ('sandbox', 'production')),
    key_id TEXT NOT NULL,
    lookup BLOB NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose IN ('verify', 'enroll')),
    sealed BLOB NOT NULL,
    link BLOB NOT NULL,
    browser BLOB,
    phone_link BLOB,
    phone_browser BLOB,
    consent_version TEXT,
    consented_at INTEGER,
    attempts INTEGER NOT NULL,
    answered TEXT,
    status TEXT NOT NULL CHECK (status IN ('open', 'completed', 'cancelled')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- When the expiry was sent to the webhooks.
    expiry_told_at INTEGER,
    -- Whether the result needs the proof of the browser that captured, and the digest of that proof.
    binding TEXT NOT NULL DEFAULT 'any' CHECK (binding IN ('same', 'any')),
    proof BLOB,
    -- When the person said that somebody else had begun the session.
    disowned_at INTEGER
  ) STRICT;
  CREATE INDEX capture_session_lookup ON capture_session (lookup);
  CREATE INDEX capture_session_expires_at ON capture_session (expires_at);

  -- Logos of tenants on the hosted capture page.
  CREATE TABLE capture_logo (
    tenant_id TEXT PRIMARY KEY REFERENCES tenant (id),
    sha256 BLOB NOT NULL,
    image BLOB NOT NULL
  ) STRICT;

  -- Texts that people have agreed to, by the hash that the audit log names.
  CREATE TABLE consent_text (
    tenant_id TEXT NOT NULL REFERENCES tenant (id),
    sha256 BLOB NOT NULL,
    version TEXT NOT NULL,
    language TEXT NOT NULL,
    text TEXT NOT NULL,
    first_agreed_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, sha256, version)
  ) STRICT;
  CREATE INDEX consent_text_of_tenant ON consent_text (tenant_id, first_agreed_at);

  -- Texts that capture sessions brought as their own, which may name their user and are deleted with the user.
  CREATE TABLE own_consent_text (
    tenant_id TEXT NOT NULL,
    subject_id TEXT NOT NULL REFERENCES subject (id) ON DELETE CASCADE,
    sha256 BLOB NOT NULL,
    version TEXT NOT NULL,
    language TEXT NOT NULL,
    sealed BLOB NOT NULL,
    first_agreed_at INTEGER NOT NULL,
    PRIMARY KEY (subject_id, sha256, version)
  ) STRICT;
  CREATE INDEX own_consent_text_hash ON own_consent_text (tenant_id, sha256, first_agreed_at);

  -- Users of the sandbox and when they were last used, to count them and to delete unused ones.
  CREATE TABLE sandbox_user (
    lookup BLOB PRIMARY KEY REFERENCES subject (lookup) ON DELETE CASCADE,
    tenant_id TEXT NOT NULL,
    used_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX sandbox_user_of_tenant ON sandbox_user (tenant_id);
  CREATE INDEX sandbox_user_used_at ON sandbox_user (used_at);
  INSERT INTO sandbox_user (lookup, tenant_id, used_at)
    SELECT lookup, tenant_id, unixepoch() * 1000 FROM subject WHERE environment = 'sandbox';

  -- The latest verifications of the sandbox. Those of production are found in the audit log.
  CREATE TABLE sandbox_verification (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    lookup BLOB NOT NULL,
    facts TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sandbox_verification_of_tenant ON sandbox_verification (tenant_id, id);
  CREATE INDEX sandbox_verification_of_user ON sandbox_verification (lookup);
  CREATE INDEX sandbox_verification_expires_at ON sandbox_verification (expires_at);

  -- Last uses of production users, and since when a tenant's policy erases users that nobody uses.
  CREATE TABLE user_activity (
    lookup BLOB PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenant (id),
    sealed BLOB NOT NULL,
    used_at INTEGER NOT NULL,
    notice_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX user_activity_unused ON user_activity (tenant_id, used_at) WHERE notice_at IS NULL;
  CREATE INDEX user_activity_noticed ON user_activity (tenant_id, notice_at) WHERE notice_at IS NOT NULL;
  CREATE TABLE retention_start (
    tenant_id TEXT PRIMARY KEY REFERENCES tenant (id),
    since INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Policies of tenants, in every version that was ever in force, and approvals that wait for a second person.
  CREATE TABLE policy_version (
    tenant_id TEXT NOT NULL REFERENCES tenant (id),
    hash TEXT NOT NULL,
    policy TEXT NOT NULL,
    first_set_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, hash)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE approval (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenant (id),
    environment TEXT NOT NULL CHECK (environment IN ('sandbox', 'production')),
    lookup BLOB NOT NULL,
    binding BLOB NOT NULL,
    policy_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX approval_expiry ON approval (expires_at);
  CREATE INDEX approval_user ON approval (lookup);

  -- Keys of the issuer, whose public halves check verdicts.
  CREATE TABLE verdict_key (
    id TEXT PRIMARY KEY,
    environment TEXT NOT NULL,
    sealed BLOB NOT NULL,
    published_at INTEGER NOT NULL,
    signs_from INTEGER NOT NULL,
    gone_at INTEGER
  ) STRICT;

  -- Passkeys of users.
  CREATE TABLE passkey (
    id TEXT PRIMARY KEY,
    subject_id TEXT NOT NULL REFERENCES subject (id) ON DELETE CASCADE,
    lookup BLOB NOT NULL UNIQUE,
    sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER
  ) STRICT;
  CREATE INDEX passkey_of_subject ON passkey (subject_id);

  -- Templates of further model packs, and the change from one pack to another. A reference that is deleted or replaced takes its
  -- templates along, also where an earlier version deletes it.
  CREATE TABLE following_reference (
    id TEXT PRIMARY KEY,
    reference_id TEXT NOT NULL REFERENCES reference (id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (reference_id, model)
  ) STRICT;
  CREATE TABLE model_migration (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    from_model TEXT NOT NULL,
    to_model TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    strict_fmr REAL,
    at_coverage REAL,
    at_time INTEGER,
    finishing_at INTEGER
  ) STRICT;

  -- Templates that references have become by captures that were taken in.
  CREATE TABLE aged_reference (
    id TEXT PRIMARY KEY,
    reference_id TEXT NOT NULL UNIQUE REFERENCES reference (id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  -- Counted verifies, by which a change of cameras or of people is noticed.
  CREATE TABLE drift (
    tenant_id TEXT NOT NULL REFERENCES tenant (id),
    model TEXT NOT NULL,
    at INTEGER NOT NULL,
    counts TEXT NOT NULL,
    blocks TEXT,
    PRIMARY KEY (tenant_id, model, at)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX drift_at ON drift (at);
  CREATE INDEX drift_newest ON drift (tenant_id, model) WHERE blocks IS NOT NULL;

  -- The OpenID provider: its keys, its clients, what it remembers of a sign-in, and requests of identity providers whose results the
  -- service reports to them.
  CREATE TABLE openid_key (
    id TEXT PRIMARY KEY,
    environment TEXT NOT NULL,
    sealed BLOB NOT NULL,
    published_at INTEGER NOT NULL,
    signs_from INTEGER NOT NULL,
    gone_at INTEGER
  ) STRICT;
  CREATE TABLE openid_client (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenant (id),
    environment TEXT NOT NULL,
    key_id TEXT NOT NULL,
    sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX openid_client_of_tenant ON openid_client (tenant_id);
  CREATE TABLE openid_state (
    lookup BLOB PRIMARY KEY,
    uid BLOB,
    grant_id BLOB,
    sealed BLOB NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    -- The user whom it names.
    user_lookup BLOB
  ) STRICT;
  CREATE INDEX openid_state_uid ON openid_state (uid) WHERE uid IS NOT NULL;
  CREATE INDEX openid_state_grant ON openid_state (grant_id) WHERE grant_id IS NOT NULL;
  CREATE INDEX openid_state_user ON openid_state (user_lookup) WHERE user_lookup IS NOT NULL;
  CREATE INDEX openid_state_expiry ON openid_state (expires_at);
  CREATE TABLE openid_callback (
    request BLOB PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    session_id TEXT,
    sealed BLOB NOT NULL,
    attempts INTEGER NOT NULL,
    next_at INTEGER,
    expires_at INTEGER NOT NULL,
    -- The user whom it names.
    lookup BLOB
  ) STRICT;
  CREATE INDEX openid_callback_next ON openid_callback (next_at) WHERE next_at IS NOT NULL;
  CREATE INDEX openid_callback_session ON openid_callback (session_id) WHERE session_id IS NOT NULL;
  CREATE INDEX openid_callback_user ON openid_callback (lookup) WHERE lookup IS NOT NULL;
  CREATE INDEX openid_callback_of_tenant ON openid_callback (tenant_id);
  CREATE INDEX openid_callback_expiry ON openid_callback (expires_at);
  `,
  },
]

/** "CSGN" marks the file as Countersign's, so that another application's database is refused instead of migrated. */
export const APPLICATION_ID = 0x4353474e
/** "CSGB" marks a backup, whose users' keys are in another file; it has to be restored first. */
export const BACKUP_APPLICATION_ID = 0x43534742
export const SCHEMA_VERSION = STEPS.at(-1)!.to

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
  assertStepLeadsTo(version, STEPS)
}

export function schemaVersion(database: Database): number {
  return database.pragma('user_version', { simple: true }) as number
}

/** Brings the schema up to date, with the tables of features, in one transaction. @throws as `assertOurs` */
export function migrate(database: Database, tables: readonly OwnTable[] = []): void {
  database
    .transaction(() => {
      // Checked again under the lock, because another process may have migrated meanwhile.
      assertOurs(database)
      const version = schemaVersion(database)
      if (version < SCHEMA_VERSION) {
        for (const sql of sqlAfter(version, STEPS)) database.exec(sql)
        database.pragma(`application_id = ${APPLICATION_ID}`)
        database.pragma(`user_version = ${SCHEMA_VERSION}`)
      }
      for (const sql of missingOf(tables, SQLITE, partsOf(database))) database.exec(sql)
    })
    .immediate()
}

function partsOf(database: Database): FoundPart[] {
  return database
    .prepare<[], FoundPart>(
      `SELECT one.name AS "table", own.name AS part FROM sqlite_schema AS one, pragma_table_info(one.name) AS own
       WHERE one.type = 'table' UNION ALL SELECT tbl_name, name FROM sqlite_schema WHERE type = 'index'`,
    )
    .all()
}
