/** Answers that are kept: those to requests that may come again, and the receipts of erasures. */
import { blindIndex, bytes, declareTable, integer, type Row, text } from '../table.js'

/** Answers to requests, kept for those that come again. */
export const IDEMPOTENCY = declareTable({
  name: 'idempotency',
  columns: {
    /** HMAC of tenant, environment, method, path and key. */
    scope: bytes,
    /** Blind index of the user whose erasure deletes this record; null for none. */
    blindIndex: blindIndex.orNull,
    /** The subject whose data key sealed it; null for the service's own key. */
    subjectId: text.orNull,
    /** SHA-256 of the raw body of the first request. */
    payloadHash: bytes,
    status: integer,
    sealed: bytes,
    createdAt: integer,
    expiresAt: integer,
  },
  key: ['scope'],
  indexes: {
    idempotency_lookup: '(lookup) WHERE lookup IS NOT NULL',
    idempotency_expires_at: '(expires_at)',
  },
  atErasure: 'deleted',
  countedAs: 'idempotencyRecords',
  atTenantEnd: 'kept',
  expires: { at: 'expiresAt' },
  atBackup: 'DELETE FROM idempotency WHERE subject_id IS NULL AND lookup IS NOT NULL',
  sealedUnder: { key: 'idempotency', column: 'sealed', when: 'subject_id IS NULL' },
})
export type IdempotencyRecord = Row<typeof IDEMPOTENCY>

/** The receipt of an erasure, which the erasure writes. */
export const ERASURE = declareTable({
  name: 'erasure',
  columns: {
    blindIndex,
    erasureId: text,
    erasedAt: integer,
    references: integer.named('reference_count'),
    captures: integer.named('capture_count'),
    /** 0 in a receipt that an earlier version wrote. */
    passkeys: integer.with('DEFAULT 0').named('passkey_count'),
    idempotencyRecords: integer.named('idempotency_count'),
    expiresAt: integer,
  },
  key: ['blindIndex'],
  indexes: {
    erasure_expires_at: '(expires_at)',
  },
  atErasure: 'kept',
  atTenantEnd: 'kept',
  expires: { at: 'expiresAt' },
  sealedUnder: 'nothing',
})
export type ErasureRecord = Row<typeof ERASURE>
