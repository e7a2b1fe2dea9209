/** The table of what a candidate would have decided, and its statements. */

import { DAY_MS } from '../../../lib/clock.js'
import { type Connection, type ReadConnection, reading, writing } from '../../../storage/connection.js'
import { declareTable, integer, ofTenant, type Row, text } from '../../../storage/table.js'

/** Counts of a candidate are kept for as long as those of drift. */
const KEPT_MS = 100 * DAY_MS

/** Decisions of a candidate about the verifications of a tenant within a day, as counts and histograms without users. */
export const SHADOW = declareTable({
  name: 'shadow',
  columns: {
    tenantId: ofTenant,
    model: text,
    /** The candidate in words, such as `FMR 1e-05`. */
    candidate: text,
    /** Start of the day in UTC. */
    at: integer,
    counts: text,
  },
  key: ['tenantId', 'model', 'candidate', 'at'],
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: { at: 'at', keptMs: KEPT_MS },
  withoutRowId: true,
  sealedUnder: 'nothing',
})
export type ShadowRecord = Row<typeof SHADOW>

export function shadowReader(database: ReadConnection) {
  const { row, rows } = reading(database).from(SHADOW)
  return {
    /** The rows from a time on (inclusive), oldest first. */
    since: rows<[tenantId: string, since: number]>(
      'WHERE tenant_id = ? AND at >= ? ORDER BY at, model, candidate',
    ),
    at: row<[place: Omit<ShadowRecord, 'counts'>]>(
      'WHERE tenant_id = @tenantId AND model = @model AND candidate = @candidate AND at = @at',
    ),
  }
}

export function shadowWriter(database: Connection) {
  return {
    ...shadowReader(database),
    put: writing(database).put(SHADOW),
  }
}
