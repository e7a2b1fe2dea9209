/** The table of counted verifies, and its statements. */
import { DAY_MS } from '../../../lib/clock.js'
import type { Connection, ReadConnection } from '../../../storage/connection.js'
import { declareTable, integer, ofTenant, type Row, text } from '../../../storage/table.js'

/** Verifies of a tenant with one model within a quarter of a day, as histograms without users. */
export const DRIFT = declareTable({
  name: 'drift',
  columns: {
    tenantId: ofTenant,
    /** Id of the model pack that judged them. */
    model: text,
    /** Start of the quarter of a day. */
    at: integer,
    /** JSON of the counts. */
    counts: text,
    /** JSON of the newest verifies in blocks; null in all rows but the newest of the tenant and model. */
    blocks: text.orNull,
  },
  key: ['tenantId', 'model', 'at'],
  indexes: {
    drift_at: '(at)',
    drift_newest: '(tenant_id, model) WHERE blocks IS NOT NULL',
  },
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: { at: 'at', keptMs: 100 * DAY_MS },
  isCopied: true,
  sealedUnder: 'nothing',
})
export type DriftRecord = Row<typeof DRIFT>

export function driftReader(database: ReadConnection) {
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
    newestOfAll: database.prepare<[], DriftRecord>(
      `${select} WHERE blocks IS NOT NULL
         AND tenant_id NOT IN (SELECT id FROM tenant WHERE deleted_at IS NOT NULL) ORDER BY tenant_id, model`,
    ),
  }
  return {
    /** The rows of all models from a time on (inclusive), oldest first. */
    since: async (tenantId: string, since: number) => sql.since.all(tenantId, since),
    at: async (tenantId: string, model: string, at: number) => sql.at.get(tenantId, model, at),
    /** The newest row of a tenant and model. */
    newest: async (tenantId: string, model: string) => sql.newest.get(tenantId, model),
    /** The rows that have blocks, of all tenants that are not deleted: the newest of each tenant and model. */
    newestOfAll: async () => sql.newestOfAll.all(),
  }
}

export function driftWriter(database: Connection) {
  const put = database.prepare(DRIFT.replace)
  return {
    ...driftReader(database),
    /** Inserts a row, or replaces the one of the same tenant, model and time. */
    put: async (row: DriftRecord) => void put.run(row),
  }
}
