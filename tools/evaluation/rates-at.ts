/** Both error rates at thresholds, with their intervals: for everybody, or within a group of people. */
import { type Interval, rateInterval } from './intervals.js'
import type { PersonBootstrap } from './person-bootstrap.js'
import { countBelow, type PeopleCurve } from './score-curve.js'

export interface RatesAt {
  /** A score at or above it is a match. */
  threshold: number
  /** FMR of the compared impostor pairs. */
  measured_fmr: number
  measured_fmr_ci95: Interval
  false_matches: number
  /** FNMR of all genuine pairs: one that could not be compared is a miss. */
  measured_fnmr: number
  measured_fnmr_ci95: Interval
  /** FNMR of the compared genuine pairs. */
  measured_fnmr_compared: number
  misses: number
}

export class RatesReader {
  constructor(
    private readonly curve: PeopleCurve,
    private readonly bootstrap: PersonBootstrap,
  ) {}

  /** @param members people among whom pairs count; default: all. A rate of no pairs is NaN. */
  at(
    thresholds: readonly number[],
    members: Uint8Array = new Uint8Array(this.curve.data.people.length).fill(1),
  ): RatesAt[] {
    const { genuine, genuinePeople, impostors, notCompared } = this.curve
    const fmrReplicates = this.bootstrap.fmrAt(thresholds, members)
    const fnmrReplicates = this.bootstrap.fnmrAt(thresholds, members)
    const impostorPairs = impostors.countWith(members)
    const peoplePairs = impostors.peoplePairs(members)
    const within = genuinePeople.map((person) => members[person]!)
    const genuineCount = sum(within)
    const lost = sum(within.subarray(0, notCompared))
    const genuinePersons = new Set(genuinePeople.filter((person) => members[person])).size
    return thresholds.map((threshold, i) => {
      const falseMatches = this.falseMatches(threshold, members)
      const misses = sum(within.subarray(0, countBelow(genuine, threshold)))
      return {
        threshold,
        measured_fmr: falseMatches / impostorPairs,
        measured_fmr_ci95: rateInterval(falseMatches, impostorPairs, peoplePairs, fmrReplicates[i]!),
        false_matches: falseMatches,
        measured_fnmr: misses / genuineCount,
        measured_fnmr_ci95: rateInterval(misses, genuineCount, genuinePersons, fnmrReplicates[i]!),
        measured_fnmr_compared: (misses - lost) / (genuineCount - lost),
        misses,
      }
    })
  }

  /** Number of matching pairs of two members; with `isEither`, of a member with anybody. */
  falseMatches(threshold: number, members: Uint8Array, isEither = false): number {
    const { scores, p, q } = this.curve.tail
    let count = 0
    for (let i = 0; i < scores.length && scores[i]! >= threshold; i++) {
      const inside = members[p[i]!]! + members[q[i]!]!
      if (isEither ? inside > 0 : inside === 2) count++
    }
    return count
  }
}

function sum(values: ArrayLike<number>): number {
  let total = 0
  for (let i = 0; i < values.length; i++) total += values[i]!
  return total
}
