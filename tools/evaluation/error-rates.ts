/** Error rates of a verification system from scored pairs (ISO/IEC 19795-1): FNMR at a false match rate, EER, balanced accuracy. */
import { countWhile } from './score-curve.js'

export interface ScoredPair {
  /** Higher is more alike; null when an image could not be used, which counts as a non-match. */
  score: number | null
  genuine: boolean
}

export interface OperatingPoint {
  /** Maximum share of impostor pairs that match. */
  fmr: number
  /** A pair matches when its score is above this one: the highest impostor score that must not match. */
  threshold: number
  /** Share of genuine pairs that do not match. */
  fnmr: number
}

export interface ErrorRates {
  genuine: number
  impostor: number
  /** FNMR at the requested false match rates. */
  points: OperatingPoint[]
  /** Equal error rate: the rate at which FMR and FNMR meet. */
  eer: number
  /** The highest mean of the share of matching genuine pairs and the share of impostor pairs that do not match. */
  balancedAccuracy: number
}

/** @param fmrs rates at which to read FNMR; one that the pairs are too few for is left out */
export function errorRates(pairs: readonly ScoredPair[], fmrs: readonly number[]): ErrorRates {
  const scoresOf = (genuine: boolean) =>
    Float64Array.from(
      pairs.filter((pair) => pair.genuine === genuine),
      ({ score }) => score ?? Number.NEGATIVE_INFINITY,
    ).sort()
  const genuine = scoresOf(true)
  const impostor = scoresOf(false)
  if (genuine.length === 0 || impostor.length === 0)
    throw new TypeError('error rates need genuine and impostor pairs')
  const shareUpTo = (sorted: Float64Array, threshold: number) =>
    countWhile(sorted, (score) => score <= threshold) / sorted.length
  const missed = (threshold: number) => shareUpTo(genuine, threshold)
  const matched = (threshold: number) => 1 - shareUpTo(impostor, threshold)
  let eer = 1
  let balancedAccuracy = 0
  for (const threshold of new Set([...genuine, ...impostor])) {
    const [fnmr, fmr] = [missed(threshold), matched(threshold)]
    eer = Math.min(eer, Math.max(fnmr, fmr))
    balancedAccuracy = Math.max(balancedAccuracy, 1 - (fnmr + fmr) / 2)
  }
  const points = fmrs
    .map((fmr) => ({ fmr, allowed: Math.floor(fmr * impostor.length) }))
    .filter(({ fmr, allowed }) => allowed > 0 || fmr === 0)
    .map(({ fmr, allowed }) => {
      const threshold = impostor[impostor.length - 1 - allowed]!
      return { fmr, threshold, fnmr: missed(threshold) }
    })
  return { genuine: genuine.length, impostor: impostor.length, points, eer, balancedAccuracy }
}
