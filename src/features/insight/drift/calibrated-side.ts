/** The genuine attempts that a calibration expects: the histogram of their scores above a threshold, and the share that does not match. */
import type { Calibration } from '../../../../models/pack/calibration.js'
import { BINS, type Histogram } from '../histogram.js'

interface RatePoint {
  threshold: number
  /** Share of genuine pairs below the threshold. */
  fnmr: number
}

/**
 * Expected scores of approvals from a bin on. The share between two thresholds is the difference of their false non-match rates, in
 * even parts. All scores above the highest threshold are in its bin. The sum is the number of calibrated people: pairs of one person
 * have much in common.
 */
export function calibratedScores(calibration: Calibration, fromBin: number): Histogram {
  const points = ratePoints(calibration)
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last) return {}
  const lowest = Math.max(fromBin, Math.ceil(first.threshold * BINS))
  const highest = Math.floor(last.threshold * BINS)
  if (highest <= lowest) return {}
  const below = (bin: number) => fnmrAt(points, bin / BINS)
  const whole = 1 - below(lowest)
  const shares: Histogram = {}
  for (let bin = lowest; bin < highest; bin++) shares[bin] = below(bin + 1) - below(bin)
  shares[highest] = 1 - below(highest)
  return Object.fromEntries(
    Object.entries(shares).map(([bin, share]) => [bin, (share / whole) * calibration.data.people]),
  )
}

/** Expected matches of genuine attempts; their sum is the number of calibrated people. */
export function calibratedOutcomes(calibration: Calibration, threshold: number): Histogram {
  const points = ratePoints(calibration)
  if (points.length === 0) return {}
  const { people } = calibration.data
  const fnmr = fnmrAt(points, threshold)
  return { approved: people * (1 - fnmr), no_match: people * fnmr }
}

function ratePoints({ points }: Calibration): RatePoint[] {
  return points
    .flatMap(({ threshold, fnmr }) => (fnmr === null ? [] : [{ threshold, fnmr }]))
    .sort((a, b) => a.threshold - b.threshold)
}

/** Linear between the two points around the threshold, and never beyond the outermost ones. */
function fnmrAt(points: readonly RatePoint[], threshold: number): number {
  const above = points.find((point) => point.threshold >= threshold) ?? points.at(-1)!
  const below = points.findLast((point) => point.threshold <= threshold) ?? points[0]!
  const span = above.threshold - below.threshold
  return span <= 0
    ? below.fnmr
    : below.fnmr + ((threshold - below.threshold) / span) * (above.fnmr - below.fnmr)
}
