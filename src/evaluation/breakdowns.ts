/** Where the errors are: by the quality of the poorer photo of a pair, and by the time between its two photos. */
import type { DataSet } from './data-set.js'
import type { PhotoResult } from './embedding-cache.js'
import { type Interval, rateInterval } from './intervals.js'
import type { GenuinePairs } from './pair-scores.js'
import type { PersonBootstrap } from './person-bootstrap.js'
import type { ScoreCurve } from './score-curve.js'

export interface RateBin {
  /** From this value on; null: from the lowest. */
  from: number | null
  /** Below this value; null: up to the highest. */
  to: number | null
  genuine_pairs: number
  misses: number
  fnmr: number
  fnmr_ci95: Interval
  impostor_pairs: number
  false_matches: number
  fmr: number
}

const YEAR_MS = 365.25 * 24 * 60 * 60 * 1000
/** Years. */
const AGE_EDGES = [1, 3, 5, 10]

/** Of the pairs that were compared; no bins by age where file names hold no dates. */
export function breakdowns(
  data: DataSet,
  results: readonly PhotoResult[],
  genuine: GenuinePairs,
  curve: ScoreCurve,
  bootstrap: PersonBootstrap,
  threshold: number,
): { by_quality: RateBin[]; by_age: RateBin[] } {
  const quality = (a: number, b: number) => Math.min(results[a]!.quality!, results[b]!.quality!)
  const { photos } = data
  const age = (a: number, b: number) => {
    const [first, second] = [photos[a]!.takenAt, photos[b]!.takenAt]
    return first === null || second === null ? null : Math.abs(first - second) / YEAR_MS
  }
  const into = (edges: readonly number[], measure: (a: number, b: number) => number | null) =>
    bins(edges, measure, data, genuine, curve, bootstrap, threshold)
  return {
    by_quality: into(quartiles(genuine, quality), quality),
    by_age: photos.some(({ takenAt }) => takenAt !== null) ? into(AGE_EDGES, age) : [],
  }
}

function bins(
  edges: readonly number[],
  measure: (a: number, b: number) => number | null,
  { photos }: DataSet,
  { a, b, scores }: GenuinePairs,
  { impostors, tail }: ScoreCurve,
  bootstrap: PersonBootstrap,
  threshold: number,
): RateBin[] {
  const binOf = (first: number, second: number) => {
    const value = measure(first, second)
    return value === null ? -1 : edges.filter((edge) => value >= edge).length
  }
  const counts = Array.from({ length: edges.length + 1 }, () => ({
    people: [] as number[],
    missed: [] as boolean[],
    impostors: 0,
    falseMatches: 0,
  }))
  for (const [i, score] of scores.entries()) {
    if (score === Number.NEGATIVE_INFINITY) continue
    const bin = counts[binOf(a[i]!, b[i]!)]
    bin?.people.push(photos[a[i]!]!.person)
    bin?.missed.push(score < threshold)
  }
  impostors.each((first, second) => {
    const bin = counts[binOf(first, second)]
    if (bin) bin.impostors++
  })
  for (let i = 0; i < tail.scores.length && tail.scores[i]! >= threshold; i++) {
    const bin = counts[binOf(tail.a[i]!, tail.b[i]!)]
    if (bin) bin.falseMatches++
  }
  return counts.map(({ people, missed, impostors: compared, falseMatches }, bin) => {
    const misses = missed.filter(Boolean).length
    return {
      from: edges[bin - 1] ?? null,
      to: edges[bin] ?? null,
      genuine_pairs: missed.length,
      misses,
      fnmr: misses / missed.length,
      fnmr_ci95: rateInterval(misses, missed.length, new Set(people).size, bootstrap.shareOf(people, missed)),
      impostor_pairs: compared,
      false_matches: falseMatches,
      fmr: falseMatches / compared,
    }
  })
}

/** Values that part the compared pairs into four of about the same number. */
function quartiles({ a, b, scores }: GenuinePairs, measure: (a: number, b: number) => number): number[] {
  const values = [...scores.keys()]
    .filter((i) => scores[i] !== Number.NEGATIVE_INFINITY)
    .map((i) => measure(a[i]!, b[i]!))
    .sort((x, y) => x - y)
  const edges = [0.25, 0.5, 0.75].map((share) => values[Math.floor(share * values.length)] ?? 0)
  return [...new Set(edges.map((edge) => Math.round(edge * 1000) / 1000))]
}
