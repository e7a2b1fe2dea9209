/** Rows of counted verifies: how they are written, added to and read. */
import type { DriftRecord } from '../../../storage/records.js'
import type { StoreReader, StoreTransaction } from '../../../storage/store.js'
import { countsOf } from '../histogram.js'
import { withVerifies } from './drift-blocks.js'
import { addDriftCounts, noDriftCounts } from './drift-counts.js'
import { type CountedPeriod, type DriftHistory, MONTH_MS, startOfPeriod, WEEK_MS } from './drift-report.js'

/**
 * Adds verifies to the row of their period and to the blocks of the newest row, which other services add to as well: the caller's
 * transaction is the tenant's.
 */
export async function addToRow(
  tx: StoreTransaction,
  { tenantId, model }: Pick<DriftRecord, 'tenantId' | 'model'>,
  { at, counts }: CountedPeriod,
): Promise<void> {
  const start = startOfPeriod(at)
  const newest = await tx.newestDrift(tenantId, model)
  const present = newest?.at === start ? newest : await tx.driftAt(tenantId, model, start)
  const sum = addDriftCounts(countsOf(present, noDriftCounts), counts)
  const blocks = JSON.stringify(withVerifies(newest ? blocksOf(newest) : [], { at, counts }))
  const isNewest = !newest || newest.at <= start
  // Only the newest row has blocks.
  const row = { tenantId, model, at: start, counts: JSON.stringify(sum), blocks: isNewest ? blocks : null }
  if (newest && newest !== present) await tx.putDrift({ ...newest, blocks: isNewest ? null : blocks })
  await tx.putDrift(row)
}

/** Everything that a report at this time needs, by model. */
export async function readHistories(
  read: Pick<StoreReader, 'drift'>,
  tenantId: string,
  now: number,
): Promise<Map<string, DriftHistory>> {
  const rows = await read.drift(tenantId, startOfPeriod(now) - WEEK_MS - MONTH_MS)
  const models = new Set(rows.map(({ model }) => model))
  return new Map([...models].map((model) => [model, historyOf(rows.filter((row) => row.model === model))]))
}

/** @param rows of one tenant and model, oldest first */
function historyOf(rows: readonly DriftRecord[]): DriftHistory {
  const newest = rows.at(-1)
  return {
    periods: rows.map((row) => ({ at: row.at, counts: countsOf(row, noDriftCounts) })),
    blocks: newest ? blocksOf(newest) : [],
  }
}

/** The newest verifies, oldest first. */
export function blocksOf({ blocks }: DriftRecord): CountedPeriod[] {
  return blocks === null ? [] : (JSON.parse(blocks) as CountedPeriod[])
}
