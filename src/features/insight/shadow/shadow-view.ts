/** Verdicts that a candidate would have changed, by tenant and day, as command and JSON show them. */

import { isoTime } from '../../../lib/clock.js'
import type { StoreReader } from '../../../storage/store.js'
import { countsOf, type Histogram } from '../histogram.js'
import { changeOf, noShadowCounts, type ShadowCounts } from './shadow-counts.js'
import { shadowReader } from './shadow-table.js'

export interface ShadowView {
  /** The day in UTC, such as `2026-11-23`. */
  day: string
  /** Id of the model pack that decided. */
  model: string
  /** The candidate, in words. */
  candidate: string
  /** Verifies that both judged. */
  compared: number
  /** Verifies that were not approved and that the candidate would approve, by the reason or code that they were given. */
  would_approve: Histogram
  /** Approvals that the candidate would not give, by the reason or code that it would give. */
  would_reject: Histogram
  /** Verifies that neither approves, for different reasons: `given -> candidate`. */
  other_reason: Histogram
  no_template: number
  dropped: number
  not_comparable: number
  failed: number
  /** Scores in bins of 0.01: the number of a bin is the hundredth at which it begins. */
  scores: Histogram
  candidate_scores: Histogram
}

/** The days from a time on, oldest first. @param since milliseconds since the Unix epoch */
export async function shadowViews(
  read: Pick<StoreReader, 'statements'>,
  tenantId: string,
  since: number,
): Promise<ShadowView[]> {
  const rows = await read.statements(shadowReader).since(tenantId, since)
  return rows.map((row) => ({
    day: isoTime(row.at).slice(0, 10),
    model: row.model,
    candidate: row.candidate,
    ...viewOf(countsOf(row, noShadowCounts)),
  }))
}

function viewOf(counts: ShadowCounts): Omit<ShadowView, 'day' | 'model' | 'candidate'> {
  const changes = { would_approve: {}, would_reject: {}, other_reason: {} } as Record<string, Histogram>
  let compared = 0
  for (const [pair, count] of Object.entries(counts.outcomes)) {
    const [live, candidate] = pair.split(' ') as [string, string]
    compared += count
    const change = changeOf({ live, candidate })
    if (change === 'approved') changes.would_approve![live] = count
    else if (change === 'rejected') changes.would_reject![candidate] = count
    else if (live !== candidate) changes.other_reason![`${live} -> ${candidate}`] = count
  }
  const { no_template = 0, dropped = 0, not_comparable = 0, failed = 0 } = counts.uncompared
  return {
    compared,
    ...(changes as Pick<ShadowView, 'would_approve' | 'would_reject' | 'other_reason'>),
    no_template,
    dropped,
    not_comparable,
    failed,
    scores: counts.scores,
    candidate_scores: counts.candidateScores,
  }
}
