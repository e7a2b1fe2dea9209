/** Rows of counted verifies: how they are written, added to and read. */
import type { StoreReader, StoreTransaction } from '../../../storage/store.js'
import { addCounts, countsOf, totalOf } from '../histogram.js'
import { noDriftCounts } from './drift-counts.js'
import {
  BLOCK_VERIFIES,
  type CountedPeriod,
  type DriftHistory,
  LEAST_VERIFIES,
  MONTH_MS,
  startOfPeriod,
  WEEK_MS,
} from './drift-report.js'
import { type DriftRecord, driftReader, driftWriter } from './drift-table.js'

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
  const drift = tx.statements(driftWriter)
  const newest = await drift.newest(tenantId, model)
  const present = newest?.at === start ? newest : await drift.at(tenantId, model, start)
  const sum = addCounts(countsOf(present, noDriftCounts), counts)
  const blocks = JSON.stringify(withVerifies(newest ? blocksOf(newest) : [], { at, counts }))
  const isNewest = !newest || newest.at <= start
  // Only the newest row has blocks.
  const row = { tenantId, model, at: start, counts: JSON.stringify(sum), blocks: isNewest ? blocks : null }
  if (newest && newest !== present) await drift.put({ ...newest, blocks: isNewest ? null : blocks })
  await drift.put(row)
}

/** Everything that a report at this time needs, by model. */
export async function readHistories(
  read: Pick<StoreReader, 'statements'>,
  tenantId: string,
  now: number,
): Promise<Map<string, DriftHistory>> {
  const rows = await read.statements(driftReader).since(tenantId, startOfPeriod(now) - WEEK_MS - MONTH_MS)
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

/** Adds to the block that is being filled, or begins one, and leaves out the oldest where the others suffice for a window. */
export function withVerifies(blocks: readonly CountedPeriod[], added: CountedPeriod): CountedPeriod[] {
  const last = blocks.at(-1)
  const isOpen = last !== undefined && totalOf(last.counts.outcomes) < BLOCK_VERIFIES
  const all = isOpen
    ? [...blocks.slice(0, -1), { at: last.at, counts: addCounts(last.counts, added.counts) }]
    : [...blocks, added]
  const verifies = (some: readonly CountedPeriod[]) =>
    some.reduce((sum, { counts }) => sum + totalOf(counts.outcomes), 0)
  while (all.length > 1 && verifies(all.slice(1)) >= LEAST_VERIFIES) all.shift()
  return all
}
