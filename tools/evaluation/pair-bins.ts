/** Both error rates of pairs, binned by properties of their photos. */
import type { DataSet } from './data-set.js'
import { type Interval, rateInterval } from './intervals.js'
import type { GenuinePairs } from './pair-scores.js'
import type { PersonBootstrap } from './person-bootstrap.js'
import type { ScoreCurve } from './score-curve.js'

export interface PairBin {
  genuine_pairs: number
  misses: number
  /** FNMR of this bin's pairs, as are the other rates; NaN without pairs. */
  fnmr: number
  fnmr_ci95: Interval
  impostor_pairs: number
  false_matches: number
  fmr: number
}

export interface BinnedPairs {
  data: DataSet
  genuine: GenuinePairs
  curve: ScoreCurve
  bootstrap: PersonBootstrap
  threshold: number
}

/**
 * @param bins number of bins
 * @param binOf index of the bin of two photos; any other number for none
 */
export function pairBins(
  bins: number,
  binOf: (a: number, b: number) => number,
  { data: { photos }, genuine: { a, b, scores }, curve, bootstrap, threshold }: BinnedPairs,
): PairBin[] {
  const { impostors, tail } = curve
  const counts = Array.from({ length: bins }, () => ({
    people: [] as number[],
    missed: [] as boolean[],
    impostors: 0,
    falseMatches: 0,
  }))
  for (const [i, score] of scores.entries()) {
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
  return counts.map(({ people, missed, impostors: compared, falseMatches }) => {
    const misses = missed.filter(Boolean).length
    return {
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
