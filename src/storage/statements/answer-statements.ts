/** The SQL of answers that are kept: those to requests that may come again, and the receipts of erasures. */
import { type Connection, type ReadConnection, reading, writing } from '../connection.js'
import type { IdempotencyRecord } from '../records.js'
import { ERASURE, IDEMPOTENCY } from '../tables/index.js'

export function answerReader(database: ReadConnection) {
  const { from } = reading(database)
  const kept = from(IDEMPOTENCY)
  return {
    idempotencyRecord: kept.row<[scope: Buffer, now: number]>('WHERE scope = ? AND expires_at > ?', 'brief'),
    /** The first kept response to this payload about this user since then, under any idempotency key. */
    responseToPayload: kept.row<[blindIndex: Buffer, payloadHash: Buffer, since: number]>(
      'WHERE lookup = ? AND payload_hash = ? AND created_at >= ? ORDER BY created_at LIMIT 1',
    ),
    erasure: from(ERASURE).row<[blindIndex: Buffer, now: number]>(
      'WHERE lookup = ? AND expires_at > ?',
      'brief',
    ),
  }
}

export function answerWriter(database: Connection) {
  const { run, put } = writing(database)
  return {
    /**
     * Inserts the record, or replaces an expired one of the same scope that was not deleted yet. When one in force exists, the transaction
     * fails with AlreadyExecutedError, here or at its end: its hash becomes NULL, which the column refuses, so that the statement fails, and
     * with it a transaction that has not waited for its answer.
     */
    insertIdempotencyRecord: run<[record: IdempotencyRecord]>(
      `${IDEMPOTENCY.insert}
       ON CONFLICT (scope) DO UPDATE SET lookup = excluded.lookup, subject_id = excluded.subject_id,
         payload_hash = CASE WHEN idempotency.expires_at <= excluded.created_at THEN excluded.payload_hash END,
         status = excluded.status, sealed = excluded.sealed, created_at = excluded.created_at,
         expires_at = excluded.expires_at`,
    ),
    putErasure: put(ERASURE),
  }
}
