/** Scores of every pair of users of one tenant, as a histogram and the pairs with the highest scores. Users of two tenants are never compared. */
import type { ModelPack } from '../../models/pack/model-pack.js'
import { scoreOf } from '../../src/biometrics/pipeline/judge/match.js'
import { groupEnds, scanRows } from './scan-rows.js'
import type { Tail } from './score-curve.js'

/** Embeddings of users, those of one tenant together. */
export interface UserVectors {
  pack: ModelPack
  embeddings: Float32Array[]
  /** Tenant of each user, as an index. */
  tenantOf: number[]
}

export interface StrangerPairs {
  users: number
  /** Number of compared pairs. */
  pairs: number
  /** Number of pairs by score: `HISTOGRAM_BINS` of equal width from -1 to 1. */
  histogram: Uint32Array
  /** The pairs with the highest scores; `p` and `q` are users. */
  tail: Pick<Tail, 'scores' | 'p' | 'q'>
  /** Number of pairs when user p counts `weights[p]` times: each pair counts as often as the product. */
  countWith(weights: ArrayLike<number>): number
}

export const HISTOGRAM_BINS = 2000
/** Share of the pairs that the tail holds: more than the highest rate of a calibration, 1e-2. */
const TAIL_SHARE = 0.02
/** A tail of few pairs is of use for a fit. */
const MIN_TAIL = 400
/** Tolerance of a score in single precision: a pair just below the tail may in truth be in it. */
const TOLERANCE = 1e-5

export function strangerPairs(users: UserVectors): StrangerPairs {
  const { pack, embeddings, tenantOf } = users
  const histogram = new Uint32Array(HISTOGRAM_BINS)
  let pairs = 0
  scan(users, (_, __, score) => {
    histogram[binOf(score)]!++
    pairs++
  })
  const wanted = Math.min(pairs, Math.max(MIN_TAIL, Math.ceil(TAIL_SHARE * pairs)))
  const lowest = lowestOf(histogram, wanted)
  const found: Array<[score: number, p: number, q: number]> = []
  scan(users, (p, q, score) => {
    if (score < lowest - TOLERANCE) return
    const exact = scoreOf(pack, embeddings[p]!, embeddings[q]!)
    if (exact >= lowest) found.push([exact, p, q])
  })
  found.sort((a, b) => b[0] - a[0])
  return {
    users: embeddings.length,
    pairs,
    histogram,
    tail: {
      scores: Float64Array.from(found, ([score]) => score),
      p: Uint32Array.from(found, ([, p]) => p),
      q: Uint32Array.from(found, ([, , q]) => q),
    },
    countWith: (weights) => countWith(tenantOf, weights),
  }
}

function binOf(score: number): number {
  return Math.max(0, Math.min(HISTOGRAM_BINS - 1, Math.floor(((score + 1) / 2) * HISTOGRAM_BINS)))
}

/** Lower end of the bin above which at least `wanted` pairs score. */
function lowestOf(histogram: Uint32Array, wanted: number): number {
  let [bin, above] = [HISTOGRAM_BINS, 0]
  while (bin > 0 && above < wanted) above += histogram[--bin]!
  return bin === 0 ? Number.NEGATIVE_INFINITY : (2 * bin) / HISTOGRAM_BINS - 1
}

function countWith(tenantOf: readonly number[], weights: ArrayLike<number>): number {
  const sums: number[] = []
  let squares = 0
  for (const [user, tenant] of tenantOf.entries()) {
    sums[tenant] = (sums[tenant] ?? 0) + weights[user]!
    squares += weights[user]! ** 2
  }
  return (sums.reduce((all, sum) => all + sum ** 2, 0) - squares) / 2
}

/** Visits every pair of users of one tenant once, with the score in single precision. */
function scan(
  { pack, embeddings, tenantOf }: UserVectors,
  visit: (p: number, q: number, score: number) => void,
): void {
  const next = Uint32Array.from(embeddings.keys(), (user) => user + 1)
  scanRows(pack, embeddings, next, groupEnds(tenantOf), (p, first, scores) => {
    for (let k = 0; k < scores.length; k++) visit(p, first + k, scores[k]!)
  })
}
