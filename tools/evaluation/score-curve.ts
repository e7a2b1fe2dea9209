/**
 * Error rates over thresholds. A pair matches when its score is at or above the threshold, as a verification decides. A rate of
 * no pairs is NaN.
 */

import type { ModelPack } from '../../models/pack/model-pack.js'
import type { DataSet } from './data-set.js'
import { type Embeddings, exactScore, type GenuinePairs, type ImpostorPairs } from './pair-scores.js'

/** The impostor pairs that matter to thresholds: those with the highest scores. */
export interface Tail {
  /** Scores, descending, in double precision. */
  scores: Float64Array
  /** Indices of the photos. */
  a: Uint32Array
  b: Uint32Array
  /** Indices of the people. */
  p: Uint32Array
  q: Uint32Array
}

/** The fields of a curve that a bootstrap over people reads. */
export interface PeopleCurve extends Pick<ScoreCurve, 'genuine' | 'genuinePeople' | 'notCompared'> {
  data: { people: ArrayLike<unknown> }
  impostors: Pick<ImpostorPairs, 'countWith' | 'peoplePairs'>
  tail: Pick<Tail, 'scores' | 'p' | 'q'>
}

export interface Eer {
  rate: number
  threshold: number
}

/** Minimum number of impostor pairs with the highest scores that are scored exactly. */
const MIN_TAIL = 50_000
/** Maximum number of pairs to resample: more would take minutes, and beyond it no interval of the EER is stated. */
const MAX_TAIL = 2_000_000
/** Tolerance of a scan's score: a pair that the scan put just below a threshold may in truth be at it. */
const BORDER = 1000

export class ScoreCurve {
  /** Genuine scores, ascending; pairs that could not be compared come first, with `-Infinity`. */
  readonly genuine: Float64Array
  /** Person of each genuine pair, in that order. */
  readonly genuinePeople: Uint32Array
  /** Number of genuine pairs that could not be compared. */
  readonly notCompared: number
  /** Impostor scores, ascending. */
  readonly impostor: Float64Array
  readonly tail: Tail
  readonly eer: Eer

  /**
   * @param lowestThreshold the lowest requested threshold: the tail reaches down to it, however many impostor pairs
   * match there
   */
  constructor(
    readonly data: DataSet,
    embeddings: Embeddings,
    pack: ModelPack,
    genuine: GenuinePairs,
    readonly impostors: ImpostorPairs,
    lowestThreshold: number,
  ) {
    const order = Uint32Array.from(genuine.scores.keys()).sort(
      // Infinities have no difference.
      (x, y) =>
        genuine.scores[x]! < genuine.scores[y]! ? -1 : genuine.scores[x]! > genuine.scores[y]! ? 1 : 0,
    )
    this.genuine = Float64Array.from(order, (pair) => genuine.scores[pair]!)
    this.genuinePeople = Uint32Array.from(order, (pair) => data.photos[genuine.a[pair]!]!.person)
    this.notCompared = countBelow(this.genuine, -Number.MAX_VALUE)
    this.impostor = impostors.scores.slice().sort()
    this.eer = this.findEer()
    this.tail = this.readTail(embeddings, pack, this.falseMatches(lowestThreshold))
    // The exact scores of the tail replace those of the scan, so that one value decides.
    this.impostor.set(this.tail.scores.toReversed(), this.impostor.length - this.tail.scores.length)
  }

  /** Share of impostor pairs that match. */
  fmr(threshold: number): number {
    return this.falseMatches(threshold) / this.impostor.length
  }

  falseMatches(threshold: number): number {
    return this.impostor.length - countBelow(this.impostor, threshold)
  }

  /** Share of genuine pairs that do not match, including those that could not be compared. */
  fnmr(threshold: number): number {
    return countBelow(this.genuine, threshold) / this.genuine.length
  }

  /** The same share among the compared pairs (ISO/IEC 19795-1). */
  fnmrCompared(threshold: number): number {
    return (countBelow(this.genuine, threshold) - this.notCompared) / (this.genuine.length - this.notCompared)
  }

  /** The lowest threshold at which no greater share of impostor pairs matches; null if there are too few pairs. */
  thresholdFor(fmr: number): number | null {
    const allowed = Math.floor(fmr * this.impostor.length)
    return allowed === 0 ? null : justAbove(this.impostor[this.impostor.length - 1 - allowed]!)
  }

  /** The highest mean of the share of matching genuine pairs and the share of impostor pairs that do not match. */
  balancedAccuracy(): number {
    return this.candidates().reduce((best, at) => Math.max(best, 1 - (this.fnmr(at) + this.fmr(at)) / 2), 0)
  }

  /** Equal error rate: at the threshold at which the larger of FMR and FNMR is least. */
  private findEer(): Eer {
    const candidates = this.candidates()
    if (this.impostor.length === 0) return { rate: Number.NaN, threshold: Number.NaN }
    let best: Eer = { rate: 1, threshold: candidates[0]! }
    for (const threshold of candidates) {
      const rate = Math.max(this.fnmr(threshold), this.fmr(threshold))
      if (rate < best.rate) best = { rate, threshold }
    }
    return best
  }

  /** Between two genuine scores only impostors are lost: the best threshold is a genuine score, or above all impostors. */
  private candidates(): number[] {
    const highest = this.impostor.at(-1)
    return [
      ...this.genuine.subarray(this.notCompared),
      ...(highest === undefined ? [] : [justAbove(highest)]),
    ]
  }

  private readTail(embeddings: Embeddings, pack: ModelPack, atLeast: number): Tail {
    const { photos } = this.data
    const wanted = Math.max(MIN_TAIL, 2 * Math.max(this.eer.rate, 0.01) * this.impostor.length)
    const length = Math.min(
      Math.max(Math.ceil(Math.min(wanted, MAX_TAIL)), atLeast + BORDER),
      this.impostor.length,
    )
    const lowest = this.impostor[this.impostor.length - length]!
    const pairs: Array<[number, number, number]> = []
    this.impostors.each((a, b, index) => {
      if (this.impostors.scores[index]! >= lowest)
        pairs.push([Math.max(lowest, exactScore(embeddings, pack, a, b)), a, b])
    })
    pairs.sort((x, y) => y[0] - x[0])
    return {
      scores: Float64Array.from(pairs, ([score]) => score),
      a: Uint32Array.from(pairs, ([, a]) => a),
      b: Uint32Array.from(pairs, ([, , b]) => b),
      p: Uint32Array.from(pairs, ([, a]) => photos[a]!.person),
      q: Uint32Array.from(pairs, ([, , b]) => photos[b]!.person),
    }
  }
}

/** A threshold above this score, with six digits, so that the printed figure is the one that decides. */
export function justAbove(score: number): number {
  return (Math.floor(score * 1e6) + 1) / 1e6
}

/** Number of ascending values below `limit`. */
export function countBelow(sorted: Float64Array, limit: number): number {
  return countWhile(sorted, (value) => value < limit)
}

/** Number of values at the beginning for which a condition holds, which holds for none behind them. */
export function countWhile(values: Float64Array, holds: (value: number) => boolean): number {
  let [low, high] = [0, values.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(values[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}
