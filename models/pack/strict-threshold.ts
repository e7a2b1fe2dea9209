/** Thresholds for rates stricter than those that a pack was measured at. */
import { calibrationPoints, type ModelPack, thresholdForFmr } from './model-pack.js'

export interface StrictThreshold {
  threshold: number
  /** Whether the rate lies within the measured ones, or the threshold continues the line of the last ones. */
  basis: 'measured' | 'extrapolated'
}

/** The line is drawn through the strictest point and one whose rate is at least this many times higher. */
const SPREAD = 4

/**
 * Finds the threshold for a strict rate. Beyond the measured rates it continues the line of threshold over the logarithm of the rate. In
 * the measured part of `standard` the threshold rises by 0.104, 0.084 and 0.075 a decade: less and less, so that the line asks for more than
 * the curve would. Nobody has measured that the curve goes on so.
 * @param fmr requested rate, over 0 and at most 1
 * @returns null where the pack has too few points to draw the line
 */
export function strictThreshold(pack: ModelPack, fmr: number): StrictThreshold | null {
  const point = thresholdForFmr(pack, fmr)
  if (!point.clamped || point.fmr <= fmr) return { threshold: point.threshold, basis: point.basis }
  const points = calibrationPoints(pack).sort((a, b) => a.fmr - b.fmr)
  const last = points[0]!
  const anchor = points.find((one) => one.fmr >= last.fmr * SPREAD)
  if (!anchor) return null
  const perDecade = (last.threshold - anchor.threshold) / Math.log10(anchor.fmr / last.fmr)
  const threshold = last.threshold + perDecade * Math.log10(last.fmr / fmr)
  return { threshold, basis: 'extrapolated' }
}
