/** The SQL of what a candidate would have decided. */
import type { Connection } from '../connection.js'
import type { ShadowReader, ShadowWriter } from '../readers-and-writers/shadow-store.js'
import type { ShadowRecord } from '../records.js'
import { SHADOW } from '../tables.js'

export function shadowReader(database: Connection): ShadowReader {
  const select = `SELECT ${SHADOW.fields} FROM shadow`
  const sql = {
    since: database.prepare<[string, number], ShadowRecord>(
      `${select} WHERE tenant_id = ? AND at >= ? ORDER BY at, model, candidate`,
    ),
    at: database.prepare<[string, string, string, number], ShadowRecord>(
      `${select} WHERE tenant_id = ? AND model = ? AND candidate = ? AND at = ?`,
    ),
  }
  return {
    shadow: async (tenantId, since) => sql.since.all(tenantId, since),
    shadowAt: async ({ tenantId, model, candidate, at }) => sql.at.get(tenantId, model, candidate, at),
  }
}

export function shadowWriter(database: Connection): ShadowWriter {
  const put = database.prepare(SHADOW.replace)
  return { putShadow: async (row) => void put.run(row) }
}
