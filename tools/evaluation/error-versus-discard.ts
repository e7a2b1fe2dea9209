/**
 * The error-versus-discard characteristic of each quality component (ISO/IEC 29794-1): how FNMR falls as the pairs
 * with the poorest photos are left out. A component whose curve does not fall says nothing about recognition, and is
 * no reason to refuse a photo.
 */
import { QUALITY_COMPONENTS, type QualityComponent } from '../../models/pack/quality-components.js'
import type { QualityBound, QualitySpec } from '../../models/pack/quality-schema.js'
import { assessQuality, boundFor } from '../../src/biometrics/pipeline/judge/quality-bounds.js'
import type { DataSet } from './data-set.js'
import type { PhotoResult } from './embedding-cache.js'
import { type Interval, percentileInterval, rateInterval } from './intervals.js'
import type { BinnedPairs } from './pair-bins.js'

export interface DiscardPoint {
  /** Share of the pairs that was left out: those with the poorest photos. */
  discarded: number
  genuine_pairs: number
  misses: number
  fnmr: number
  fnmr_ci95: Interval
}

export interface DiscardCurve {
  component: QualityComponent
  points: DiscardPoint[]
  /**
   * Mean of FNMR over the points up to a fifth discarded, divided by FNMR of all pairs: below 1 if discarding helps.
   */
  relative_fnmr: number
  relative_fnmr_ci95: Interval
  /** Bound at enrollment; null if there is none. */
  bound: QualityBound | null
  /** Number of photos beyond the bound. */
  refused_photos: number
  /** Compared pairs with such a photo. */
  refused_pairs: number
  refused_misses: number
}

export interface QualityRefusals {
  usable_photos: number
  /** Number of photos beyond any bound at enrollment. */
  refused_photos: number
  /** Compared pairs with such a photo, and those without. */
  genuine_pairs: number
  misses: number
  other_genuine_pairs: number
  other_misses: number
}

export interface ErrorVersusDiscard {
  curves: DiscardCurve[]
  refusals: QualityRefusals
}

const DISCARDED = [0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3]
/** Largest discarded share that decides whether a component helps: nobody would refuse more photos. */
const MAX_DISCARDED = 0.2

/** Number of compared pairs. */
interface ComparedPair {
  a: number
  b: number
  person: number
  missed: boolean
}

/** @param spec bounds of the pack, which replace the defaults */
export function errorVersusDiscard(
  results: readonly PhotoResult[],
  pairs: BinnedPairs,
  spec: QualitySpec | undefined,
): ErrorVersusDiscard {
  const compared = comparedPairs(pairs)
  const curves = QUALITY_COMPONENTS.flatMap((component) => {
    const bound = boundFor(component, 'enrol', spec)
    const goodness = results.map(({ face }) => goodnessOf(face?.components[component], bound))
    const measured = compared.filter(({ a, b }) => goodness[a] !== null && goodness[b] !== null)
    if (measured.length === 0) return []
    const poorer = ({ a, b }: ComparedPair) => Math.min(goodness[a]!, goodness[b]!)
    const byQuality = measured.toSorted((x, y) => poorer(x) - poorer(y))
    const refused = results.map(({ face }) => isBeyond(face?.components[component], bound))
    const lost = measured.filter(({ a, b }) => refused[a] || refused[b])
    return [
      {
        component,
        ...curveOf(byQuality, pairs),
        bound,
        refused_photos: refused.filter(Boolean).length,
        refused_pairs: lost.length,
        refused_misses: countMissed(lost),
      },
    ]
  })
  return { curves, refusals: refusalsOf(results, compared, spec) }
}

function comparedPairs({
  data: { photos },
  genuine: { a, b, scores },
  threshold,
}: BinnedPairs): ComparedPair[] {
  return Array.from(scores, (score, i) => ({ score, i })).flatMap(({ score, i }) =>
    score === Number.NEGATIVE_INFINITY
      ? []
      : [{ a: a[i]!, b: b[i]!, person: photos[a[i]!]!.person, missed: score < threshold }],
  )
}

/** Returns a value that is higher for better photos: a component that is bounded at both ends is best half-way. */
function goodnessOf(value: number | undefined, bound: QualityBound | null): number | null {
  if (value === undefined) return null
  const { min, max } = bound ?? {}
  if (max === undefined) return value
  return min === undefined ? -value : -Math.abs(value - (min + max) / 2)
}

function isBeyond(value: number | undefined, bound: QualityBound | null): boolean {
  if (value === undefined) return false
  return value < (bound?.min ?? Number.NEGATIVE_INFINITY) || value > (bound?.max ?? Number.POSITIVE_INFINITY)
}

/** @param byQuality the pair with the poorest photo first */
function curveOf(
  byQuality: readonly ComparedPair[],
  { data, bootstrap }: BinnedPairs,
): Pick<DiscardCurve, 'points' | 'relative_fnmr' | 'relative_fnmr_ci95'> {
  const counted = DISCARDED.map((share) =>
    countByPerson(byQuality, Math.floor(share * byQuality.length), data),
  )
  const replicates = bootstrap.ratesOf(counted)
  const points = counted.map(({ errors, totals }, i) => {
    const [misses, kept] = [sum(errors), sum(totals)]
    const people = totals.filter((total) => total > 0).length
    return {
      discarded: DISCARDED[i]!,
      genuine_pairs: kept,
      misses,
      fnmr: misses / kept,
      fnmr_ci95: rateInterval(misses, kept, people, replicates[i]!),
    }
  })
  const deciding = [...DISCARDED.keys()].filter((i) => DISCARDED[i]! > 0 && DISCARDED[i]! <= MAX_DISCARDED)
  const relative = (at: (point: number) => number) =>
    deciding.reduce((total, i) => total + at(i), 0) / deciding.length / at(0)
  const drawn = replicates[0]!.map((_, draw) => relative((i) => replicates[i]![draw]!))
  return {
    points,
    relative_fnmr: relative((i) => points[i]!.fnmr),
    relative_fnmr_ci95: percentileInterval(drawn.filter(Number.isFinite)),
  }
}

function countByPerson(byQuality: readonly ComparedPair[], from: number, { people }: DataSet) {
  const errors = new Uint32Array(people.length)
  const totals = new Uint32Array(people.length)
  for (let i = from; i < byQuality.length; i++) {
    const { person, missed } = byQuality[i]!
    totals[person]!++
    if (missed) errors[person]!++
  }
  return { errors, totals }
}

function refusalsOf(
  results: readonly PhotoResult[],
  compared: readonly ComparedPair[],
  spec: QualitySpec | undefined,
): QualityRefusals {
  const refused = results.map(
    ({ face }) =>
      face !== null && assessQuality(face.components, 'enrol', spec).some(({ passed }) => !passed),
  )
  const without = compared.filter(({ a, b }) => !refused[a] && !refused[b])
  return {
    usable_photos: results.filter(({ face }) => face !== null).length,
    refused_photos: refused.filter(Boolean).length,
    genuine_pairs: compared.length - without.length,
    misses: countMissed(compared) - countMissed(without),
    other_genuine_pairs: without.length,
    other_misses: countMissed(without),
  }
}

function countMissed(pairs: readonly ComparedPair[]): number {
  return pairs.filter(({ missed }) => missed).length
}

function sum(values: Uint32Array): number {
  return values.reduce((total, value) => total + value, 0)
}
