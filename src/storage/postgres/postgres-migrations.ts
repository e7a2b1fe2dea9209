/**
 * The schema of the PostgreSQL store, as steps under the rules of `sqlite-migrations.ts`. No release before had a schema here, so the first step
 * makes today's. Text is compared by its bytes, as in SQLite, in any collation of the database. Services of the previous version keep working
 * during and after a step, so a step only adds; columns that are not needed any more are removed a release later.
 *
 * Two tables keep their first names: `lane` has the lock partitions, and `duty` the leader lease.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { type FoundPart, missingOf, type OwnTable, POSTGRES } from '../own-table.js'
import { assertStepLeadsTo, newerSchema, type SchemaStep, sqlAfter } from '../schema-steps.js'
import { isLockTimeout } from './postgres-errors.js'
import { createIndexes } from './postgres-indexes.js'

const STEPS: SchemaStep[] = [
  // Not released yet.
  {
    to: 41,
    sql: `
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

  CREATE TABLE tenant (
    id text COLLATE "C" PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    created_at bigint NOT NULL,
    rate_per_second double precision NOT NULL,
    burst bigint NOT NULL,
    fmr double precision,
    require_liveness text COLLATE "C" CHECK (require_liveness IN ('none', 'passive', 'active', 'both')),
    capture_page text COLLATE "C",
    production_issued_at bigint,
    production_revealed_at bigint,
    suspended_at bigint,
    -- Only the row and the audit log of a deleted tenant are kept.
    deleted_at bigint,
    -- A contract may ask for a verdict before a reference is replaced; a user has one such verdict at most.
    replace_verdict_minutes bigint,
    policy_hash text COLLATE "C",
    sandbox_policy_hash text COLLATE "C",
    passkeys text COLLATE "C",
    models text COLLATE "C",
    -- Time from which the verifies of a tenant are compared to notice drift.
    drift_since bigint
  );

  CREATE TABLE api_key (
    id text COLLATE "C" PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    type text COLLATE "C" NOT NULL CHECK (type IN ('sandbox', 'production')),
    hash bytea NOT NULL UNIQUE,
    hint text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    valid_until bigint,
    revoked_at bigint,
    -- A key without scopes and networks does everything, from anywhere.
    name text,
    scopes text,
    networks text,
    certificate text
  );
  CREATE INDEX api_key_of_tenant ON api_key (tenant_id, created_at);

  CREATE TABLE signing_secret (
    id text COLLATE "C" PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    sealed bytea NOT NULL,
    created_at bigint NOT NULL,
    valid_until bigint
  );
  -- One current secret a tenant, whatever races.
  CREATE UNIQUE INDEX signing_secret_current ON signing_secret (tenant_id) WHERE valid_until IS NULL;
  CREATE INDEX signing_secret_of_tenant ON signing_secret (tenant_id, valid_until);

  CREATE TABLE subject (
    id text COLLATE "C" PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('sandbox', 'production')),
    lookup bytea NOT NULL UNIQUE,
    wrapped_key bytea NOT NULL,
    created_at bigint NOT NULL,
    failures bigint NOT NULL,
    locked_until bigint,
    disabled_at bigint,
    replace_verdict text COLLATE "C",
    replace_verdict_at bigint,
    -- The recovery of a lost passkey, and the strongest passkey that was revoked: neither opens the way for a weaker one.
    passkey_recovery text COLLATE "C",
    passkey_recovery_at bigint,
    revoked_passkey text COLLATE "C"
  );
  CREATE INDEX subject_of_tenant ON subject (tenant_id);
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

  CREATE TABLE reference (
    id text COLLATE "C" PRIMARY KEY,
    subject_id text COLLATE "C" NOT NULL UNIQUE REFERENCES subject (id) ON DELETE CASCADE,
    model text COLLATE "C" NOT NULL,
    sealed bytea NOT NULL,
    created_at bigint NOT NULL
  );

  -- SQLite numbers its rows by itself, under this name.
  CREATE TABLE capture (
    rowid bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject_id text COLLATE "C" NOT NULL REFERENCES subject (id) ON DELETE CASCADE,
    digest bytea NOT NULL,
    sealed bytea NOT NULL,
    seen_at bigint NOT NULL
  );
  CREATE INDEX capture_of_subject ON capture (subject_id, seen_at);
  CREATE INDEX capture_seen_at ON capture (seen_at);

  CREATE TABLE challenge (
    id text COLLATE "C" PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('sandbox', 'production')),
    lookup bytea NOT NULL,
    binding bytea NOT NULL,
    steps text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    used_at bigint,
    -- The text of a typed action.
    display bytea
  );
  CREATE INDEX challenge_of_tenant ON challenge (tenant_id);
  CREATE INDEX challenge_lookup ON challenge (lookup);
  CREATE INDEX challenge_expires_at ON challenge (expires_at);

  CREATE TABLE idempotency (
    scope bytea PRIMARY KEY,
    lookup bytea,
    subject_id text COLLATE "C",
    payload_hash bytea NOT NULL,
    status bigint NOT NULL,
    sealed bytea NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
  );
  CREATE INDEX idempotency_lookup ON idempotency (lookup) WHERE lookup IS NOT NULL;
  CREATE INDEX idempotency_expires_at ON idempotency (expires_at);

  CREATE TABLE erasure (
    lookup bytea PRIMARY KEY,
    erasure_id text COLLATE "C" NOT NULL,
    erased_at bigint NOT NULL,
    reference_count bigint NOT NULL,
    capture_count bigint NOT NULL,
    idempotency_count bigint NOT NULL,
    expires_at bigint NOT NULL,
    passkey_count bigint NOT NULL DEFAULT 0
  );
  CREATE INDEX erasure_expires_at ON erasure (expires_at);

  CREATE TABLE audit (
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    sequence bigint NOT NULL,
    entry text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,
    -- Computed from the entry, which the log's hashes cover and which is canonical JSON: no blanks, and quotes inside a string escaped. A
    -- cast to JSON would refuse an entry that somebody has damaged.
    event text COLLATE "C" GENERATED ALWAYS AS (substring(entry FROM '"event":"([a-z0-9_]+)"')) STORED,
    PRIMARY KEY (tenant_id, sequence)
  );
  -- Further indexes of the log are in postgres-indexes.ts.
  CREATE INDEX audit_event ON audit (tenant_id, event, sequence);
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

  CREATE TABLE audit_seal (
    tenant_id text COLLATE "C" PRIMARY KEY REFERENCES tenant (id),
    sequence bigint NOT NULL,
    mac bytea NOT NULL
  );

  CREATE TABLE keyring (
    master_key_id text COLLATE "C" PRIMARY KEY,
    sealed bytea NOT NULL,
    created_at bigint NOT NULL,
    generation bigint NOT NULL
  );
  -- Every transaction sees by the lane whether the keys that it works with are those of the database.
  CREATE FUNCTION count_keyring_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE lane SET keys_revision = keys_revision + 1;
    RETURN NULL;
  END $$;
  CREATE TRIGGER keyring_change AFTER INSERT OR UPDATE OR DELETE ON keyring
    FOR EACH STATEMENT EXECUTE FUNCTION count_keyring_change();

  CREATE TABLE operator (
    id text COLLATE "C" PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    role text COLLATE "C" NOT NULL CHECK (role IN ('admin', 'viewer')),
    password_hash text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    last_sign_in_at bigint,
    last_sign_in_by text COLLATE "C" CHECK (last_sign_in_by IN ('password', 'oidc'))
  );

  -- One-time links that sign an operator in without a password, made at the command line; NULL for the operator without a name.
  CREATE TABLE operator_link (
    hash bytea PRIMARY KEY,
    operator_id text COLLATE "C" REFERENCES operator (id) ON DELETE CASCADE,
    expires_at bigint NOT NULL
  );

  -- Second factors, by the id of an operator, or 'operator' for the one without a name; not in force before enrolled_at.
  CREATE TABLE second_factor (
    id text COLLATE "C" PRIMARY KEY,
    sealed bytea NOT NULL,
    recovery text COLLATE "C" NOT NULL,
    last_step bigint,
    enrolled_at bigint
  );

  -- People of tenants, who sign in under names of their own, and the links by which they do so first.
  CREATE TABLE person (
    id text COLLATE "C" PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    name text COLLATE "C" NOT NULL UNIQUE,
    role text COLLATE "C" NOT NULL CHECK (role IN ('admin', 'viewer')),
    password_hash text COLLATE "C",
    origin text COLLATE "C" NOT NULL CHECK (origin IN ('invited', 'provider')),
    created_at bigint NOT NULL,
    last_sign_in_at bigint,
    last_sign_in_by text COLLATE "C" CHECK (last_sign_in_by IN ('password', 'oidc'))
  );
  CREATE INDEX person_of_tenant ON person (tenant_id, name);
  CREATE TABLE person_link (
    hash bytea PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    person_id text COLLATE "C" NOT NULL REFERENCES person (id),
    expires_at bigint NOT NULL
  );

  CREATE TABLE login_link (
    hash bytea PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    expires_at bigint NOT NULL
  );

  CREATE TABLE dashboard_session (
    hash bytea PRIMARY KEY,
    tenant_id text COLLATE "C" REFERENCES tenant (id),
    operator_id text COLLATE "C" REFERENCES operator (id),
    expires_at bigint NOT NULL,
    -- Address and times, and when and how the person last authenticated.
    ends_at bigint,
    created_at bigint,
    last_used_at bigint,
    authenticated_at bigint,
    method text COLLATE "C",
    address text COLLATE "C",
    browser text COLLATE "C",
    person_id text COLLATE "C" REFERENCES person (id),
    second_factor_at bigint
  );
  CREATE INDEX dashboard_session_of_tenant ON dashboard_session (tenant_id);

  CREATE TABLE last_backup (
    id integer PRIMARY KEY CHECK (id = 1),
    at bigint NOT NULL
  );

  CREATE TABLE webhook_endpoint (
    id text COLLATE "C" PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('sandbox', 'production')),
    url text COLLATE "C" NOT NULL,
    events text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    dropped bigint NOT NULL,
    last_success_at bigint,
    last_failure_at bigint,
    last_failure text COLLATE "C",
    failures bigint NOT NULL DEFAULT 0
  );
  CREATE INDEX webhook_endpoint_of_tenant ON webhook_endpoint (tenant_id, created_at);

  CREATE TABLE webhook_delivery (
    id text COLLATE "C" PRIMARY KEY,
    event_id text COLLATE "C" NOT NULL,
    endpoint_id text COLLATE "C" NOT NULL REFERENCES webhook_endpoint (id) ON DELETE CASCADE,
    tenant_id text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    lookup bytea,
    subject_id text COLLATE "C",
    sealed bytea,
    status text COLLATE "C" NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'erased')),
    attempts bigint NOT NULL,
    next_attempt_at bigint,
    last_outcome text COLLATE "C",
    -- Id of the sender that is sending it.
    taken_by text COLLATE "C",
    created_at bigint NOT NULL,
    finished_at bigint,
    expires_at bigint NOT NULL,
    CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))
  );
  CREATE INDEX webhook_delivery_due ON webhook_delivery (endpoint_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
  CREATE INDEX webhook_delivery_taken ON webhook_delivery (taken_by) WHERE taken_by IS NOT NULL;
  CREATE INDEX webhook_delivery_of_tenant ON webhook_delivery (tenant_id, created_at);
  CREATE INDEX webhook_delivery_lookup ON webhook_delivery (lookup) WHERE lookup IS NOT NULL;
  CREATE INDEX webhook_delivery_expires_at ON webhook_delivery (expires_at);

  CREATE TABLE traffic (
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
    resolution text COLLATE "C" NOT NULL CHECK (resolution IN ('minute', 'hour')),
    at bigint NOT NULL,
    counts text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, resolution, at)
  );
  CREATE INDEX traffic_at ON traffic (resolution, at);

  CREATE TABLE capture_session (
    id text COLLATE "C" PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('sandbox', 'production')),
    key_id text COLLATE "C" NOT NULL,
    lookup bytea NOT NULL,
    purpose text COLLATE "C" NOT NULL CHECK (purpose IN ('verify', 'enroll')),
    sealed bytea NOT NULL,
    link bytea NOT NULL,
    browser bytea,
    phone_link bytea,
    phone_browser bytea,
    consent_version text COLLATE "C",
    consented_at bigint,
    attempts bigint NOT NULL,
    answered text COLLATE "C",
    status text COLLATE "C" NOT NULL CHECK (status IN ('open', 'completed', 'cancelled')),
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    -- When the expiry was sent to the webhooks.
    expiry_told_at bigint,
    -- Whether the result needs the proof of the browser that captured, and the digest of that proof.
    binding text NOT NULL DEFAULT 'any' CHECK (binding IN ('same', 'any')),
    proof bytea,
    -- When the person said that somebody else had begun the session.
    disowned_at bigint
  );
  CREATE INDEX capture_session_of_tenant ON capture_session (tenant_id);
  CREATE INDEX capture_session_lookup ON capture_session (lookup);
  CREATE INDEX capture_session_expires_at ON capture_session (expires_at);

  -- Requests of the last days, in both environments. Their ids begin with their time.
  CREATE TABLE request_log (
    request_id text COLLATE "C" PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('sandbox', 'production')),
    endpoint text COLLATE "C" NOT NULL,
    status bigint NOT NULL,
    code text COLLATE "C",
    verdict text COLLATE "C",
    is_replay bigint NOT NULL,
    duration_ms double precision NOT NULL,
    key_id text COLLATE "C",
    address text COLLATE "C",
    client_request_id text COLLATE "C",
    verification_id text COLLATE "C",
    subject text COLLATE "C",
    sandbox_user text COLLATE "C"
  );
  CREATE INDEX request_log_of_tenant ON request_log (tenant_id, environment, request_id);
  CREATE INDEX request_log_code ON request_log (tenant_id, environment, code, request_id) WHERE code IS NOT NULL;
  CREATE INDEX request_log_subject ON request_log (subject, request_id) WHERE subject IS NOT NULL;
  CREATE INDEX request_log_verification ON request_log (verification_id) WHERE verification_id IS NOT NULL;
  CREATE INDEX request_log_client ON request_log (client_request_id) WHERE client_request_id IS NOT NULL;

  -- Progress of the background verification of the audit logs, authenticated under a key that is not in the database.
  CREATE TABLE audit_walk (id bigint PRIMARY KEY CHECK (id = 1), state text COLLATE "C" NOT NULL, mac bytea NOT NULL);

  -- Logos of tenants on the hosted capture page.
  CREATE TABLE capture_logo (
    tenant_id text COLLATE "C" PRIMARY KEY REFERENCES tenant (id),
    sha256 bytea NOT NULL,
    image bytea NOT NULL
  );

  -- Texts that people have agreed to, by the hash that the audit log names.
  CREATE TABLE consent_text (
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    sha256 bytea NOT NULL,
    version text COLLATE "C" NOT NULL,
    language text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    first_agreed_at bigint NOT NULL,
    PRIMARY KEY (tenant_id, sha256, version)
  );
  CREATE INDEX consent_text_of_tenant ON consent_text (tenant_id, first_agreed_at);

  -- Texts that capture sessions brought as their own, which may name their user and are deleted with the user.
  CREATE TABLE own_consent_text (
    tenant_id text COLLATE "C" NOT NULL,
    subject_id text COLLATE "C" NOT NULL REFERENCES subject (id) ON DELETE CASCADE,
    sha256 bytea NOT NULL,
    version text COLLATE "C" NOT NULL,
    language text COLLATE "C" NOT NULL,
    sealed bytea NOT NULL,
    first_agreed_at bigint NOT NULL,
    PRIMARY KEY (subject_id, sha256, version)
  );
  CREATE INDEX own_consent_text_hash ON own_consent_text (tenant_id, sha256, first_agreed_at);

  -- Users of the sandbox and when they were last used, to count them and to delete unused ones.
  CREATE TABLE sandbox_user (
    lookup bytea PRIMARY KEY REFERENCES subject (lookup) ON DELETE CASCADE,
    tenant_id text COLLATE "C" NOT NULL,
    used_at bigint NOT NULL
  );
  CREATE INDEX sandbox_user_of_tenant ON sandbox_user (tenant_id);
  CREATE INDEX sandbox_user_used_at ON sandbox_user (used_at);

  -- The latest verifications of the sandbox. Those of production are found in the audit log.
  CREATE TABLE sandbox_verification (
    id text COLLATE "C" PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL,
    lookup bytea NOT NULL,
    facts text COLLATE "C" NOT NULL,
    expires_at bigint NOT NULL
  );
  CREATE INDEX sandbox_verification_of_tenant ON sandbox_verification (tenant_id, id);
  CREATE INDEX sandbox_verification_of_user ON sandbox_verification (lookup);
  CREATE INDEX sandbox_verification_expires_at ON sandbox_verification (expires_at);

  -- Last uses of production users, and since when a tenant's policy erases users that nobody uses.
  CREATE TABLE user_activity (
    lookup bytea PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    sealed bytea NOT NULL,
    used_at bigint NOT NULL,
    notice_at bigint
  );
  CREATE INDEX user_activity_unused ON user_activity (tenant_id, used_at) WHERE notice_at IS NULL;
  CREATE INDEX user_activity_noticed ON user_activity (tenant_id, notice_at) WHERE notice_at IS NOT NULL;
  CREATE TABLE retention_start (
    tenant_id text COLLATE "C" PRIMARY KEY REFERENCES tenant (id),
    since bigint NOT NULL
  );

  -- Policies of tenants, in every version that was ever in force, and approvals that wait for a second person.
  CREATE TABLE policy_version (
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    hash text COLLATE "C" NOT NULL,
    policy text COLLATE "C" NOT NULL,
    first_set_at bigint NOT NULL,
    PRIMARY KEY (tenant_id, hash)
  );
  CREATE TABLE approval (
    id text COLLATE "C" PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    environment text COLLATE "C" NOT NULL CHECK (environment IN ('sandbox', 'production')),
    lookup bytea NOT NULL,
    binding bytea NOT NULL,
    policy_hash text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    used_at bigint
  );
  CREATE INDEX approval_expiry ON approval (expires_at);
  CREATE INDEX approval_user ON approval (lookup);

  -- Keys of the issuer, whose public halves check verdicts.
  CREATE TABLE verdict_key (
    id text COLLATE "C" PRIMARY KEY,
    environment text COLLATE "C" NOT NULL,
    sealed bytea NOT NULL,
    published_at bigint NOT NULL,
    signs_from bigint NOT NULL,
    gone_at bigint
  );

  -- Passkeys of users.
  CREATE TABLE passkey (
    id text COLLATE "C" PRIMARY KEY,
    subject_id text COLLATE "C" NOT NULL REFERENCES subject (id) ON DELETE CASCADE,
    lookup bytea NOT NULL UNIQUE,
    sealed bytea NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint
  );
  CREATE INDEX passkey_of_subject ON passkey (subject_id);

  -- Templates of further model packs, and the change from one pack to another. A reference that is deleted or replaced takes its
  -- templates along, also where an earlier version deletes it.
  CREATE TABLE following_reference (
    id text COLLATE "C" PRIMARY KEY,
    reference_id text COLLATE "C" NOT NULL REFERENCES reference (id) ON DELETE CASCADE,
    model text COLLATE "C" NOT NULL,
    sealed bytea NOT NULL,
    created_at bigint NOT NULL,
    UNIQUE (reference_id, model)
  );
  CREATE TABLE model_migration (
    id bigint PRIMARY KEY CHECK (id = 1),
    from_model text COLLATE "C" NOT NULL,
    to_model text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    strict_fmr double precision,
    at_coverage double precision,
    at_time bigint,
    finishing_at bigint
  );

  -- Templates that references have become by captures that were taken in.
  CREATE TABLE aged_reference (
    id text COLLATE "C" PRIMARY KEY,
    reference_id text COLLATE "C" NOT NULL UNIQUE REFERENCES reference (id) ON DELETE CASCADE,
    model text COLLATE "C" NOT NULL,
    sealed bytea NOT NULL,
    created_at bigint NOT NULL
  );

  -- Counted verifies, by which a change of cameras or of people is noticed.
  CREATE TABLE drift (
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    model text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    counts text COLLATE "C" NOT NULL,
    blocks text COLLATE "C",
    PRIMARY KEY (tenant_id, model, at)
  );
  CREATE INDEX drift_at ON drift (at);
  CREATE INDEX drift_newest ON drift (tenant_id, model) WHERE blocks IS NOT NULL;

  -- The OpenID provider: its keys, its clients, what it remembers of a sign-in, and requests of identity providers whose results the
  -- service reports to them.
  CREATE TABLE openid_key (
    id text COLLATE "C" PRIMARY KEY,
    environment text COLLATE "C" NOT NULL,
    sealed bytea NOT NULL,
    published_at bigint NOT NULL,
    signs_from bigint NOT NULL,
    gone_at bigint
  );
  CREATE TABLE openid_client (
    id text COLLATE "C" PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    environment text COLLATE "C" NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    sealed bytea NOT NULL,
    created_at bigint NOT NULL
  );
  CREATE INDEX openid_client_of_tenant ON openid_client (tenant_id);
  CREATE TABLE openid_state (
    lookup bytea PRIMARY KEY,
    uid bytea,
    grant_id bytea,
    sealed bytea NOT NULL,
    expires_at bigint NOT NULL,
    used_at bigint,
    -- The user whom it names.
    user_lookup bytea
  );
  CREATE INDEX openid_state_uid ON openid_state (uid) WHERE uid IS NOT NULL;
  CREATE INDEX openid_state_grant ON openid_state (grant_id) WHERE grant_id IS NOT NULL;
  CREATE INDEX openid_state_user ON openid_state (user_lookup) WHERE user_lookup IS NOT NULL;
  CREATE INDEX openid_state_expiry ON openid_state (expires_at);
  CREATE TABLE openid_callback (
    request bytea PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL REFERENCES tenant (id),
    session_id text COLLATE "C",
    sealed bytea NOT NULL,
    attempts bigint NOT NULL,
    next_at bigint,
    expires_at bigint NOT NULL,
    -- The user whom it names.
    lookup bytea
  );
  CREATE INDEX openid_callback_next ON openid_callback (next_at) WHERE next_at IS NOT NULL;
  CREATE INDEX openid_callback_session ON openid_callback (session_id) WHERE session_id IS NOT NULL;
  CREATE INDEX openid_callback_user ON openid_callback (lookup) WHERE lookup IS NOT NULL;
  CREATE INDEX openid_callback_of_tenant ON openid_callback (tenant_id);
  CREATE INDEX openid_callback_expiry ON openid_callback (expires_at);

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
  `,
  },
]

/** The schema version that this code works with. */
export const SCHEMA = STEPS.at(-1)!.to
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
  else assertStepLeadsTo(found.version, STEPS)
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
export async function migrate(client: ClientBase, tables: readonly OwnTable[] = []): Promise<void> {
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
export async function createSchema(client: ClientBase, tables: readonly OwnTable[]): Promise<number> {
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
async function addTables(client: ClientBase, tables: readonly OwnTable[]): Promise<void> {
  const statements = await missing(client, tables)
  if (statements.length === 0) return
  // A new table locks those that it refers to.
  await client.query(`SET LOCAL lock_timeout = ${TABLE_LOCK_MS}`)
  for (const sql of statements) await client.query(sql)
}

async function missing(client: ClientBase, tables: readonly OwnTable[]): Promise<string[]> {
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
  for (const sql of sqlAfter(version, STEPS)) await client.query(sql)
  if (version === 0) await createIndexes(client)
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
