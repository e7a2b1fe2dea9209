/** Rows of counted verifies: how they are written, added to and read. */
import type { DriftRecord } from '../storage/records.js'
import type { StoreReader, StoreTransaction } from '../storage/store.js'
import { withVerifies } from './drift-blocks.js'
import { addDriftCounts, type DriftCounts, noDriftCounts } from './drift-counts.js'
import { type CountedPeriod, type DriftHistory, MONTH_MS, startOfPeriod, WEEK_MS } from './drift-report.js'

/**
 * Adds verifies to the row of their period and to the blocks of the newest row, which other services add to as well: the caller's
 * transaction is the tenant's.
 * @param counted verifies of one tenant and model, by the start of their period
 */
export async function addToRows(
  tx: StoreTransaction,
  { tenantId, model }: Pick<DriftRecord, 'tenantId' | 'model'>,
  counted: readonly CountedPeriod[],
): Promise<void> {
  for (const { at, counts } of counted) {
    const start = startOfPeriod(at)
    const newest = await tx.newestDrift(tenantId, model)
    const isNewest = !newest || newest.at <= start
    const present = newest?.at === start ? newest : await tx.driftAt(tenantId, model, start)
    const sum = addDriftCounts(present ? parseCounts(present.counts) : noDriftCounts(), counts)
    const blocks = withVerifies(newest ? blocksOf(newest) : [], { at, counts })
    if (isNewest) {
      // Only the newest row has blocks.
      if (newest && newest !== present) await tx.putDrift({ ...newest, blocks: null })
      await tx.putDrift({
        tenantId,
        model,
        at: start,
        counts: JSON.stringify(sum),
        blocks: JSON.stringify(blocks),
      })
    } else {
      await tx.putDrift({ tenantId, model, at: start, counts: JSON.stringify(sum), blocks: null })
      await tx.putDrift({ ...newest, blocks: JSON.stringify(blocks) })
    }
  }
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
    periods: rows.map(({ at, counts }) => ({ at, counts: parseCounts(counts) })),
    blocks: newest ? blocksOf(newest) : [],
  }
}

/** The newest verifies, oldest first. */
export function blocksOf({ blocks }: DriftRecord): CountedPeriod[] {
  return blocks === null ? [] : (JSON.parse(blocks) as CountedPeriod[])
}

function parseCounts(text: string): DriftCounts {
  return { ...noDriftCounts(), ...(JSON.parse(text) as Partial<DriftCounts>) }
}
