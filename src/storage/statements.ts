/**
 * The SQL of a store over one connection: reads, and the writes that run inside a transaction. What concerns tenants,
 * users and the audit log stands here; dashboard, keys and webhooks have files of their own.
 */
import type { Environment } from '../config.js'
import type { Connection } from './connection.js'
import { dashboardReader, dashboardWriter } from './dashboard-statements.js'
import { keysReader, keysWriter } from './key-statements.js'
import type {
  ApiKeyRecord,
  AuditRecord,
  AuditSealRecord,
  CaptureRecord,
  CaptureSessionRecord,
  ChallengeRecord,
  ErasureRecord,
  IdempotencyRecord,
  ReferenceRecord,
  SigningSecretRecord,
  SubjectRecord,
  TenantRecord,
} from './records.js'
import { AlreadyExecutedError, type StoreReader, type StoreTransaction } from './store.js'
import {
  API_KEY,
  AUDIT,
  AUDIT_SEAL,
  CAPTURE,
  CAPTURE_SESSION,
  CHALLENGE,
  ERASURE,
  IDEMPOTENCY,
  REFERENCE,
  SIGNING_SECRET,
  SUBJECT,
  TENANT,
} from './tables.js'
import { webhookReader, webhookWriter } from './webhook-statements.js'

/** After its end, so that whoever comes late is told that it is over. */
const CHALLENGE_KEPT_MS = 3_600_000

export function storeReader(database: Connection): StoreReader {
  const sql = {
    tenantById: database.prepare<[string], TenantRecord>(`SELECT ${TENANT.fields} FROM tenant WHERE id = ?`),
    tenantByName: database.prepare<[string], TenantRecord>(
      `SELECT ${TENANT.fields} FROM tenant WHERE name = ?`,
    ),
    tenants: database.prepare<[], TenantRecord>(
      `SELECT ${TENANT.fields} FROM tenant ORDER BY created_at, id`,
    ),
    apiKeyByHash: database.prepare<[Buffer], ApiKeyRecord>(
      `SELECT ${API_KEY.fields} FROM api_key WHERE hash = ?`,
    ),
    apiKeys: database.prepare<[string], ApiKeyRecord>(
      `SELECT ${API_KEY.fields} FROM api_key WHERE tenant_id = ? ORDER BY created_at DESC, id DESC`,
    ),
    signingSecrets: database.prepare<[string, number], SigningSecretRecord>(
      `SELECT ${SIGNING_SECRET.fields} FROM signing_secret WHERE tenant_id = ? AND (valid_until IS NULL OR valid_until > ?)
       ORDER BY valid_until IS NOT NULL, created_at DESC`,
    ),
    subject: database.prepare<[Buffer], SubjectRecord>(
      `SELECT ${SUBJECT.fields} FROM subject WHERE lookup = ?`,
    ),
    reference: database.prepare<[string], ReferenceRecord>(
      `SELECT ${REFERENCE.fields} FROM reference WHERE subject_id = ?`,
    ),
    referencesOf: database.prepare<[string], { environment: Environment; count: number }>(
      `SELECT subject.environment, count(*) AS count FROM reference JOIN subject ON subject.id = reference.subject_id
       WHERE subject.tenant_id = ? GROUP BY subject.environment`,
    ),
    lookupsOf: database
      .prepare<[string, number], Buffer>('SELECT lookup FROM subject WHERE tenant_id = ? LIMIT ?')
      .pluck(),
    captures: database.prepare<[string, number, number], CaptureRecord>(
      `SELECT ${CAPTURE.fields} FROM capture WHERE subject_id = ? AND seen_at > ? AND length(sealed) > 0 ORDER BY seen_at DESC LIMIT ?`,
    ),
    hasCapture: database.prepare<[string, Buffer, number]>(
      'SELECT 1 FROM capture WHERE subject_id = ? AND digest = ? AND seen_at > ? LIMIT 1',
    ),
    lastCapture: database
      .prepare<[string], number | null>('SELECT max(rowid) FROM capture WHERE subject_id = ?')
      .pluck(),
    capturesAfter: database.prepare<[string, number], CaptureRecord>(
      `SELECT ${CAPTURE.fields} FROM capture WHERE subject_id = ? AND rowid > ? ORDER BY rowid`,
    ),
    challenge: database.prepare<[string], ChallengeRecord>(
      `SELECT ${CHALLENGE.fields} FROM challenge WHERE id = ?`,
    ),
    captureSession: database.prepare<[string], CaptureSessionRecord>(
      `SELECT ${CAPTURE_SESSION.fields} FROM capture_session WHERE id = ?`,
    ),
    idempotency: database.prepare<[Buffer, number], IdempotencyRecord>(
      `SELECT ${IDEMPOTENCY.fields} FROM idempotency WHERE scope = ? AND expires_at > ?`,
    ),
    erasure: database.prepare<[Buffer, number], ErasureRecord>(
      `SELECT ${ERASURE.fields} FROM erasure WHERE lookup = ? AND expires_at > ?`,
    ),
    auditHead: database.prepare<[string], AuditRecord>(
      `SELECT ${AUDIT.fields} FROM audit WHERE tenant_id = ? ORDER BY sequence DESC LIMIT 1`,
    ),
    auditSeal: database.prepare<[string], AuditSealRecord>(
      `SELECT ${AUDIT_SEAL.fields} FROM audit_seal WHERE tenant_id = ?`,
    ),
    auditEntries: database.prepare<[string, number, number], AuditRecord>(
      `SELECT ${AUDIT.fields} FROM audit WHERE tenant_id = ? AND sequence > ? ORDER BY sequence LIMIT ?`,
    ),
    recentAuditEntries: database.prepare<[string, number, number], AuditRecord>(
      `SELECT ${AUDIT.fields} FROM audit WHERE tenant_id = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?`,
    ),
    lastBackup: database.prepare<[], number>('SELECT at FROM last_backup').pluck(),
    tenantCount: database.prepare<[], number>('SELECT count(*) FROM tenant').pluck(),
    referenceCount: database
      .prepare<[Environment], number>(
        `SELECT count(*) FROM reference JOIN subject ON subject.id = reference.subject_id
         WHERE subject.environment = ?`,
      )
      .pluck(),
    auditCount: database.prepare<[], number>('SELECT count(*) FROM audit').pluck(),
  }
  return {
    ...dashboardReader(database),
    ...keysReader(database),
    ...webhookReader(database),
    tenantById: async (id) => sql.tenantById.get(id),
    tenantByName: async (name) => sql.tenantByName.get(name),
    tenants: async () => sql.tenants.all(),
    apiKeyByHash: async (hash) => {
      const key = await sql.apiKeyByHash.get(hash)
      return key && { key, tenant: (await sql.tenantById.get(key.tenantId))! }
    },
    apiKeys: async (tenantId) => sql.apiKeys.all(tenantId),
    signingSecrets: async (tenantId, now) => sql.signingSecrets.all(tenantId, now),
    subject: async (lookup) => {
      const subject = await sql.subject.get(lookup)
      return subject && { subject, reference: (await sql.reference.get(subject.id)) ?? null }
    },
    referencesOf: async (tenantId) => {
      const counts = { production: 0, sandbox: 0 }
      for (const { environment, count } of await sql.referencesOf.all(tenantId)) counts[environment] = count
      return counts
    },
    lookupsOf: async (tenantId, limit) => sql.lookupsOf.all(tenantId, limit),
    captureHistory: async (subjectId, digests, since, limit) => {
      // First: what is remembered meanwhile is then looked at twice, and never not at all.
      const last = (await sql.lastCapture.get(subjectId)) ?? 0
      const [newest, ...found] = await Promise.all([
        sql.captures.all(subjectId, since, limit),
        ...digests.map(async (digest) => sql.hasCapture.get(subjectId, digest, since)),
      ])
      return { hasDigest: found.some((row) => row !== undefined), newest, last }
    },
    capturesAfter: async (subjectId, last) => sql.capturesAfter.all(subjectId, last),
    challenge: async (id) => sql.challenge.get(id),
    captureSession: async (id) => sql.captureSession.get(id),
    idempotencyRecord: async (scope, now) => sql.idempotency.get(scope, now),
    erasure: async (lookup, now) => sql.erasure.get(lookup, now),
    auditHead: async (tenantId) => sql.auditHead.get(tenantId),
    auditSeal: async (tenantId) => sql.auditSeal.get(tenantId),
    auditEntries: async (tenantId, after, limit) => sql.auditEntries.all(tenantId, after, limit),
    recentAuditEntries: async (tenantId, before, limit) =>
      sql.recentAuditEntries.all(tenantId, before, limit),
    lastBackupAt: async () => (await sql.lastBackup.get()) ?? null,
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

/** @param onErase told when a user's key was deleted */
export function storeTransaction(database: Connection, onErase: () => void): StoreTransaction {
  const sql = {
    insertTenant: database.prepare(TENANT.insert),
    setContract: database.prepare(
      `UPDATE tenant SET rate_per_second = @ratePerSecond, burst = @burst, fmr = @fmr,
       require_liveness = @requireLiveness WHERE id = @id`,
    ),
    setCapturePage: database.prepare('UPDATE tenant SET capture_page = ? WHERE id = ?'),
    setProductionIssued: database.prepare(
      'UPDATE tenant SET production_issued_at = ? WHERE id = ? AND production_issued_at IS NULL',
    ),
    setProductionRevealed: database.prepare('UPDATE tenant SET production_revealed_at = ? WHERE id = ?'),
    setSuspended: database.prepare('UPDATE tenant SET suspended_at = ? WHERE id = ?'),
    closeTenant: [
      'UPDATE tenant SET deleted_at = @at WHERE id = @id',
      'UPDATE api_key SET revoked_at = @at WHERE tenant_id = @id AND revoked_at IS NULL',
      'DELETE FROM signing_secret WHERE tenant_id = @id',
      'DELETE FROM login_link WHERE tenant_id = @id',
      'DELETE FROM dashboard_session WHERE tenant_id = @id',
      // Its deliveries go with it.
      'DELETE FROM webhook_endpoint WHERE tenant_id = @id',
      'DELETE FROM traffic WHERE tenant_id = @id',
      'DELETE FROM challenge WHERE tenant_id = @id',
      'DELETE FROM capture_session WHERE tenant_id = @id',
      'UPDATE tenant SET capture_page = NULL WHERE id = @id',
    ].map((statement) => database.prepare<[{ id: string; at: number }]>(statement)),
    insertApiKey: database.prepare(API_KEY.insert),
    // Not those whose grace is over before: they have ended already.
    revokeApiKeys: database.prepare(
      `UPDATE api_key SET revoked_at = @revokedAt WHERE tenant_id = @tenantId AND type = @type AND revoked_at IS NULL
       AND (valid_until IS NULL OR valid_until > @revokedAt)`,
    ),
    limitApiKeys: database.prepare(
      `UPDATE api_key SET valid_until = @validUntil WHERE tenant_id = @tenantId AND type = @type AND revoked_at IS NULL
       AND (valid_until IS NULL OR valid_until > @validUntil)`,
    ),
    revokeGraces: database.prepare(
      `UPDATE api_key SET revoked_at = @revokedAt WHERE tenant_id = @tenantId AND type = @type AND revoked_at IS NULL
       AND valid_until > @revokedAt`,
    ),
    insertSigningSecret: database.prepare(SIGNING_SECRET.insert),
    setSigningSecretEnd: database.prepare('UPDATE signing_secret SET valid_until = ? WHERE id = ?'),
    deleteEndedSigningSecrets: database.prepare(
      'DELETE FROM signing_secret WHERE tenant_id = ? AND valid_until IS NOT NULL',
    ),
    insertSubject: database.prepare(SUBJECT.insert),
    setLockout: database.prepare(
      'UPDATE subject SET failures = @failures, locked_until = @lockedUntil, disabled_at = @disabledAt WHERE id = @id',
    ),
    deleteReference: database.prepare('DELETE FROM reference WHERE subject_id = ?'),
    insertReference: database.prepare(REFERENCE.insert),
    insertCapture: database.prepare(CAPTURE.insert),
    insertChallenge: database.prepare(CHALLENGE.insert),
    useChallenge: database.prepare('UPDATE challenge SET used_at = ? WHERE id = ? AND used_at IS NULL'),
    deleteChallenges: database.prepare('DELETE FROM challenge WHERE lookup = ?'),
    expireChallenges: database.prepare('DELETE FROM challenge WHERE expires_at <= ?'),
    putCaptureSession: database.prepare(CAPTURE_SESSION.replace),
    deleteCaptureSessions: database.prepare('DELETE FROM capture_session WHERE lookup = ?'),
    expireCaptureSessions: database.prepare('DELETE FROM capture_session WHERE expires_at <= ?'),
    // An expired record of the same scope may still wait for its purge.
    insertIdempotency: database.prepare(
      `${IDEMPOTENCY.insert}
       ON CONFLICT (scope) DO UPDATE SET lookup = excluded.lookup, subject_id = excluded.subject_id, payload_hash = excluded.payload_hash,
         status = excluded.status, sealed = excluded.sealed, created_at = excluded.created_at,
         expires_at = excluded.expires_at
       WHERE idempotency.expires_at <= excluded.created_at`,
    ),
    subjectId: database.prepare<[Buffer], string>('SELECT id FROM subject WHERE lookup = ?').pluck(),
    deleteCaptures: database.prepare('DELETE FROM capture WHERE subject_id = ?'),
    deleteSubject: database.prepare('DELETE FROM subject WHERE id = ?'),
    deleteIdempotency: database.prepare('DELETE FROM idempotency WHERE lookup = ?'),
    eraseWebhooks: database.prepare(
      `UPDATE webhook_delivery SET sealed = NULL, next_attempt_at = NULL,
         status = CASE status WHEN 'pending' THEN 'erased' ELSE status END WHERE lookup = ?`,
    ),
    putErasure: database.prepare(ERASURE.replace),
    appendAudit: database.prepare(AUDIT.insert),
    putAuditSeal: database.prepare(AUDIT_SEAL.replace),
    setLastBackup: database.prepare(
      'INSERT INTO last_backup (id, at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at',
    ),
    expireLoginLinks: database.prepare('DELETE FROM login_link WHERE expires_at <= ?'),
    expireSessions: database.prepare('DELETE FROM dashboard_session WHERE expires_at <= ?'),
    expireIdempotency: database.prepare('DELETE FROM idempotency WHERE expires_at <= ?'),
    expireErasures: database.prepare('DELETE FROM erasure WHERE expires_at <= ?'),
    expireCaptures: database.prepare('DELETE FROM capture WHERE seen_at <= ?'),
    // What a suspended tenant is still to be told waits for its return.
    expireWebhooks: database.prepare(
      `DELETE FROM webhook_delivery WHERE expires_at <= ? AND (next_attempt_at IS NULL
       OR tenant_id NOT IN (SELECT id FROM tenant WHERE suspended_at IS NOT NULL))`,
    ),
    expireTraffic: database.prepare('DELETE FROM traffic WHERE resolution = ? AND at < ?'),
    expireSecrets: database.prepare('DELETE FROM signing_secret WHERE valid_until <= ?'),
  }
  return {
    ...storeReader(database),
    ...dashboardWriter(database),
    ...keysWriter(database, onErase),
    ...webhookWriter(database),
    insertTenant: async (tenant) => void sql.insertTenant.run(tenant),
    setContract: async (id, contract) => void sql.setContract.run({ id, ...contract }),
    setCapturePage: async (tenantId, settings) => void sql.setCapturePage.run(settings, tenantId),
    setProductionIssued: async (tenantId, at) => void sql.setProductionIssued.run(at, tenantId),
    setProductionRevealed: async (tenantId, at) => void sql.setProductionRevealed.run(at, tenantId),
    setSuspended: async (tenantId, at) => void sql.setSuspended.run(at, tenantId),
    closeTenant: async (id, at) => {
      // Not every one names the time.
      for (const statement of sql.closeTenant) statement.run({ id, at })
      onErase()
    },
    insertApiKey: async (key) => void sql.insertApiKey.run(key),
    endApiKeys: async (tenantId, type, end) =>
      (await ('revokedAt' in end ? sql.revokeApiKeys : sql.limitApiKeys).run({ tenantId, type, ...end }))
        .changes,
    endGraces: async (tenantId, type, revokedAt) =>
      (await sql.revokeGraces.run({ tenantId, type, revokedAt })).changes,
    insertSigningSecret: async (secret) => void sql.insertSigningSecret.run(secret),
    setSigningSecretEnd: async (id, validUntil) => void sql.setSigningSecretEnd.run(validUntil, id),
    deleteEndedSigningSecrets: async (tenantId) => void sql.deleteEndedSigningSecrets.run(tenantId),
    insertSubject: async (subject) => void sql.insertSubject.run(subject),
    setLockout: async (id, state) => void sql.setLockout.run({ id, ...state }),
    putReference: async (reference) => {
      sql.deleteReference.run(reference.subjectId)
      sql.insertReference.run(reference)
    },
    insertCapture: async (capture) => void sql.insertCapture.run(capture),
    insertChallenge: async (challenge) => void sql.insertChallenge.run(challenge),
    useChallenge: async (id, at) => (await sql.useChallenge.run(at, id)).changes === 1,
    putCaptureSession: async (session) => void sql.putCaptureSession.run(session),
    insertIdempotencyRecord: async (record) => {
      const { changes } = await sql.insertIdempotency.run(record)
      if (changes !== 1) throw new AlreadyExecutedError()
    },
    eraseSubject: async (lookup) => {
      const { changes: idempotencyRecords } = await sql.deleteIdempotency.run(lookup)
      sql.eraseWebhooks.run(lookup)
      sql.deleteChallenges.run(lookup)
      sql.deleteCaptureSessions.run(lookup)
      const id = await sql.subjectId.get(lookup)
      if (id === undefined) return { references: 0, captures: 0, idempotencyRecords }
      const { changes: references } = await sql.deleteReference.run(id)
      const { changes: captures } = await sql.deleteCaptures.run(id)
      sql.deleteSubject.run(id)
      onErase()
      return { references, captures, idempotencyRecords }
    },
    putErasure: async (erasure) => void sql.putErasure.run(erasure),
    appendAudit: async (record) => void sql.appendAudit.run(record),
    putAuditSeal: async (seal) => void sql.putAuditSeal.run(seal),
    setLastBackup: async (at) => void sql.setLastBackup.run(at),
    deleteExpired: async (now, capturesBefore, trafficBefore) => {
      sql.expireLoginLinks.run(now)
      sql.expireSessions.run(now)
      sql.expireIdempotency.run(now)
      sql.expireErasures.run(now)
      sql.expireCaptures.run(capturesBefore)
      sql.expireChallenges.run(now - CHALLENGE_KEPT_MS)
      sql.expireCaptureSessions.run(now - CHALLENGE_KEPT_MS)
      sql.expireWebhooks.run(now)
      sql.expireSecrets.run(now)
      for (const [resolution, before] of Object.entries(trafficBefore))
        sql.expireTraffic.run(resolution, before)
    },
  }
}
