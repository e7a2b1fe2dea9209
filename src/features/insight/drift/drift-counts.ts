/** Counts of the verifies within a time, as histograms without users. Counts of several times, and of several services, can be added up. */
import type { Observed } from '../../../api/endpoint.js'
import { ERRORS } from '../../../contract/error-codes.js'
import type { Observation } from '../../../http/observation/observation.js'
import { addCounts, binOf, type Histogram, increase } from '../histogram.js'

export const MEASURES = ['scores', 'quality', 'outcomes'] as const
export type Measure = (typeof MEASURES)[number]

/**
 * `scores` of approvals and `quality` of the compared pictures, by bin; `outcomes`: verifies by `approved`, the reason of the rejection, or
 * the code for which the pictures were refused.
 */
export interface DriftCounts extends Record<Measure, Histogram> {
  /** Approvals by the bin of the threshold that they were held to. */
  thresholds: Histogram
}

export type CountedRequest = Observed &
  Pick<Observation, 'environment' | 'endpoint' | 'tenantId' | 'isReplay' | 'code'>

export function noDriftCounts(): DriftCounts {
  return { scores: {}, quality: {}, outcomes: {}, thresholds: {} }
}

/** Whether a request is a verify of production whose pictures were judged: the sandbox invents its verdicts. */
export function isCounted(request: CountedRequest): boolean {
  const { environment, endpoint, isReplay, verdict, reason, code } = request
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
  increase(counts.outcomes, isMatch ? 'approved' : (reason ?? code ?? 'unknown'))
  if (typeof quality === 'number') increase(counts.quality, binOf(quality))
  if (!isMatch || typeof score !== 'number') return
  increase(counts.scores, binOf(score))
  if (threshold !== undefined) increase(counts.thresholds, binOf(threshold))
}

export function sumOfCounts(parts: Iterable<DriftCounts>): DriftCounts {
  const sum = noDriftCounts()
  for (const part of parts) addCounts(sum, part)
  return sum
}
