/** Groups errors by probable cause: each pair is counted once, under the first cause that its photos show. */
import { poorerQuality, quantiles, yearsBetween } from './breakdowns.js'
import type { PhotoResult } from './embedding-cache.js'
import { type BinnedPairs, type PairBin, pairBins } from './pair-bins.js'

/**
 * `not_compared`: a photo could not be used. `other_face`: the largest face of a photo is not the one nearest its
 * middle, so a bystander may have been taken. `turned_head`, `poor_quality`, `years_apart`: of either photo, or
 * between them. `none`: no known cause, so only the network remains.
 */
export const CAUSES = [
  'not_compared',
  'other_face',
  'turned_head',
  'poor_quality',
  'years_apart',
  'none',
] as const

export type Cause = (typeof CAUSES)[number]

export interface CauseBin extends PairBin {
  cause: Cause
  share_of_misses: number
  share_of_false_matches: number
}

export interface Causes {
  bounds: { turned_head_degrees: number; poor_quality_below: number; years_apart: number }
  bins: CauseBin[]
}

/** Landmark-based alignment brings a face back into the template as long as both sides of it are seen. */
const TURNED_HEAD_DEGREES = 30
/** Share of the genuine pairs that counts as having the poorest photos. */
const POOREST = 0.1
const YEARS_APART = 5

export function findCauses(results: readonly PhotoResult[], pairs: BinnedPairs): Causes {
  const quality = poorerQuality(results)
  const years = yearsBetween(pairs.data)
  const [poor = 0] = quantiles([POOREST], pairs.genuine, quality)
  const causeOf = (a: number, b: number): Cause => {
    const [first, second] = [results[a]!.face, results[b]!.face]
    if (!first || !second) return 'not_compared'
    if (first.isAmbiguous || second.isAmbiguous) return 'other_face'
    if (Math.max(first.yawDegrees ?? 0, second.yawDegrees ?? 0) >= TURNED_HEAD_DEGREES) return 'turned_head'
    if (quality(a, b)! < poor) return 'poor_quality'
    return (years(a, b) ?? 0) >= YEARS_APART ? 'years_apart' : 'none'
  }
  const bins = pairBins(CAUSES.length, (a, b) => CAUSES.indexOf(causeOf(a, b)), pairs)
  const misses = total(bins, 'misses')
  const falseMatches = total(bins, 'false_matches')
  return {
    bounds: {
      turned_head_degrees: TURNED_HEAD_DEGREES,
      poor_quality_below: poor,
      years_apart: YEARS_APART,
    },
    bins: bins.map((bin, i) => ({
      cause: CAUSES[i]!,
      ...bin,
      share_of_misses: bin.misses / misses,
      share_of_false_matches: bin.false_matches / falseMatches,
    })),
  }
}

function total(bins: readonly PairBin[], key: 'misses' | 'false_matches'): number {
  return bins.reduce((sum, bin) => sum + bin[key], 0)
}
