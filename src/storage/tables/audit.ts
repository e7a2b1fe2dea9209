/** The audit log, its seals, and how far it was verified. */
import { bytes, declareTable, integer, LASTING, ofTenant, type Row, text } from '../table.js'

/** SQLite's expression of a field of an entry, null where there is none. */
const field = (name: string) => `CASE WHEN json_valid(entry) THEN json_extract(entry, '$.${name}') END`

/** The log of each tenant. It names users by a pseudonym that is lost with their data key. */
export const AUDIT = declareTable({
  name: 'audit',
  columns: {
    tenantId: ofTenant,
    /** Number of the entry: 1, 2, 3, … without a gap. */
    sequence: integer,
    /** Canonical JSON of the entry. */
    entry: text,
    /** Value of the hash chain after this entry, 32 bytes. */
    hash: bytes,
  },
  key: ['tenantId', 'sequence'],
  // The entry is canonical JSON, and covered by the hashes. A cast to JSON would refuse an entry that somebody has damaged. SQLite keeps the
  // column only in the index.
  computed: {
    event: {
      sqlite: `TEXT GENERATED ALWAYS AS (${field('event')}) VIRTUAL`,
      postgres: `text COLLATE "C" GENERATED ALWAYS AS (substring(entry FROM '"event":"([a-z0-9_]+)"')) STORED`,
    },
  },
  indexes: {
    audit_event: '(tenant_id, event, sequence)',
    // The ids of verifications of production, and the erasures of their users. PostgreSQL builds these while others write.
    audit_verification: { sqlite: `(tenant_id, ${field('verification_id')}) WHERE event = 'verify'` },
    audit_erased: { sqlite: `(tenant_id, ${field('subject')}) WHERE event = 'delete'` },
  },
  ...LASTING,
  withoutRowId: true,
  sealedUnder: 'nothing',
})
export type AuditRecord = Row<typeof AUDIT>

/** How far a tenant's log goes, authenticated under the chain key: a person who cuts off the end of the log cannot make a valid seal for the rest. */
export const AUDIT_SEAL = declareTable({
  name: 'audit_seal',
  columns: {
    tenantId: ofTenant,
    sequence: integer,
    mac: bytes,
  },
  key: ['tenantId'],
  ...LASTING,
  withoutRowId: true,
  sealedUnder: 'nothing',
})
export type AuditSealRecord = Row<typeof AUDIT_SEAL>

/** How far the background verification of the logs has come: JSON, authenticated under a key that is not in the database. */
export const AUDIT_WALK = declareTable({
  name: 'audit_walk',
  columns: {
    state: text,
    mac: bytes,
  },
  key: 'one',
  ...LASTING,
  sealedUnder: 'nothing',
})
export type AuditVerificationRecord = Row<typeof AUDIT_WALK>

/** The time of the last backup. */
export const LAST_BACKUP = declareTable({
  name: 'last_backup',
  columns: {
    at: integer,
  },
  key: 'one',
  ...LASTING,
  sealedUnder: 'nothing',
})
