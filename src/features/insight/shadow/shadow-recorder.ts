/** Keeps what was counted in shadow, by tenant, day, deciding model and candidate. */
import { DAY_MS, SECOND_MS } from '../../../lib/clock.js'
import type { TenantRecord } from '../../../storage/records.js'
import type { StoreTransaction } from '../../../storage/store.js'
import { addCounts, countsOf } from '../histogram.js'
import { type RecorderParts, type Rows, TenantRecorder } from '../tenant-recorder.js'
import { noShadowCounts, type ShadowCounts } from './shadow-counts.js'
import { type ShadowRecord, shadowWriter } from './shadow-table.js'

type RowKey = Omit<ShadowRecord, 'counts'>

interface Row {
  key: RowKey
  counts: ShadowCounts
}

export class ShadowRecorder extends TenantRecorder<Row> {
  constructor(private readonly parts: RecorderParts) {
    super(parts, { everyMs: 15 * SECOND_MS, failure: 'the counts of the candidate could not be saved' })
  }

  /** The counts of today, to which the caller adds before it awaits anything. */
  countsOf(row: Omit<RowKey, 'at'>): ShadowCounts {
    const key = { ...row, at: Math.floor(this.parts.clock.now() / DAY_MS) * DAY_MS }
    const name = [key.model, key.candidate, key.at].join('\0')
    return this.rowOf(row.tenantId, name, () => ({ key, counts: noShadowCounts() })).counts
  }

  protected add(sum: Row, part: Row): void {
    addCounts(sum.counts, part.counts)
  }

  protected async write(tx: StoreTransaction, _tenant: TenantRecord, rows: Rows<Row>): Promise<void> {
    const table = tx.statements(shadowWriter)
    for (const { key, counts } of rows.values()) {
      const sum = addCounts(countsOf(await table.at(key), noShadowCounts), counts)
      await table.put({ ...key, counts: JSON.stringify(sum) })
    }
  }
}
