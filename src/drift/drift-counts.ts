/** Counts of the verifies within a time, as histograms without users. Counts of several times, and of several services, can be added up. */
import { ERRORS } from '../contract/error-codes.js'

/** Bins of scores and of qualities, each 0.01 wide, from 0 to 1. A value beyond them counts in the outermost bin. */
export const DRIFT_BINS = 100

/** The histograms that are compared. */
export const MEASURES = ['scores', 'quality', 'outcomes'] as const
export type Measure = (typeof MEASURES)[number]

/** How often each bin or each outcome was seen; bins without a count are left out. */
export type Histogram = Record<string, number>

export interface DriftCounts extends Record<Measure, Histogram> {
  /** Scores of approvals, by bin. */
  scores: Histogram
  /** Quality of the compared pictures, by bin. */
  quality: Histogram
  /** Verifies by `approved`, the reason of the rejection, or the code for which the pictures were refused. */
  outcomes: Histogram
  /** Approvals by the bin of the threshold that they were held to. */
  thresholds: Histogram
}

/** The facts of an answered request that are counted. */
export interface CountedRequest {
  environment: 'sandbox' | 'production'
  endpoint: string
  tenantId: string | undefined
  /** Whether the answer was kept from an earlier request. */
  isReplay: boolean
  code: keyof typeof ERRORS | undefined
  verdict?: 'approved' | 'rejected'
  reason?: string | null
  score?: number | null
  threshold?: number
  quality?: number | null
}

export function noDriftCounts(): DriftCounts {
  return { scores: {}, quality: {}, outcomes: {}, thresholds: {} }
}

/** Whether a request is a verify of production whose pictures were judged: the sandbox invents its verdicts. */
export function isCounted({
  environment,
  endpoint,
  isReplay,
  verdict,
  reason,
  code,
}: CountedRequest): boolean {
  if (environment !== 'production' || endpoint !== 'verify' || isReplay) return false
  // A lockout is a verdict without a look at the pictures.
  if (verdict) return reason !== 'locked_out' && reason !== 'reference_disabled'
  return code !== undefined && ERRORS[code].category === 'biometric_rejected'
}

/** Adds a request for which `isCounted` holds. */
export function countVerify(counts: DriftCounts, request: CountedRequest): void {
  const { verdict, reason, code, score, threshold, quality } = request
  // The face matched, and the policy waits for a second person.
  const isMatch = verdict === 'approved' || reason === 'second_approval_required'
  add(counts.outcomes, isMatch ? 'approved' : (reason ?? code ?? 'unknown'), 1)
  if (typeof quality === 'number') add(counts.quality, binOf(quality), 1)
  if (!isMatch || typeof score !== 'number') return
  add(counts.scores, binOf(score), 1)
  if (threshold !== undefined) add(counts.thresholds, binOf(threshold), 1)
}

export function addDriftCounts(sum: DriftCounts, part: DriftCounts): DriftCounts {
  for (const name of ['scores', 'quality', 'outcomes', 'thresholds'] as const)
    for (const [bin, count] of Object.entries(part[name])) add(sum[name], bin, count)
  return sum
}

export function sumOfCounts(parts: Iterable<DriftCounts>): DriftCounts {
  const sum = noDriftCounts()
  for (const part of parts) addDriftCounts(sum, part)
  return sum
}

/** Number of entries of a histogram. */
export function totalOf(histogram: Histogram): number {
  let total = 0
  for (const count of Object.values(histogram)) total += count
  return total
}

/** Number of the bin of a value; -1..0 counts as 0. */
export function binOf(value: number): string {
  return String(Math.min(Math.max(Math.floor(value * DRIFT_BINS), 0), DRIFT_BINS - 1))
}

function add(histogram: Histogram, bin: string, count: number): void {
  histogram[bin] = (histogram[bin] ?? 0) + count
}
