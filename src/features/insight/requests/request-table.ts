/** The table of the request log, and its statements. */
import type { Environment } from '../../../config/config.js'
import { type Connection, type ReadConnection, reading, writing } from '../../../storage/connection.js'
import { declareTable, environment, integer, ofTenant, type Row, real, text } from '../../../storage/table.js'

/** The request log of the last days, in both environments. Old requests end by their id, which begins with their time. */
export const REQUEST = declareTable({
  name: 'request_log',
  columns: {
    /** UUIDv7: entries sort by it in the order in which requests came. */
    requestId: text,
    tenantId: ofTenant,
    environment,
    endpoint: text,
    status: integer,
    /** Error code, or the reason of a rejection; null where neither is. */
    code: text.orNull,
    verdict: text.oneOf('approved', 'rejected').orNull,
    /** 1 when the answer was kept from an earlier request, else 0. */
    isReplay: integer,
    durationMs: real,
    keyId: text.orNull,
    /** Address of the caller; null for a request of the hosted capture page. */
    address: text.orNull,
    /** The caller's own `X-Request-Id`. */
    clientRequestId: text.orNull,
    verificationId: text.orNull,
    /** Pseudonym of the user. In production it is the audit log's, which erasure makes unlinkable. */
    subject: text.orNull,
    /** User id, in the sandbox only: sealed, in base64; deleted by erasure. */
    sandboxUser: text.orNull,
  },
  key: ['requestId'],
  indexes: {
    request_log_of_tenant: '(tenant_id, environment, request_id)',
    request_log_code: '(tenant_id, environment, code, request_id) WHERE code IS NOT NULL',
    request_log_subject: '(subject, request_id) WHERE subject IS NOT NULL',
    request_log_verification: '(verification_id) WHERE verification_id IS NOT NULL',
    request_log_client: '(client_request_id) WHERE client_request_id IS NOT NULL',
  },
  // Users of the sandbox are named by their blind index, which is forgotten; those of production by a pseudonym that is lost with their key.
  atErasure: { set: 'subject = NULL, sandbox_user = NULL', where: 'subject = @hex' },
  atTenantEnd: 'deleted',
  expires: null,
  withoutRowId: true,
  atBackup: 'UPDATE request_log SET sandbox_user = NULL WHERE sandbox_user IS NOT NULL',
  sealedUnder: 'own key',
})
export type RequestRecord = Row<typeof REQUEST>

/** A text that sorts after every request id. */
export const LAST_REQUEST_ID = 'g'

export interface RequestListing {
  tenantId: string
  environment: Environment
  /** The earliest request id to list (inclusive). */
  from: string
  /** The request id at which the list ends (exclusive). */
  before: string
  limit: number
  /** Only requests with this error code or reason. */
  code?: string
  /** Only requests for the user of this pseudonym, with any code or none. */
  subject?: string
}

export function requestReader(database: ReadConnection) {
  const { rows } = reading(database).from(REQUEST)
  const listing = (condition: string) =>
    rows<[RequestListing]>(
      `WHERE tenant_id = @tenantId AND environment = @environment AND ${condition}
         request_id < @before AND request_id >= @from ORDER BY request_id DESC LIMIT @limit`,
    )
  const sql = {
    all: listing(''),
    ofCode: listing('code = @code AND'),
    ofSubject: listing('subject = @subject AND'),
    named: rows<[{ tenantId: string; id: string; limit: number }]>(
      `WHERE tenant_id = @tenantId AND (request_id = @id OR verification_id = @id OR client_request_id = @id)
       ORDER BY request_id DESC LIMIT @limit`,
    ),
  }
  return {
    /** Entries of one listing, newest first. */
    list: async ({ code, subject, ...listing }: RequestListing) => {
      if (subject !== undefined) return sql.ofSubject({ ...listing, subject })
      if (code !== undefined) return sql.ofCode({ ...listing, code })
      return sql.all(listing)
    },
    /** Entries that have the id as request id, client request id or verification id, in both environments, newest first. */
    named: async (tenantId: string, id: string, limit: number) => sql.named({ tenantId, id, limit }),
  }
}

export function requestWriter(database: Connection) {
  const { changes, run } = writing(database)
  const trim = (condition: string) =>
    database.prepare<[{ tenantId: string; environment: string; most: number }]>(
      `DELETE FROM request_log WHERE tenant_id = @tenantId AND environment = @environment AND ${condition}
         AND request_id < (SELECT request_id FROM request_log
           WHERE tenant_id = @tenantId AND environment = @environment AND ${condition}
           ORDER BY request_id DESC LIMIT 1 OFFSET @most - 1)`,
    )
  const sql = {
    trimFailed: trim('code IS NOT NULL'),
    trimDone: trim('code IS NULL'),
  }
  return {
    /** Inserts an entry, unless the request is in the log already. */
    insert: run<[request: RequestRecord]>(`${REQUEST.insert} ON CONFLICT (request_id) DO NOTHING`),
    /** Keeps only the newest `most` requests with a code and the newest `most` without a code. */
    trim: async (tenantId: string, environment: Environment, most: number) => {
      const given = { tenantId, environment, most }
      await Promise.all([sql.trimFailed.run(given), sql.trimDone.run(given)])
    },
    /** Deletes requests with an id before this one, oldest first. @returns how many */
    deleteBefore: changes<[before: string, limit: number]>(
      `WITH expired AS (SELECT request_id FROM request_log WHERE request_id < ? ORDER BY request_id
         LIMIT ? ${database.skipLocked ?? ''})
       DELETE FROM request_log WHERE request_id IN (SELECT request_id FROM expired)`,
    ),
  }
}
