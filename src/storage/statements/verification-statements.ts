/** The SQL that finds one verification by its id: in production an entry of the audit log, in the sandbox a row that is kept for it. */
import type { Connection } from '../connection.js'
import type { SandboxVerificationRecord } from '../records.js'
import type { StoreReader, StoreTransaction } from '../store.js'
import { SANDBOX_VERIFICATION } from '../tables/index.js'

interface AuditedRow {
  entry: string
  isErased: unknown
  isBeforeRestore: unknown
}

export function verificationReader(
  database: Connection,
): Pick<StoreReader, 'auditedVerification' | 'sandboxVerification'> {
  // The same expressions as in the indexes `audit_verification` and `audit_erased`: a database uses an index only for its own expression.
  const text = database.entryText ?? textInSqlite
  const sql = {
    audited: database.prepare<[string, string], AuditedRow>(
      `SELECT entry,
         EXISTS (SELECT 1 FROM audit AS erasure WHERE erasure.tenant_id = audit.tenant_id AND erasure.event = 'delete'
           AND ${text('erasure.entry', 'subject')} = ${text('audit.entry', 'subject')}) AS "isErased",
         EXISTS (SELECT 1 FROM audit AS restore WHERE restore.tenant_id = audit.tenant_id
           AND restore.event = 'database_restored' AND restore.sequence > audit.sequence) AS "isBeforeRestore"
       FROM audit WHERE tenant_id = ? AND event = 'verify' AND ${text('entry', 'verification_id')} = ?`,
      'brief',
    ),
    ofSandbox: database.prepare<[string, string], SandboxVerificationRecord>(
      `SELECT ${SANDBOX_VERIFICATION.fields} FROM sandbox_verification WHERE id = ? AND tenant_id = ?`,
      'brief',
    ),
  }
  return {
    auditedVerification: async (tenantId, id) => {
      const row = await sql.audited.get(tenantId, id)
      return row && { ...row, isErased: Boolean(row.isErased), isBeforeRestore: Boolean(row.isBeforeRestore) }
    },
    sandboxVerification: async (tenantId, id) => sql.ofSandbox.get(id, tenantId),
  }
}

export function verificationWriter(database: Connection): Pick<StoreTransaction, 'keepSandboxVerification'> {
  const insert = database.prepare(SANDBOX_VERIFICATION.insert)
  const deleteOldest = database.prepare<[string, string, number]>(
    `DELETE FROM sandbox_verification WHERE tenant_id = ? AND id <=
       (SELECT id FROM sandbox_verification WHERE tenant_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`,
  )
  return {
    keepSandboxVerification: async (verification, count) => {
      insert.run(verification)
      deleteOldest.run(verification.tenantId, verification.tenantId, count)
    },
  }
}

function textInSqlite(entry: string, field: string): string {
  return `CASE WHEN json_valid(${entry}) THEN json_extract(${entry}, '$.${field}') END`
}
