/** The SQL of the SQLite store: reads, and the writes that run inside a transaction, over one connection. */
import type { Database } from 'better-sqlite3'
import type { Environment } from '../config.js'
import type {
  ApiKeyRecord,
  AuditRecord,
  AuditSealRecord,
  CaptureRecord,
  ErasureRecord,
  IdempotencyRecord,
  KeyringRecord,
  LoginLinkRecord,
  OperatorRecord,
  ReferenceRecord,
  SealedRow,
  SessionRecord,
  SigningSecretRecord,
  SubjectRecord,
  TenantRecord,
  TrafficRecord,
} from './records.js'
import {
  API_KEY,
  AUDIT,
  AUDIT_SEAL,
  CAPTURE,
  DASHBOARD_SESSION,
  ERASURE,
  IDEMPOTENCY,
  KEYRING,
  LOGIN_LINK,
  OPERATOR,
  REFERENCE,
  SIGNING_SECRET,
  SUBJECT,
  TENANT,
  TRAFFIC,
} from './sqlite-tables.js'
import { webhookReader, webhookWriter } from './sqlite-webhooks.js'
import type { StoreReader, StoreTransaction } from './store.js'

export function sqliteReader(database: Database): StoreReader {
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
      `SELECT ${CAPTURE.fields} FROM capture WHERE subject_id = ? AND seen_at > ? ORDER BY seen_at DESC LIMIT ?`,
    ),
    hasCapture: database
      .prepare<[string, Buffer, number], number>(
        'SELECT EXISTS (SELECT 1 FROM capture WHERE subject_id = ? AND digest = ? AND seen_at > ?)',
      )
      .pluck(),
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
    keyrings: database.prepare<[], KeyringRecord>(
      `SELECT ${KEYRING.fields} FROM keyring ORDER BY created_at`,
    ),
    sealedRows: {
      subject: database.prepare<[string, number], SealedRow>(
        'SELECT id, wrapped_key AS sealed FROM subject WHERE id > ? ORDER BY id LIMIT ?',
      ),
      signing_secret: database.prepare<[string, number], SealedRow>(
        'SELECT id, sealed FROM signing_secret WHERE id > ? ORDER BY id LIMIT ?',
      ),
      // Those of a user are sealed under the user's own key.
      idempotency: database.prepare<[string, number], SealedRow>(
        'SELECT lower(hex(scope)) AS id, sealed FROM idempotency WHERE scope > unhex(?) AND subject_id IS NULL ORDER BY scope LIMIT ?',
      ),
      webhook_delivery: database.prepare<[string, number], SealedRow>(
        'SELECT id, sealed FROM webhook_delivery WHERE id > ? AND subject_id IS NULL AND sealed IS NOT NULL ORDER BY id LIMIT ?',
      ),
    },
    recentAuditEntries: database.prepare<[string, number, number], AuditRecord>(
      `SELECT ${AUDIT.fields} FROM audit WHERE tenant_id = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?`,
    ),
    operators: database.prepare<[], OperatorRecord>(`SELECT ${OPERATOR.fields} FROM operator ORDER BY name`),
    operatorByName: database.prepare<[string], OperatorRecord>(
      `SELECT ${OPERATOR.fields} FROM operator WHERE name = ?`,
    ),
    operatorById: database.prepare<[string], OperatorRecord>(
      `SELECT ${OPERATOR.fields} FROM operator WHERE id = ?`,
    ),
    dashboardSession: database.prepare<[Buffer, number], SessionRecord>(
      `SELECT ${DASHBOARD_SESSION.fields} FROM dashboard_session WHERE hash = ? AND expires_at > ?`,
    ),
    lastBackup: database.prepare<[], number>('SELECT at FROM last_backup').pluck(),
    traffic: database.prepare<[string, string, number], TrafficRecord>(
      `SELECT ${TRAFFIC.fields} FROM traffic WHERE tenant_id = ? AND resolution = ? AND at >= ? ORDER BY at`,
    ),
    trafficAt: database.prepare<[string, string, number], TrafficRecord>(
      `SELECT ${TRAFFIC.fields} FROM traffic WHERE tenant_id = ? AND resolution = ? AND at = ?`,
    ),
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
    ...webhookReader(database),
    tenantById: async (id) => sql.tenantById.get(id),
    tenantByName: async (name) => sql.tenantByName.get(name),
    tenants: async () => sql.tenants.all(),
    apiKeyByHash: async (hash) => {
      const key = sql.apiKeyByHash.get(hash)
      return key && { key, tenant: sql.tenantById.get(key.tenantId)! }
    },
    apiKeys: async (tenantId) => sql.apiKeys.all(tenantId),
    signingSecrets: async (tenantId, now) => sql.signingSecrets.all(tenantId, now),
    subject: async (lookup) => {
      const subject = sql.subject.get(lookup)
      return subject && { subject, reference: sql.reference.get(subject.id) ?? null }
    },
    referencesOf: async (tenantId) => {
      const counts = { production: 0, sandbox: 0 }
      for (const { environment, count } of sql.referencesOf.all(tenantId)) counts[environment] = count
      return counts
    },
    lookupsOf: async (tenantId, limit) => sql.lookupsOf.all(tenantId, limit),
    captures: async (subjectId, since, limit) => sql.captures.all(subjectId, since, limit),
    hasCapture: async (subjectId, digest, since) => sql.hasCapture.get(subjectId, digest, since) === 1,
    idempotencyRecord: async (scope, now) => sql.idempotency.get(scope, now),
    erasure: async (lookup, now) => sql.erasure.get(lookup, now),
    auditHead: async (tenantId) => sql.auditHead.get(tenantId),
    auditSeal: async (tenantId) => sql.auditSeal.get(tenantId),
    auditEntries: async (tenantId, after, limit) => sql.auditEntries.all(tenantId, after, limit),
    keyrings: async () => sql.keyrings.all(),
    sealedRows: async (kind, after, limit) => sql.sealedRows[kind].all(after, limit),
    recentAuditEntries: async (tenantId, before, limit) =>
      sql.recentAuditEntries.all(tenantId, before, limit),
    operators: async () => sql.operators.all(),
    operatorByName: async (name) => sql.operatorByName.get(name),
    operatorById: async (id) => sql.operatorById.get(id),
    dashboardSession: async (hash, now) => sql.dashboardSession.get(hash, now),
    lastBackupAt: async () => sql.lastBackup.get() ?? null,
    traffic: async (tenantId, resolution, since) => sql.traffic.all(tenantId, resolution, since),
    trafficAt: async (tenantId, resolution, at) => sql.trafficAt.get(tenantId, resolution, at),
    counts: async () => ({
      tenants: sql.tenantCount.get()!,
      references: {
        production: sql.referenceCount.get('production')!,
        sandbox: sql.referenceCount.get('sandbox')!,
      },
      auditEntries: sql.auditCount.get()!,
    }),
  }
}

/** @param onErase told when a user's key was deleted */
export function sqliteTransaction(database: Database, onErase: () => void): StoreTransaction {
  const sql = {
    insertTenant: database.prepare(TENANT.insert),
    setContract: database.prepare(
      'UPDATE tenant SET rate_per_second = @ratePerSecond, burst = @burst, fmr = @fmr WHERE id = @id',
    ),
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
    putKeyring: database.prepare(KEYRING.replace),
    deleteKeyring: database.prepare('DELETE FROM keyring WHERE master_key_id = ?'),
    putSealed: {
      subject: database.prepare<[SealedRow]>('UPDATE subject SET wrapped_key = @sealed WHERE id = @id'),
      signing_secret: database.prepare<[SealedRow]>(
        'UPDATE signing_secret SET sealed = @sealed WHERE id = @id',
      ),
      idempotency: database.prepare<[SealedRow]>(
        'UPDATE idempotency SET sealed = @sealed WHERE scope = unhex(@id)',
      ),
      webhook_delivery: database.prepare<[SealedRow]>(
        // Its body may have been forgotten meanwhile.
        'UPDATE webhook_delivery SET sealed = @sealed WHERE id = @id AND sealed IS NOT NULL',
      ),
    },
    setLastBackup: database.prepare('INSERT OR REPLACE INTO last_backup (id, at) VALUES (1, ?)'),
    insertLoginLink: database.prepare(LOGIN_LINK.insert),
    takeLoginLink: database.prepare<[Buffer, number], LoginLinkRecord>(
      `DELETE FROM login_link WHERE hash = ? AND expires_at > ? RETURNING ${LOGIN_LINK.fields}`,
    ),
    insertSession: database.prepare(DASHBOARD_SESSION.insert),
    putOperator: database.prepare(
      `${OPERATOR.insert} ON CONFLICT (id) DO UPDATE SET role = excluded.role, password_hash = excluded.password_hash`,
    ),
    setLastSignIn: database.prepare(
      'UPDATE operator SET last_sign_in_at = ?, last_sign_in_by = ? WHERE id = ?',
    ),
    deleteOperator: database.prepare('DELETE FROM operator WHERE id = ?'),
    deleteOperatorSessions: database.prepare('DELETE FROM dashboard_session WHERE operator_id = ?'),
    deleteSession: database.prepare('DELETE FROM dashboard_session WHERE hash = ?'),
    expireLoginLinks: database.prepare('DELETE FROM login_link WHERE expires_at <= ?'),
    expireSessions: database.prepare('DELETE FROM dashboard_session WHERE expires_at <= ?'),
    expireIdempotency: database.prepare('DELETE FROM idempotency WHERE expires_at <= ?'),
    expireErasures: database.prepare('DELETE FROM erasure WHERE expires_at <= ?'),
    expireCaptures: database.prepare('DELETE FROM capture WHERE seen_at <= ?'),
    expireWebhooks: database.prepare('DELETE FROM webhook_delivery WHERE expires_at <= ?'),
    putTraffic: database.prepare(TRAFFIC.replace),
    expireTraffic: database.prepare('DELETE FROM traffic WHERE resolution = ? AND at < ?'),
    expireSecrets: database.prepare('DELETE FROM signing_secret WHERE valid_until <= ?'),
  }
  return {
    ...sqliteReader(database),
    ...webhookWriter(database),
    insertTenant: async (tenant) => void sql.insertTenant.run(tenant),
    setContract: async (id, contract) => void sql.setContract.run({ id, ...contract }),
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
      ('revokedAt' in end ? sql.revokeApiKeys : sql.limitApiKeys).run({ tenantId, type, ...end }).changes,
    endGraces: async (tenantId, type, revokedAt) =>
      sql.revokeGraces.run({ tenantId, type, revokedAt }).changes,
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
    insertIdempotencyRecord: async (record) => {
      if (sql.insertIdempotency.run(record).changes !== 1) throw new Error('idempotency record exists')
    },
    eraseSubject: async (lookup) => {
      const idempotencyRecords = sql.deleteIdempotency.run(lookup).changes
      sql.eraseWebhooks.run(lookup)
      const id = sql.subjectId.get(lookup)
      if (id === undefined) return { references: 0, captures: 0, idempotencyRecords }
      const references = sql.deleteReference.run(id).changes
      const captures = sql.deleteCaptures.run(id).changes
      sql.deleteSubject.run(id)
      onErase()
      return { references, captures, idempotencyRecords }
    },
    putErasure: async (erasure) => void sql.putErasure.run(erasure),
    appendAudit: async (record) => void sql.appendAudit.run(record),
    putAuditSeal: async (seal) => void sql.putAuditSeal.run(seal),
    putKeyring: async (keyring) => void sql.putKeyring.run(keyring),
    deleteKeyring: async (masterKeyId) => {
      sql.deleteKeyring.run(masterKeyId)
      onErase()
    },
    putSealed: async (kind, row) => {
      sql.putSealed[kind].run(row)
      onErase()
    },
    setLastBackup: async (at) => void sql.setLastBackup.run(at),
    insertLoginLink: async (link) => void sql.insertLoginLink.run(link),
    takeLoginLink: async (hash, now) => sql.takeLoginLink.get(hash, now),
    insertDashboardSession: async (session) => void sql.insertSession.run(session),
    putOperator: async (operator) => void sql.putOperator.run(operator),
    setLastSignIn: async (operatorId, at, by) => void sql.setLastSignIn.run(at, by, operatorId),
    deleteOperator: async (id) => {
      sql.deleteOperatorSessions.run(id)
      sql.deleteOperator.run(id)
    },
    deleteOperatorSessions: async (operatorId) => void sql.deleteOperatorSessions.run(operatorId),
    deleteDashboardSession: async (hash) => void sql.deleteSession.run(hash),
    putTraffic: async (traffic) => void sql.putTraffic.run(traffic),
    deleteExpired: async (now, capturesBefore, trafficBefore) => {
      sql.expireLoginLinks.run(now)
      sql.expireSessions.run(now)
      sql.expireIdempotency.run(now)
      sql.expireErasures.run(now)
      sql.expireCaptures.run(capturesBefore)
      sql.expireWebhooks.run(now)
      sql.expireSecrets.run(now)
      for (const [resolution, before] of Object.entries(trafficBefore))
        sql.expireTraffic.run(resolution, before)
    },
  }
}
