/** The SQL of the request log, which lists recent requests in both environments. */
import type { Connection } from '../connection.js'
import type { RequestListing, RequestReader, RequestWriter } from '../readers-and-writers/request-store.js'
import type { RequestRecord } from '../records.js'
import { REQUEST } from '../tables/index.js'

export function requestReader(database: Connection): RequestReader {
  const select = `SELECT ${REQUEST.fields} FROM request_log`
  const listing = (condition: string) =>
    database.prepare<[RequestListing], RequestRecord>(
      `${select} WHERE tenant_id = @tenantId AND environment = @environment AND ${condition}
         request_id < @before AND request_id >= @from ORDER BY request_id DESC LIMIT @limit`,
    )
  const sql = {
    all: listing(''),
    ofCode: listing('code = @code AND'),
    ofSubject: listing('subject = @subject AND'),
    named: database.prepare<[{ tenantId: string; id: string; limit: number }], RequestRecord>(
      `${select} WHERE tenant_id = @tenantId AND (request_id = @id OR verification_id = @id OR client_request_id = @id)
       ORDER BY request_id DESC LIMIT @limit`,
    ),
  }
  return {
    requests: async ({ code, subject, ...listing }) => {
      if (subject !== undefined) return sql.ofSubject.all({ ...listing, subject })
      if (code !== undefined) return sql.ofCode.all({ ...listing, code })
      return sql.all.all(listing)
    },
    requestsNamed: async (tenantId, id, limit) => sql.named.all({ tenantId, id, limit }),
  }
}

export function requestWriter(database: Connection): RequestWriter {
  const trim = (condition: string) =>
    database.prepare<[{ tenantId: string; environment: string; most: number }]>(
      `DELETE FROM request_log WHERE tenant_id = @tenantId AND environment = @environment AND ${condition}
         AND request_id < (SELECT request_id FROM request_log
           WHERE tenant_id = @tenantId AND environment = @environment AND ${condition}
           ORDER BY request_id DESC LIMIT 1 OFFSET @most - 1)`,
    )
  const sql = {
    insert: database.prepare(`${REQUEST.insert} ON CONFLICT (request_id) DO NOTHING`),
    trimFailed: trim('code IS NOT NULL'),
    trimDone: trim('code IS NULL'),
    expire: database.prepare<[string, number]>(
      `WITH expired AS (SELECT request_id FROM request_log WHERE request_id < ? ORDER BY request_id
         LIMIT ? ${database.skipLocked ?? ''})
       DELETE FROM request_log WHERE request_id IN (SELECT request_id FROM expired)`,
    ),
  }
  return {
    insertRequest: async (request) => void sql.insert.run(request),
    trimRequests: async (tenantId, environment, most) => {
      const given = { tenantId, environment, most }
      await Promise.all([sql.trimFailed.run(given), sql.trimDone.run(given)])
    },
    deleteRequests: async (before, limit) => (await sql.expire.run(before, limit)).changes,
  }
}
