/**
 * Finds pairs of users who are likely one person with two accounts. Their scores are those of one person and would raise a false match rate that is
 * measured between users.
 */
import type { StrangerPairs } from './stranger-pairs.js'
import { fitTail, scoreAbove, shareAbove, type TailFit } from './tail-fit.js'

export interface LikelyDuplicates {
  /** Number of people who likely have more than one user. */
  people: number
  /** Users to leave out, so that each person is left with one. */
  surplus: number[]
  /** Pairs that score above it are likely duplicates; null where the pairs are too few to find any. */
  cut: number | null
}

/** Expected number of pairs of strangers above the cut, among all pairs that were compared. */
const EXPECTED_STRANGERS = 0.03
/** Largest share of users who are assumed to be duplicates: the fit begins without so many of the highest pairs. */
const MAX_SHARE = 0.03
/** A person has at most this many users. Somebody who is like more users than that is a stranger to them, whose photo matches many. */
const MAX_USERS = 4

export function likelyDuplicates(found: StrangerPairs): LikelyDuplicates {
  const cut = findCut(found)
  if (cut === null) return { people: 0, surplus: [], cut }
  const { scores, p, q } = found.tail
  const pairs: Array<[number, number]> = []
  for (let i = 0; i < scores.length && scores[i]! > cut; i++) pairs.push([p[i]!, q[i]!])
  const clusters = clustersOf(pairs).filter(({ users, links }) => {
    const all = (users.length * (users.length - 1)) / 2
    return users.length <= MAX_USERS && links * 2 >= all
  })
  return { people: clusters.length, surplus: clusters.flatMap(({ users }) => users.slice(1)), cut }
}

/**
 * The score above which strangers are not expected. The highest pairs may be duplicates, so the tail is fitted without them: in their place it holds
 * what the fit itself expects there, until both agree (an expectation-maximization for a truncated sample).
 */
function findCut({ users, pairs, tail: { scores } }: StrangerPairs): number | null {
  const left = Math.ceil(MAX_SHARE * users)
  const rank = Math.min(scores.length - 1, Math.max(rankOfTail(scores, pairs), Math.floor(0.02 * pairs)))
  if (left >= rank) return null
  const [from, to] = [scores[rank]!, scores[left]!]
  const seen = scores.subarray(left, rank)
  let fit = fitTail(seen, from, pairs)
  for (let round = 0; fit && round < ROUNDS; round++) {
    const below: number = 1 - shareAbove(fit, to) / fit.share
    const unseen: number = seen.length / below - seen.length
    const quantiles = Array.from({ length: QUANTILES }, (_, i) =>
      scoreAbove(fit!, (fit!.share * (1 - below) * (i + 0.5)) / QUANTILES),
    )
    const weights = new Float64Array(QUANTILES + seen.length)
      .fill(unseen / QUANTILES, 0, QUANTILES)
      .fill(1, QUANTILES)
    fit = fitTail(Float64Array.from([...quantiles, ...seen]), from, pairs, weights)
  }
  return fit && scoreAbove(fit, Math.min(fit.share, EXPECTED_STRANGERS / pairs))
}

/** Rounds after which a further one moves the fit by less than the noise of its data. */
const ROUNDS = 60
/** Number of scores that stand for the unseen ones. */
const QUANTILES = 32

/** Largest number of excesses: more make the fit slower and no better. */
const MAX_EXCESSES = 2000
/** A fit of fewer excesses says little about the shape. */
const WANTED_EXCESSES = 150

/** Fits the highest hundredth of the pairs; of few pairs more, but never more than a tenth. */
export function fitOf(descending: Float64Array, pairs: number, weights?: ArrayLike<number>): TailFit | null {
  const rank = rankOfTail(descending, pairs)
  return fitTail(descending, descending[rank]!, pairs, weights)
}

/** Rank of the score above which the tail is fitted. */
export function rankOfTail(descending: Float64Array, pairs: number): number {
  const wanted = Math.min(MAX_EXCESSES, Math.max(WANTED_EXCESSES, 0.01 * pairs), 0.1 * pairs)
  return Math.min(Math.floor(wanted), descending.length - 1)
}

/** Groups users who are joined by pairs. */
function clustersOf(pairs: ReadonlyArray<[number, number]>): Array<{ users: number[]; links: number }> {
  const clusterOf = new Map<number, { users: number[]; links: number }>()
  for (const [p, q] of pairs) {
    const a = clusterOf.get(p) ?? { users: [p], links: 0 }
    const b = clusterOf.get(q) ?? { users: [q], links: 0 }
    const joined = a === b ? a : { users: [...a.users, ...b.users], links: a.links + b.links }
    joined.links++
    for (const user of joined.users) clusterOf.set(user, joined)
  }
  return [...new Set(clusterOf.values())]
}
