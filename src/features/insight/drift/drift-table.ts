/** The table of counted verifies, and its statements. */
import { DAY_MS } from '../../../lib/clock.js'
import { type Connection, type ReadConnection, reading, writing } from '../../../storage/connection.js'
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
  withoutRowId: true,
  sealedUnder: 'nothing',
})
export type DriftRecord = Row<typeof DRIFT>

export function driftReader(database: ReadConnection) {
  const { row, rows } = reading(database).from(DRIFT)
  return {
    /** The rows of all models from a time on (inclusive), oldest first. */
    since: rows<[tenantId: string, since: number]>('WHERE tenant_id = ? AND at >= ? ORDER BY model, at'),
    at: row<[tenantId: string, model: string, at: number]>('WHERE tenant_id = ? AND model = ? AND at = ?'),
    newest: row<[tenantId: string, model: string]>(
      'WHERE tenant_id = ? AND model = ? ORDER BY at DESC LIMIT 1',
    ),
    /** The rows that have blocks, of all tenants that are not deleted: the newest of each tenant and model. */
    newestOfAll: rows<[]>(
      `WHERE blocks IS NOT NULL
         AND tenant_id NOT IN (SELECT id FROM tenant WHERE deleted_at IS NOT NULL) ORDER BY tenant_id, model`,
    ),
  }
}

export function driftWriter(database: Connection) {
  return {
    ...driftReader(database),
    put: writing(database).put(DRIFT),
  }
}
