/** Locates errors: by the quality of the poorer photo of a pair, and by the time between its two photos. */
import type { DataSet } from './data-set.js'
import type { PhotoResult } from './embedding-cache.js'
import { type BinnedPairs, type PairBin, pairBins } from './pair-bins.js'
import type { GenuinePairs } from './pair-scores.js'

export interface RateBin extends PairBin {
  /** Lowest value of the bin; null for no lower limit. */
  from: number | null
  /** Upper end of the bin, excluded; null for no upper limit. */
  to: number | null
}

const YEAR_MS = 365.25 * 24 * 60 * 60 * 1000
/** Ages in years. */
const AGE_EDGES = [1, 3, 5, 10]

/** Property of two photos that selects their bin; null where it is unknown. */
export type PairMeasure = (a: number, b: number) => number | null

/** Breakdowns of the compared pairs; there are no bins by age if file names hold no dates. */
export function breakdowns(
  results: readonly PhotoResult[],
  pairs: BinnedPairs,
): { by_quality: RateBin[]; by_age: RateBin[] } {
  const quality = poorerQuality(results)
  const isDated = pairs.data.photos.some(({ takenAt }) => takenAt !== null)
  return {
    by_quality: bins(quantiles([0.25, 0.5, 0.75], pairs.genuine, quality), quality, pairs),
    by_age: isDated ? bins(AGE_EDGES, yearsBetween(pairs.data), pairs) : [],
  }
}

/** The quality score of the poorer photo; null if one could not be used. */
export function poorerQuality(results: readonly PhotoResult[]): PairMeasure {
  return (a, b) => {
    const [first, second] = [results[a]!.quality, results[b]!.quality]
    return first === null || second === null ? null : Math.min(first, second)
  }
}

export function yearsBetween({ photos }: DataSet): PairMeasure {
  return (a, b) => {
    const [first, second] = [photos[a]!.takenAt, photos[b]!.takenAt]
    return first === null || second === null ? null : Math.abs(first - second) / YEAR_MS
  }
}

function bins(edges: readonly number[], measure: PairMeasure, pairs: BinnedPairs): RateBin[] {
  const binOf = (first: number, second: number) => {
    const value = measure(first, second)
    return value === null ? -1 : edges.filter((edge) => value >= edge).length
  }
  return pairBins(edges.length + 1, binOf, pairs).map((bin, i) => ({
    from: edges[i - 1] ?? null,
    to: edges[i] ?? null,
    ...bin,
  }))
}

/** Returns the values below which these shares of the genuine pairs lie, over the pairs whose value is known. */
export function quantiles(shares: readonly number[], { a, b }: GenuinePairs, measure: PairMeasure): number[] {
  const values = Array.from(a, (first, i) => measure(first, b[i]!))
    .filter((value) => value !== null)
    .sort((x, y) => x - y)
  const edges = shares.map((share) => values[Math.floor(share * values.length)] ?? 0)
  return [...new Set(edges.map((edge) => Math.round(edge * 1000) / 1000))]
}
