/** The table of counted requests, and its statements. */
import { DAY_MS, HOUR_MS } from '../../../lib/clock.js'
import { type Connection, type ReadConnection, reading, writing } from '../../../storage/connection.js'
import { declareTable, integer, type Row, text } from '../../../storage/table.js'

/** Counted requests of a tenant within one interval, without users. */
export const TRAFFIC = declareTable({
  name: 'traffic',
  columns: {
    tenantId: text.with('REFERENCES tenant (id) ON DELETE CASCADE'),
    resolution: text.oneOf('minute', 'hour'),
    /** Start of the interval. */
    at: integer,
    counts: text,
  },
  key: ['tenantId', 'resolution', 'at'],
  indexes: {
    traffic_at: '(resolution, at)',
  },
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: [
    { at: 'at', keptMs: 2 * HOUR_MS, when: "resolution = 'minute'" },
    { at: 'at', keptMs: 8 * DAY_MS, when: "resolution = 'hour'" },
  ],
  withoutRowId: true,
  sealedUnder: 'nothing',
})
export type TrafficRecord = Row<typeof TRAFFIC>
/** Length of a counted interval of traffic. */
export type TrafficResolution = TrafficRecord['resolution']

export function trafficReader(database: ReadConnection) {
  const { row, rows } = reading(database).from(TRAFFIC)
  return {
    /** Counted intervals from `since` on, oldest first. */
    since: rows<[tenantId: string, resolution: TrafficResolution, since: number]>(
      'WHERE tenant_id = ? AND resolution = ? AND at >= ? ORDER BY at',
    ),
    at: row<[tenantId: string, resolution: TrafficResolution, at: number]>(
      'WHERE tenant_id = ? AND resolution = ? AND at = ?',
    ),
  }
}

export function trafficWriter(database: Connection) {
  return {
    ...trafficReader(database),
    put: writing(database).put(TRAFFIC),
  }
}
