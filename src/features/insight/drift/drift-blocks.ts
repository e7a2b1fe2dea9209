/** The newest verifies of a tenant in blocks, which a window of the latest is made of however many verifies a day has. */
import { totalOf } from '../histogram.js'
import { addDriftCounts } from './drift-counts.js'
import { BLOCK_VERIFIES, type CountedPeriod, LEAST_VERIFIES } from './drift-report.js'

/** Adds to the block that is being filled, or begins one, and leaves out the oldest where the others suffice for a window. */
export function withVerifies(blocks: readonly CountedPeriod[], added: CountedPeriod): CountedPeriod[] {
  const last = blocks.at(-1)
  const isOpen = last !== undefined && totalOf(last.counts.outcomes) < BLOCK_VERIFIES
  const all = isOpen
    ? [...blocks.slice(0, -1), { at: last.at, counts: addDriftCounts(last.counts, added.counts) }]
    : [...blocks, added]
  const verifies = (some: readonly CountedPeriod[]) =>
    some.reduce((sum, { counts }) => sum + totalOf(counts.outcomes), 0)
  while (all.length > 1 && verifies(all.slice(1)) >= LEAST_VERIFIES) all.shift()
  return all
}
