/** The SQL of counted verifies. */
import type { Connection } from '../connection.js'
import type { DriftReader, DriftWriter } from '../readers-and-writers/drift-store.js'
import type { DriftRecord } from '../records.js'
import { DRIFT } from '../tables/index.js'

export function driftReader(database: Connection): DriftReader {
  const select = `SELECT ${DRIFT.fields} FROM drift`
  const sql = {
    since: database.prepare<[string, number], DriftRecord>(
      `${select} WHERE tenant_id = ? AND at >= ? ORDER BY model, at`,
    ),
    at: database.prepare<[string, string, number], DriftRecord>(
      `${select} WHERE tenant_id = ? AND model = ? AND at = ?`,
    ),
    newest: database.prepare<[string, string], DriftRecord>(
      `${select} WHERE tenant_id = ? AND model = ? ORDER BY at DESC LIMIT 1`,
    ),
    latest: database.prepare<[], DriftRecord>(
      `${select} WHERE blocks IS NOT NULL
         AND tenant_id NOT IN (SELECT id FROM tenant WHERE deleted_at IS NOT NULL) ORDER BY tenant_id, model`,
    ),
  }
  return {
    drift: async (tenantId, since) => sql.since.all(tenantId, since),
    driftAt: async (tenantId, model, at) => sql.at.get(tenantId, model, at),
    newestDrift: async (tenantId, model) => sql.newest.get(tenantId, model),
    latestDrift: async () => sql.latest.all(),
  }
}

export function driftWriter(database: Connection): DriftWriter {
  const put = database.prepare(DRIFT.replace)
  const setSince = database.prepare('UPDATE tenant SET drift_since = ? WHERE id = ?')
  return {
    putDrift: async (row) => void put.run(row),
    setDriftSince: async (tenantId, since) => void setSince.run(since, tenantId),
  }
}
