/** The SQL that finds one verification by its id: in production an entry of the audit log, in the sandbox a row that is kept for it. */
import { type Connection, type ReadConnection, reading } from '../connection.js'
import type { AuditedVerification, SandboxVerificationRecord } from '../records.js'
import { SANDBOX_VERIFICATION } from '../tables/index.js'

interface AuditedRow {
  entry: string
  isErased: unknown
  isBeforeRestore: unknown
}

export function verificationReader(database: ReadConnection) {
  const { row, from } = reading(database)
  // The same expressions as in the indexes `audit_verification` and `audit_erased`: a database uses an index only for its own expression.
  const text = database.entryText ?? textInSqlite
  const audited = row<[string, string], AuditedRow>(
    `SELECT entry,
       EXISTS (SELECT 1 FROM audit AS erasure WHERE erasure.tenant_id = audit.tenant_id AND erasure.event = 'delete'
         AND ${text('erasure.entry', 'subject')} = ${text('audit.entry', 'subject')}) AS "isErased",
       EXISTS (SELECT 1 FROM audit AS restore WHERE restore.tenant_id = audit.tenant_id
         AND restore.event = 'database_restored' AND restore.sequence > audit.sequence) AS "isBeforeRestore"
     FROM audit WHERE tenant_id = ? AND event = 'verify' AND ${text('entry', 'verification_id')} = ?`,
    'brief',
  )
  return {
    /** The audit entry about a verification of the tenant, found by an index. */
    auditedVerification: async (
      tenantId: string,
      verificationId: string,
    ): Promise<AuditedVerification | undefined> => {
      const found = await audited(tenantId, verificationId)
      return (
        found && {
          ...found,
          isErased: Boolean(found.isErased),
          isBeforeRestore: Boolean(found.isBeforeRestore),
        }
      )
    },
    /** A verification of the tenant in the sandbox. */
    sandboxVerification: from(SANDBOX_VERIFICATION).row<[tenantId: string, verificationId: string]>(
      'WHERE tenant_id = ? AND id = ?',
      'brief',
    ),
  }
}

export function verificationWriter(database: Connection) {
  const insert = database.prepare(SANDBOX_VERIFICATION.insert)
  const deleteOldest = database.prepare<[string, string, number]>(
    `DELETE FROM sandbox_verification WHERE tenant_id = ? AND id <=
       (SELECT id FROM sandbox_verification WHERE tenant_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`,
  )
  return {
    /** Inserts the verification, and deletes the tenant's oldest ones beyond the latest `count`. */
    keepSandboxVerification: async (verification: SandboxVerificationRecord, count: number) => {
      insert.run(verification)
      deleteOldest.run(verification.tenantId, verification.tenantId, count)
    },
  }
}

function textInSqlite(entry: string, field: string): string {
  return `CASE WHEN json_valid(${entry}) THEN json_extract(${entry}, '$.${field}') END`
}
