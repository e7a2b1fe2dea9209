/**
 * The SQL of a store over one connection: reads, and the writes that run inside a transaction. This file has tenants, users and the audit
 * log; dashboard, keys and webhooks have files of their own.
 */
import type { Environment } from '../../config/config.js'
import type { Connection } from '../connection.js'
import { EXPIRED_AT_ONCE, endings } from '../endings.js'
import type {
  ActivityRecord,
  AgedReferenceRecord,
  ApiKeyRecord,
  AuditRecord,
  AuditSealRecord,
  AuditVerificationRecord,
  CaptureRecord,
  ChallengeRecord,
  ErasureRecord,
  FollowingReferenceRecord,
  IdempotencyRecord,
  OwnConsentTextRecord,
  ReferenceRecord,
  SigningSecretRecord,
  Standing,
  SubjectRecord,
  TenantRecord,
} from '../records.js'
import type { StoreReader, StoreTransaction } from '../store.js'
import { joined, NOTHING_ERASED, type Table } from '../table.js'
import {
  ACTIVITY,
  AGED_REFERENCE,
  API_KEY,
  AUDIT,
  AUDIT_SEAL,
  CAPTURE,
  CHALLENGE,
  ERASURE,
  FOLLOWING_REFERENCE,
  IDEMPOTENCY,
  OWN_CONSENT_TEXT,
  REFERENCE,
  SIGNING_SECRET,
  SUBJECT,
  TENANT,
} from '../tables/index.js'
import { dashboardReader, dashboardWriter } from './dashboard-statements.js'
import { keysReader, keysWriter } from './key-statements.js'
import { modelReader, modelWriter } from './model-statements.js'
import { userRowReader } from './user-row-statements.js'
import { verificationReader, verificationWriter } from './verification-statements.js'
import { webhookReader, webhookWriter } from './webhook-statements.js'

/** The caller's key and tenant, and the secrets that sign the answer. */
const CALLER = joined<{ key: ApiKeyRecord; tenant: TenantRecord; secret: SigningSecretRecord }>({
  key: API_KEY,
  tenant: TENANT,
  secret: SIGNING_SECRET,
})
const AUDIT_END = joined<{ head: AuditRecord; seal: AuditSealRecord }>({ head: AUDIT, seal: AUDIT_SEAL })
const USER = joined<{
  subject: SubjectRecord
  reference: ReferenceRecord
  following: FollowingReferenceRecord
  aged: AgedReferenceRecord
}>({ subject: SUBJECT, reference: REFERENCE, following: FOLLOWING_REFERENCE, aged: AGED_REFERENCE })
const REFERENCED = joined<{ subject: SubjectRecord; reference: ReferenceRecord }>({
  subject: SUBJECT,
  reference: REFERENCE,
})

/** Reads committed state. One statement reads all that every call needs, because each statement may be a round trip to another machine. */
export function storeReader(database: Connection, tables: readonly Table[]): StoreReader {
  const sql = {
    tenantById: database.prepare<[string], TenantRecord>(
      `SELECT ${TENANT.fields} FROM tenant WHERE id = ?`,
      'brief',
    ),
    tenantByName: database.prepare<[string], TenantRecord>(
      `SELECT ${TENANT.fields} FROM tenant WHERE name = ?`,
    ),
    tenants: database.prepare<[], TenantRecord>(
      `SELECT ${TENANT.fields} FROM tenant ORDER BY created_at, id`,
    ),
    caller: database.prepare<[number, Buffer], Record<string, unknown>>(
      `SELECT ${CALLER.fields} FROM api_key JOIN tenant ON tenant.id = api_key.tenant_id
       LEFT JOIN signing_secret ON signing_secret.tenant_id = tenant.id
         AND (signing_secret.valid_until IS NULL OR signing_secret.valid_until > ?)
       WHERE api_key.hash = ? ORDER BY signing_secret.valid_until IS NOT NULL, signing_secret.created_at DESC`,
      'brief',
    ),
    apiKeys: database.prepare<[string], ApiKeyRecord>(
      `SELECT ${API_KEY.fields} FROM api_key WHERE tenant_id = ? ORDER BY created_at DESC, id DESC`,
    ),
    signingSecrets: database.prepare<[string, number], SigningSecretRecord>(
      `SELECT ${SIGNING_SECRET.fields} FROM signing_secret WHERE tenant_id = ? AND (valid_until IS NULL OR valid_until > ?)
       ORDER BY valid_until IS NOT NULL, created_at DESC`,
    ),
    user: database.prepare<[Buffer], Record<string, unknown>>(
      `SELECT ${USER.fields} FROM subject LEFT JOIN reference ON reference.subject_id = subject.id
       LEFT JOIN following_reference ON following_reference.reference_id = reference.id
       LEFT JOIN aged_reference ON aged_reference.reference_id = reference.id
       WHERE subject.lookup = ?`,
      'brief',
    ),
    referencesAfter: database.prepare<[string, Environment, Buffer, string, number], Record<string, unknown>>(
      `SELECT ${REFERENCED.fields} FROM subject JOIN reference ON reference.subject_id = subject.id
       WHERE subject.tenant_id = ? AND subject.environment = ? AND subject.lookup > ? AND reference.model = ?
       ORDER BY subject.lookup LIMIT ?`,
    ),
    subjectWithoutReference: database.prepare<[Buffer], SubjectRecord>(
      `SELECT ${SUBJECT.fields} FROM subject WHERE lookup = ?`,
    ),
    referencesOf: database.prepare<[string], { environment: Environment; count: number }>(
      `SELECT subject.environment, count(*) AS count FROM reference JOIN subject ON subject.id = reference.subject_id
       WHERE subject.tenant_id = ? GROUP BY subject.environment`,
    ),
    sandboxUserCount: database
      .prepare<[string, number], number>(
        'SELECT count(*) FROM (SELECT 1 FROM sandbox_user WHERE tenant_id = ? LIMIT ?) AS counted',
      )
      .pluck(),
    unusedSandboxUsers: database.prepare<[number, number], { blindIndex: Buffer; tenantId: string }>(
      `SELECT lookup AS "blindIndex", tenant_id AS "tenantId" FROM sandbox_user
       WHERE used_at <= ? ORDER BY used_at LIMIT ?`,
    ),
    blindIndexesOf: database
      .prepare<[string, number], Buffer>('SELECT lookup FROM subject WHERE tenant_id = ? LIMIT ?')
      .pluck(),
    // The LIMIT is a sum, because SQLite plans a statement again whenever a bare parameter is given as LIMIT.
    captureHistory: byCount((digests) =>
      database.prepare<unknown[], { last: number | null; matches: number; sealed: Buffer | null }>(
        `SELECT seen.last, seen.matches, newest.sealed
         FROM (SELECT max(rowid) AS last, count(CASE WHEN digest IN (${digests}) AND seen_at > ? THEN 1 END) AS matches
           FROM capture WHERE subject_id = ?) AS seen
         LEFT JOIN (SELECT sealed FROM capture WHERE subject_id = ? AND seen_at > ? AND length(sealed) > 0
           ORDER BY seen_at DESC LIMIT ? + 0) AS newest ON true`,
        'brief',
      ),
    ),
    standing: database.prepare<[number, Buffer], Omit<Standing, 'captures'> & CaptureRecord>(
      `SELECT subject.id AS id, failures, locked_until AS "lockedUntil", disabled_at AS "disabledAt",
         CASE subject.environment WHEN 'production' THEN tenant.policy_hash
           ELSE tenant.sandbox_policy_hash END AS "policyHash", ${CAPTURE.fields}
       FROM subject JOIN tenant ON tenant.id = subject.tenant_id
       LEFT JOIN capture ON capture.subject_id = subject.id AND capture.rowid > ?
       WHERE subject.lookup = ? ORDER BY capture.rowid`,
    ),
    activity: database.prepare<[Buffer], ActivityRecord>(
      `SELECT ${ACTIVITY.fields} FROM user_activity WHERE lookup = ?`,
    ),
    ownConsentTexts: database.prepare<[string], OwnConsentTextRecord>(
      `SELECT ${OWN_CONSENT_TEXT.fields} FROM own_consent_text WHERE subject_id = ?
       ORDER BY first_agreed_at, sha256, version`,
    ),
    challenge: database.prepare<[string], ChallengeRecord>(
      `SELECT ${CHALLENGE.fields} FROM challenge WHERE id = ?`,
      'brief',
    ),
    idempotency: database.prepare<[Buffer, number], IdempotencyRecord>(
      `SELECT ${IDEMPOTENCY.fields} FROM idempotency WHERE scope = ? AND expires_at > ?`,
      'brief',
    ),
    responseToPayload: database.prepare<[Buffer, Buffer, number], IdempotencyRecord>(
      `SELECT ${IDEMPOTENCY.fields} FROM idempotency
       WHERE lookup = ? AND payload_hash = ? AND created_at >= ? ORDER BY created_at LIMIT 1`,
    ),
    erasure: database.prepare<[Buffer, number], ErasureRecord>(
      `SELECT ${ERASURE.fields} FROM erasure WHERE lookup = ? AND expires_at > ?`,
      'brief',
    ),
    auditHead: database.prepare<[string], AuditRecord>(
      `SELECT ${AUDIT.fields} FROM audit WHERE tenant_id = ? ORDER BY sequence DESC LIMIT 1`,
    ),
    auditEnd: database.prepare<[string], Record<string, unknown>>(
      `SELECT ${AUDIT_END.fields} FROM tenant
       LEFT JOIN audit ON audit.tenant_id = tenant.id
         AND audit.sequence = (SELECT max(sequence) FROM audit AS whole WHERE whole.tenant_id = tenant.id)
       LEFT JOIN audit_seal ON audit_seal.tenant_id = tenant.id WHERE tenant.id = ?`,
    ),
    auditSeal: database.prepare<[string], AuditSealRecord>(
      `SELECT ${AUDIT_SEAL.fields} FROM audit_seal WHERE tenant_id = ?`,
    ),
    auditEntries: database.prepare<[string, number, number], AuditRecord>(
      `SELECT ${AUDIT.fields} FROM audit WHERE tenant_id = ? AND sequence > ? ORDER BY sequence LIMIT ?`,
    ),
    auditEntriesOfEvent: database.prepare<[string, string, number, number], AuditRecord>(
      `SELECT ${AUDIT.fields} FROM audit WHERE tenant_id = ? AND event = ? AND sequence > ? ORDER BY sequence LIMIT ?`,
    ),
    recentAuditEntriesOfEvent: database.prepare<[string, string, number, number], AuditRecord>(
      `SELECT ${AUDIT.fields} FROM audit WHERE tenant_id = ? AND event = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?`,
    ),
    recentAuditEntries: database.prepare<[string, number, number], AuditRecord>(
      `SELECT ${AUDIT.fields} FROM audit WHERE tenant_id = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?`,
    ),
    auditVerification: database.prepare<[], AuditVerificationRecord>('SELECT state, mac FROM audit_walk'),
    lastBackup: database.prepare<[], number>('SELECT at FROM last_backup').pluck(),
    tenantCount: database.prepare<[], number>('SELECT count(*) FROM tenant').pluck(),
    referenceCount: database
      .prepare<[Environment], number>(
        `SELECT count(*) FROM reference JOIN subject ON subject.id = reference.subject_id
         WHERE subject.environment = ?`,
      )
      .pluck(),
    referenceModels: database.prepare<[Environment, string], { model: string; amount: number }>(
      `SELECT reference.model AS model, count(*) AS amount
       FROM reference JOIN subject ON subject.id = reference.subject_id
       WHERE subject.environment = ? AND NOT EXISTS (SELECT 1 FROM following_reference AS following
         WHERE following.reference_id = reference.id AND following.model LIKE ?)
       GROUP BY reference.model ORDER BY reference.model`,
    ),
    auditCount: database.prepare<[], number>('SELECT count(*) FROM audit').pluck(),
  }
  return {
    statements: madeOnce(database),
    ...verificationReader(database),
    ...dashboardReader(database),
    ...keysReader(database, tables),
    ...modelReader(database),
    ...userRowReader(database, tables),
    ...webhookReader(database),
    tenantById: async (id) => sql.tenantById.get(id),
    tenantByName: async (name) => sql.tenantByName.get(name),
    tenants: async () => sql.tenants.all(),
    apiKeyByHash: async (hash, now) => {
      const rows = (await sql.caller.all(now, hash)).map(CALLER.split)
      const [first] = rows
      return (
        first && {
          key: first.key!,
          tenant: first.tenant!,
          secrets: rows.flatMap(({ secret }) => secret ?? []),
        }
      )
    },
    apiKeys: async (tenantId) => sql.apiKeys.all(tenantId),
    signingSecrets: async (tenantId, now) => sql.signingSecrets.all(tenantId, now),
    subject: async (blindIndex) => {
      const rows = (await sql.user.all(blindIndex)).map(USER.split)
      const [first] = rows
      if (!first) return undefined
      const { subject, reference, aged } = first
      const following = rows.flatMap((row) => row.following ?? [])
      return { subject: subject!, reference, following, aged }
    },
    referencesAfter: async (tenantId, environment, model, after, limit) => {
      const rows = await sql.referencesAfter.all(tenantId, environment, after, model, limit)
      return rows.map((row) => {
        const { subject, reference } = REFERENCED.split(row)
        return { subject: subject!, reference: reference! }
      })
    },
    subjectWithoutReference: async (blindIndex) => sql.subjectWithoutReference.get(blindIndex),
    referencesOf: async (tenantId) => {
      const counts = { production: 0, sandbox: 0 }
      for (const { environment, count } of await sql.referencesOf.all(tenantId)) counts[environment] = count
      return counts
    },
    countSandboxUsers: async (tenantId, limit) => (await sql.sandboxUserCount.get(tenantId, limit))!,
    unusedSandboxUsers: async (before, limit) => sql.unusedSandboxUsers.all(before, limit),
    blindIndexesOf: async (tenantId, limit) => sql.blindIndexesOf.all(tenantId, limit),
    captureHistory: async (subjectId, digests, since, limit) => {
      // SQL has no empty list: an empty digest matches no capture.
      const asked = digests.length > 0 ? digests : [Buffer.alloc(0)]
      const history = sql.captureHistory(asked.length)
      const rows = await history.all(...asked, since, subjectId, subjectId, since, limit)
      const { last, matches } = rows[0]!
      return { hasDigest: matches > 0, newest: rows.flatMap(({ sealed }) => sealed ?? []), last: last ?? 0 }
    },
    standing: async (blindIndex, last) => {
      const rows = await sql.standing.all(last, blindIndex)
      if (!rows[0]) return undefined
      const { id, failures, lockedUntil, disabledAt, policyHash } = rows[0]
      // Without later captures there is one row, whose capture has nothing but nulls.
      const captures = rows.flatMap(({ subjectId, digest, sealed, seenAt }) =>
        digest === null ? [] : { subjectId, digest, sealed, seenAt },
      )
      return { id, failures, lockedUntil, disabledAt, policyHash, captures }
    },
    activity: async (blindIndex) => sql.activity.get(blindIndex),
    ownConsentTextsOf: async (subjectId) => sql.ownConsentTexts.all(subjectId),
    challenge: async (id) => sql.challenge.get(id),
    idempotencyRecord: async (scope, now) => sql.idempotency.get(scope, now),
    responseToPayload: async (blindIndex, payloadHash, since) =>
      sql.responseToPayload.get(blindIndex, payloadHash, since),
    erasure: async (blindIndex, now) => sql.erasure.get(blindIndex, now),
    auditHead: async (tenantId) => sql.auditHead.get(tenantId),
    auditSeal: async (tenantId) => sql.auditSeal.get(tenantId),
    auditEnd: async (tenantId) => {
      const row = await sql.auditEnd.get(tenantId)
      const { head, seal } = row ? AUDIT_END.split(row) : { head: null, seal: null }
      return { head: head ?? undefined, seal: seal ?? undefined }
    },
    auditEntries: async (tenantId, after, limit) => sql.auditEntries.all(tenantId, after, limit),
    auditEntriesOfEvent: async (tenantId, event, after, limit) =>
      sql.auditEntriesOfEvent.all(tenantId, event, after, limit),
    recentAuditEntriesOfEvent: async (tenantId, event, before, limit) =>
      sql.recentAuditEntriesOfEvent.all(tenantId, event, before, limit),
    recentAuditEntries: async (tenantId, before, limit) =>
      sql.recentAuditEntries.all(tenantId, before, limit),
    auditVerification: async () => sql.auditVerification.get(),
    lastBackupAt: async () => (await sql.lastBackup.get()) ?? null,
    referenceModels: async (environment, besides) => sql.referenceModels.all(environment, besides),
    counts: async () => ({
      tenants: (await sql.tenantCount.get())!,
      references: {
        production: (await sql.referenceCount.get('production'))!,
        sandbox: (await sql.referenceCount.get('sandbox'))!,
      },
      auditEntries: (await sql.auditCount.get())!,
    }),
  }
}

/** @param onErase called when a user's key was deleted @param tables all, those of features included, those of features included */
export function storeTransaction(
  database: Connection,
  onErase: () => void,
  tables: readonly Table[],
): StoreTransaction {
  const ending = endings(database, tables)
  const sql = {
    insertTenant: database.prepare(TENANT.insert),
    setContract: database.prepare(
      `UPDATE tenant SET rate_per_second = @ratePerSecond, burst = @burst, fmr = @fmr,
       require_liveness = @requireLiveness, replace_verdict_minutes = @replaceVerdictMinutes WHERE id = @id`,
    ),
    setProductionIssued: database.prepare(
      'UPDATE tenant SET production_issued_at = ? WHERE id = ? AND production_issued_at IS NULL',
    ),
    setProductionRevealed: database.prepare('UPDATE tenant SET production_revealed_at = ? WHERE id = ?'),
    setSuspended: database.prepare('UPDATE tenant SET suspended_at = ? WHERE id = ?'),
    setDriftSince: database.prepare('UPDATE tenant SET drift_since = ? WHERE id = ?'),
    closeTenant: database.prepare(
      'UPDATE tenant SET deleted_at = @at, capture_page = NULL, passkeys = NULL, models = NULL WHERE id = @id',
    ),
    revokeApiKeysOfTenant: database.prepare(
      'UPDATE api_key SET revoked_at = @at WHERE tenant_id = @id AND revoked_at IS NULL',
    ),
    deletePersonSessions: database.prepare(
      'DELETE FROM dashboard_session WHERE person_id IN (SELECT id FROM person WHERE tenant_id = ?)',
    ),
    deleteSecondFactors: database.prepare(
      'DELETE FROM second_factor WHERE id IN (SELECT id FROM person WHERE tenant_id = ?)',
    ),
    insertApiKey: database.prepare(API_KEY.insert),
    // Keys whose grace period has ended already are left as they are.
    revokeEveryApiKey: database.prepare(
      `UPDATE api_key SET revoked_at = @revokedAt WHERE tenant_id = @tenantId AND type = @type AND revoked_at IS NULL
       AND (valid_until IS NULL OR valid_until > @revokedAt)`,
    ),
    revokeApiKeys: database.prepare(
      `UPDATE api_key SET revoked_at = @revokedAt WHERE tenant_id = @tenantId AND type = @type AND revoked_at IS NULL
       AND coalesce(name, '') = @name AND (valid_until IS NULL OR valid_until > @revokedAt)`,
    ),
    limitApiKeys: database.prepare(
      `UPDATE api_key SET valid_until = @validUntil WHERE tenant_id = @tenantId AND type = @type AND revoked_at IS NULL
       AND coalesce(name, '') = @name AND (valid_until IS NULL OR valid_until > @validUntil)`,
    ),
    revokeGraces: database.prepare(
      `UPDATE api_key SET revoked_at = @revokedAt WHERE tenant_id = @tenantId AND type = @type AND revoked_at IS NULL
       AND coalesce(name, '') = @name AND valid_until > @revokedAt`,
    ),
    insertSigningSecret: database.prepare(SIGNING_SECRET.insert),
    setSigningSecretEnd: database.prepare('UPDATE signing_secret SET valid_until = ? WHERE id = ?'),
    deleteEndedSigningSecrets: database.prepare(
      'DELETE FROM signing_secret WHERE tenant_id = ? AND valid_until IS NOT NULL',
    ),
    insertSubject: database.prepare(SUBJECT.insert),
    noteSandboxUse: database.prepare(
      `INSERT INTO sandbox_user (lookup, tenant_id, used_at) VALUES (@blindIndex, @tenantId, @at)
       ON CONFLICT (lookup) DO UPDATE SET used_at = excluded.used_at WHERE sandbox_user.used_at <= @unlessSince`,
    ),
    setLockout: database.prepare(
      'UPDATE subject SET failures = @failures, locked_until = @lockedUntil, disabled_at = @disabledAt WHERE id = @id',
    ),
    setReplaceVerdict: database.prepare(
      'UPDATE subject SET replace_verdict = @id, replace_verdict_at = @at WHERE id = @subjectId',
    ),
    deleteReference: database.prepare('DELETE FROM reference WHERE subject_id = ?'),
    insertReference: database.prepare(REFERENCE.insert),
    insertCapture: database.prepare(CAPTURE.insert),
    resealReference: database.prepare('UPDATE reference SET sealed = @sealed WHERE id = @id'),
    keepOwnConsentText: database.prepare(
      `${OWN_CONSENT_TEXT.insert} ON CONFLICT (subject_id, sha256, version) DO NOTHING`,
    ),
    insertChallenge: database.prepare(CHALLENGE.insert),
    useChallenge: database.prepare('UPDATE challenge SET used_at = ? WHERE id = ? AND used_at IS NULL'),
    // Replaces an expired record of the same scope that was not deleted yet. For a record that has not expired the hash becomes NULL, which
    // the column refuses: so the statement fails, and with it a transaction that has not waited for its answer.
    insertIdempotency: database.prepare(
      `${IDEMPOTENCY.insert}
       ON CONFLICT (scope) DO UPDATE SET lookup = excluded.lookup, subject_id = excluded.subject_id,
         payload_hash = CASE WHEN idempotency.expires_at <= excluded.created_at THEN excluded.payload_hash END,
         status = excluded.status, sealed = excluded.sealed, created_at = excluded.created_at,
         expires_at = excluded.expires_at`,
    ),
    putErasure: database.prepare(ERASURE.replace),
    appendAudit: database.prepare(AUDIT.insert),
    putAuditSeal: database.prepare(AUDIT_SEAL.replace),
    putAuditVerification: database.prepare(
      'INSERT INTO audit_walk (id, state, mac) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET state = excluded.state, mac = excluded.mac',
    ),
    setLastBackup: database.prepare(
      'INSERT INTO last_backup (id, at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at',
    ),
  }
  const reader = storeReader(database, tables)
  return {
    ...reader,
    statements: madeOnce(database),
    ...verificationWriter(database),
    ...dashboardWriter(database),
    ...keysWriter(database, onErase, tables),
    ...modelWriter(database),
    ...webhookWriter(database),
    insertTenant: async (tenant) => void sql.insertTenant.run(tenant),
    setContract: async (id, contract) => void sql.setContract.run({ id, ...contract }),
    setProductionIssued: async (tenantId, at) => void sql.setProductionIssued.run(at, tenantId),
    setProductionRevealed: async (tenantId, at) => void sql.setProductionRevealed.run(at, tenantId),
    setSuspended: async (tenantId, at) => void sql.setSuspended.run(at, tenantId),
    setDriftSince: async (tenantId, since) => void sql.setDriftSince.run(since, tenantId),
    closeTenant: async (id, at) => {
      sql.closeTenant.run({ id, at })
      sql.revokeApiKeysOfTenant.run({ id, at })
      // Before the people, by whom they are found.
      sql.deletePersonSessions.run(id)
      sql.deleteSecondFactors.run(id)
      for (const statement of ending.ofTenant) statement.run(id)
      onErase()
    },
    insertApiKey: async (key) => void sql.insertApiKey.run(key),
    revokeEveryApiKey: async (tenantId, type, revokedAt) =>
      (await sql.revokeEveryApiKey.run({ tenantId, type, revokedAt })).changes,
    endApiKeys: async (tenantId, type, name, end) => {
      const statement = 'revokedAt' in end ? sql.revokeApiKeys : sql.limitApiKeys
      return (await statement.run({ tenantId, type, name: name ?? '', ...end })).changes
    },
    endGracePeriods: async (tenantId, type, name, revokedAt) =>
      (await sql.revokeGraces.run({ tenantId, type, name: name ?? '', revokedAt })).changes,
    insertSigningSecret: async (secret) => void sql.insertSigningSecret.run(secret),
    setSigningSecretEnd: async (id, validUntil) => void sql.setSigningSecretEnd.run(validUntil, id),
    deleteEndedSigningSecrets: async (tenantId) => void sql.deleteEndedSigningSecrets.run(tenantId),
    insertSubject: async (subject) => void sql.insertSubject.run(subject),
    noteSandboxUse: async (use) => void sql.noteSandboxUse.run(use),
    setLockout: async (id, state) => void sql.setLockout.run({ id, ...state }),
    setReplaceVerdict: async (subjectId, verdict) =>
      void sql.setReplaceVerdict.run({ subjectId, id: verdict?.id ?? null, at: verdict?.at ?? null }),
    putReference: async (reference) => {
      sql.deleteReference.run(reference.subjectId)
      sql.insertReference.run(reference)
    },
    resealReference: async (reference) => void sql.resealReference.run(reference),
    insertCapture: async (capture) => void sql.insertCapture.run(capture),
    keepOwnConsentText: async (text) => void sql.keepOwnConsentText.run(text),
    insertChallenge: async (challenge) => void sql.insertChallenge.run(challenge),
    useChallenge: async (id, at) => (await sql.useChallenge.run(at, id)).changes === 1,
    insertIdempotencyRecord: async (record) => {
      sql.insertIdempotency.run(record)
    },
    eraseSubject: async (blindIndex) => {
      const user = { lookup: blindIndex, hex: blindIndex.toString('hex') }
      const done = await Promise.all(
        ending.ofUser.map(async ({ table, statement }) => ({
          table,
          changes: (await statement.run(user)).changes,
        })),
      )
      const erased = { ...NOTHING_ERASED }
      for (const { table, changes } of done) {
        const { countedAs } = table.declared
        if (countedAs) erased[countedAs] += changes
        if (table === SUBJECT && changes > 0) onErase()
      }
      return erased
    },
    putErasure: async (erasure) => void sql.putErasure.run(erasure),
    appendAudit: async (record) => void sql.appendAudit.run(record),
    putAuditSeal: async (seal) => void sql.putAuditSeal.run(seal),
    extendAudit: async (tenantId, follow, asked = reader.auditEnd(tenantId)) => {
      const { records, seal } = follow((await asked).head)
      for (const record of records) sql.appendAudit.run(record)
      sql.putAuditSeal.run(seal)
    },
    putAuditVerification: async ({ state, mac }) => void sql.putAuditVerification.run(state, mac),
    setLastBackup: async (at) => void sql.setLastBackup.run(at),
    deleteExpired: async (now) => {
      const deleted = await Promise.all(
        ending.old.map(({ keptMs, statement }) => statement.run(now - keptMs)),
      )
      return deleted.some(({ changes }) => changes === EXPIRED_AT_ONCE)
    },
  }
}

/** Makes what a function makes of the connection, once for each function. */
function madeOnce(database: Connection): StoreTransaction['statements'] {
  const made = new Map<unknown, unknown>()
  return <Own>(make: (database: Connection) => Own) => {
    const found = (made.get(make) as Own | undefined) ?? make(database)
    made.set(make, found)
    return found
  }
}

/** Makes a statement with a list of parameters, once for each length of the list. */
function byCount<T>(make: (parameters: string) => T): (count: number) => T {
  const made = new Map<number, T>()
  return (count) => {
    const found = made.get(count) ?? make(Array(count).fill('?').join(', '))
    made.set(count, found)
    return found
  }
}
