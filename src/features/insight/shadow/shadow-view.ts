/** Verdicts that a candidate would have changed, by tenant and day, as command and JSON show them. */

import { isoTime } from '../../../lib/clock.js'
import type { StoreReader } from '../../../storage/store.js'
import { countsOf, type Histogram } from '../histogram.js'
import { changeOf, noShadowCounts, type ShadowCounts } from './shadow-counts.js'
import { shadowReader } from './shadow-table.js'

/** The days from a time on, oldest first. @param since milliseconds since the Unix epoch */
export async function shadowViews(read: Pick<StoreReader, 'statements'>, tenantId: string, since: number) {
  const rows = await read.statements(shadowReader).since(tenantId, since)
  return rows.map((row) => ({
    /** The day in UTC, such as `2026-11-23`. */
    day: isoTime(row.at).slice(0, 10),
    model: row.model,
    candidate: row.candidate,
    ...viewOf(countsOf(row, noShadowCounts)),
  }))
}

export type ShadowView = Awaited<ReturnType<typeof shadowViews>>[number]

function viewOf(counts: ShadowCounts) {
  const [approved, rejected, otherwise]: [Histogram, Histogram, Histogram] = [{}, {}, {}]
  let compared = 0
  for (const [pair, count] of Object.entries(counts.outcomes)) {
    const [live, candidate] = pair.split(' ') as [string, string]
    compared += count
    const change = changeOf({ live, candidate })
    if (change === 'approved') approved[live] = count
    else if (change === 'rejected') rejected[candidate] = count
    else if (live !== candidate) otherwise[`${live} -> ${candidate}`] = count
  }
  const { no_template = 0, dropped = 0, not_comparable = 0, failed = 0 } = counts.uncompared
  return {
    /** Verifies that both judged. */
    compared,
    /** Verifies that were not approved and that the candidate would approve, by the reason or code that they were given. */
    would_approve: approved,
    /** Approvals that the candidate would not give, by the reason or code that it would give. */
    would_reject: rejected,
    /** Verifies that neither approves, for different reasons: `given -> candidate`. */
    other_reason: otherwise,
    no_template,
    dropped,
    not_comparable,
    failed,
    /** Scores in bins of 0.01: the number of a bin is the hundredth at which it begins. */
    scores: counts.scores,
    candidate_scores: counts.candidateScores,
  }
}
