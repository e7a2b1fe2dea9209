/** Counts of what a candidate would have decided, without users. Counts of several times, and of several services, can be added up. */
import { binOf, type Histogram, increase } from '../histogram.js'

/** Why a verify that the candidate was to see was not compared. */
export const UNCOMPARED = ['no_template', 'dropped', 'not_comparable', 'failed'] as const
export type Uncompared = (typeof UNCOMPARED)[number]

/** Approval, the reason of a rejection, or the code for which the pictures were refused. */
export type ShadowOutcome = string

export interface ShadowCounts {
  /** Verifies by their outcome and that of the candidate, such as `approved no_match`. */
  outcomes: Histogram
  /** Scores of the verifies that were compared, by bins of 0.01. */
  scores: Histogram
  /** Scores that the candidate gave to the same captures, by bins of 0.01. */
  candidateScores: Histogram
  uncompared: Partial<Record<Uncompared, number>>
}

export interface ShadowedVerify {
  live: ShadowOutcome
  candidate: ShadowOutcome
  /** Score of the verify; null where nothing was compared. */
  score: number | null
  candidateScore: number | null
}

export function noShadowCounts(): ShadowCounts {
  return { outcomes: {}, scores: {}, candidateScores: {}, uncompared: {} }
}

export function countShadowed(counts: ShadowCounts, verify: ShadowedVerify): void {
  increase(counts.outcomes, `${verify.live} ${verify.candidate}`)
  if (verify.score !== null) increase(counts.scores, binOf(verify.score))
  if (verify.candidateScore !== null) increase(counts.candidateScores, binOf(verify.candidateScore))
}

/** The verdict that the candidate would give instead, or `none` for the same. A refusal of the pictures is no approval. */
export function changeOf({ live, candidate }: Pick<ShadowedVerify, 'live' | 'candidate'>) {
  if ((live === 'approved') === (candidate === 'approved')) return 'none'
  return candidate === 'approved' ? 'approved' : 'rejected'
}
