/** The SQL of the audit logs, their seals and their verification, and of the time of the last backup. */
import { type Connection, type ReadConnection, reading, writing } from '../connection.js'
import type { AuditEnd, AuditRecord, AuditSealRecord } from '../records.js'
import { joined } from '../table.js'
import { AUDIT, AUDIT_SEAL, AUDIT_WALK, LAST_BACKUP } from '../tables/index.js'

const END = joined({ head: AUDIT, seal: AUDIT_SEAL })

export function auditReader(database: ReadConnection) {
  const { row, from } = reading(database)
  const entries = from(AUDIT)
  const end = row<[string], Record<string, unknown>>(
    `SELECT ${END.fields} FROM tenant
     LEFT JOIN audit ON audit.tenant_id = tenant.id
       AND audit.sequence = (SELECT max(sequence) FROM audit AS whole WHERE whole.tenant_id = tenant.id)
     LEFT JOIN audit_seal ON audit_seal.tenant_id = tenant.id WHERE tenant.id = ?`,
  )
  const lastBackup = row<[], { at: number }>('SELECT at FROM last_backup')
  return {
    auditHead: entries.row<[tenantId: string]>('WHERE tenant_id = ? ORDER BY sequence DESC LIMIT 1'),
    auditSeal: from(AUDIT_SEAL).row<[tenantId: string]>('WHERE tenant_id = ?'),
    /** The last entry and the seal, read in one snapshot. */
    auditEnd: async (tenantId: string): Promise<AuditEnd> => {
      const found = await end(tenantId)
      const { head, seal } = found ? END.split(found) : { head: null, seal: null }
      return { head: head ?? undefined, seal: seal ?? undefined }
    },
    /** Entries in order, from sequence `after` (exclusive). */
    auditEntries: entries.rows<[tenantId: string, after: number, limit: number]>(
      'WHERE tenant_id = ? AND sequence > ? ORDER BY sequence LIMIT ?',
    ),
    /** Entries of one event, in order, from `after` (exclusive). Reads no entry of another event. */
    auditEntriesOfEvent: entries.rows<[tenantId: string, event: string, after: number, limit: number]>(
      'WHERE tenant_id = ? AND event = ? AND sequence > ? ORDER BY sequence LIMIT ?',
    ),
    /** Entries before the sequence `before` (exclusive), newest first. */
    recentAuditEntries: entries.rows<[tenantId: string, before: number, limit: number]>(
      'WHERE tenant_id = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?',
    ),
    /** Entries of one event, newest first, before the sequence `before` (exclusive). Reads no entry of another event. */
    recentAuditEntriesOfEvent: entries.rows<[tenantId: string, event: string, before: number, limit: number]>(
      'WHERE tenant_id = ? AND event = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?',
    ),
    auditVerification: from(AUDIT_WALK).row<[]>(''),
    /** When `countersign backup` last succeeded; null for never. */
    lastBackupAt: async () => (await lastBackup())?.at ?? null,
  }
}

/** @param auditEnd of the reader on the same connection */
export function auditWriter(
  database: Connection,
  { auditEnd }: Pick<ReturnType<typeof auditReader>, 'auditEnd'>,
) {
  const { insert, put } = writing(database)
  const appendAudit = insert(AUDIT)
  const putAuditSeal = put(AUDIT_SEAL)
  const putBackup = put(LAST_BACKUP)
  return {
    appendAudit,
    putAuditSeal,
    putAuditVerification: put(AUDIT_WALK),
    /**
     * Appends entries after the last one of a tenant's log, and seals the log.
     * @param follow called once, with the entry that is the last at that moment (undefined for an empty log); returns one entry or more
     * @param asked the answer of `auditEnd`, when the transaction has asked for it before
     */
    extendAudit: async (
      tenantId: string,
      follow: (head: AuditRecord | undefined) => { records: AuditRecord[]; seal: AuditSealRecord },
      asked: Promise<AuditEnd> = auditEnd(tenantId),
    ) => {
      const { records, seal } = follow((await asked).head)
      await Promise.all([...records.map((record) => appendAudit(record)), putAuditSeal(seal)])
    },
    setLastBackup: (at: number) => putBackup({ at }),
  }
}
