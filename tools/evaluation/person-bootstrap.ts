/**
 * How rates would differ had other people been photographed: people are drawn with replacement, and a pair counts as often as
 * the product of how often its two people were drawn. Pairs that share a person are not independent, so pairs are never drawn.
 * Where pairs of people, rather than people, make the errors, the intervals come out too wide, never too narrow (Owen,
 * The pigeonhole bootstrap, 2007).
 */
import { seededRandom } from './random.js'
import { countBelow, countWhile, type PeopleCurve } from './score-curve.js'

export const REPLICATES = 1000

/** One array a threshold, or a rate: the value in each replicate in which there were pairs at all. */
type Replicates = Float64Array[]

export class PersonBootstrap {
  /** How often each person was drawn, a row a replicate. */
  readonly draws: readonly Uint8Array[]

  get replicates(): number {
    return this.draws.length
  }

  constructor(
    private readonly curve: PeopleCurve,
    seed: number,
    replicates = REPLICATES,
  ) {
    const people = curve.data.people.length
    const random = seededRandom(seed)
    this.draws = Array.from({ length: replicates }, () => {
      const times = new Uint8Array(people)
      for (let i = 0; i < people; i++) times[Math.floor(random() * people)]!++
      return times
    })
  }

  /**
   * FMR at thresholds, for all people or for pairs within `members`.
   * @param thresholds none of them so low that the tail does not hold every pair above it
   */
  fmrAt(thresholds: readonly number[], members?: Uint8Array): Replicates {
    const { tail, impostors } = this.curve
    const ends = thresholds.map((threshold) => countWhile(tail.scores, (score) => score >= threshold))
    const inOrder = [...ends.keys()].sort((x, y) => ends[x]! - ends[y]!)
    return this.collect(thresholds.length, members, (weights, put) => {
      const total = impostors.countWith(weights)
      if (total === 0) return
      let [sum, at] = [0, 0]
      for (const index of inOrder) {
        for (; at < ends[index]!; at++) sum += weights[tail.p[at]!]! * weights[tail.q[at]!]!
        put(index, sum / total)
      }
    })
  }

  fnmrAt(thresholds: readonly number[], members?: Uint8Array): Replicates {
    const { genuine } = this.curve
    const ends = thresholds.map((threshold) => countBelow(genuine, threshold))
    return this.collect(thresholds.length, members, (weights, put) => {
      const below = this.genuineBelow(weights)
      const total = below.at(-1)!
      if (total > 0) for (const [index, end] of ends.entries()) put(index, below[end]! / total)
    })
  }

  /** The share of the pairs that are errors; each pair is within one person. */
  shareOf(people: readonly number[], isError: readonly boolean[]): Float64Array {
    const [shares] = this.collect(1, undefined, (weights, put) => {
      let [errors, total] = [0, 0]
      for (const [i, person] of people.entries()) {
        total += weights[person]!
        if (isError[i]) errors += weights[person]!
      }
      if (total > 0) put(0, errors / total)
    })
    return shares!
  }

  /** Error rates of sets of pairs, each counted by person; NaN in a replicate that drew none of a set's. */
  ratesOf(sets: ReadonlyArray<{ errors: Uint32Array; totals: Uint32Array }>): Replicates {
    return this.collect(sets.length, undefined, (weights, put) => {
      for (const [index, { errors, totals }] of sets.entries()) {
        let [wrong, all] = [0, 0]
        for (const [person, times] of weights.entries()) {
          wrong += times * errors[person]!
          all += times * totals[person]!
        }
        put(index, wrong / all)
      }
    })
  }

  /** FNMR at false match rates, with the threshold that each replicate would have chosen for itself. */
  fnmrAtFmr(fmrs: readonly number[]): Replicates {
    return this.collect(fmrs.length, undefined, (weights, put) => {
      const below = this.genuineBelow(weights)
      for (const [index, fmr] of fmrs.entries()) {
        const crossing = this.walk(weights, (share) => share > fmr)
        if (crossing !== null && below.at(-1)! > 0) put(index, below[crossing]! / below.at(-1)!)
      }
    })
  }

  /** The equal error rate of each replicate in which it lies within the tail. */
  eer(): Float64Array {
    const [rates] = this.collect(1, undefined, (weights, put) => {
      const below = this.genuineBelow(weights)
      const total = below.at(-1)!
      if (total === 0) return
      // Just above the score at which FMR comes up to FNMR, the larger of the two is least.
      let before = 0
      const crossing = this.walk(weights, (share, missed) => {
        if (share >= below[missed]! / total) return true
        before = share
        return false
      })
      if (crossing !== null) put(0, Math.max(before, below[crossing]! / total))
    })
    return rates!
  }

  /**
   * Down the tail until so many impostors match.
   * @returns how many genuine pairs are below the score at which that is; null where the tail ends before
   */
  private walk(
    weights: ArrayLike<number>,
    isReached: (share: number, missed: number) => boolean,
  ): number | null {
    const { tail, impostors, genuine } = this.curve
    const total = impostors.countWith(weights)
    let [sum, missed] = [0, genuine.length]
    for (const [at, score] of tail.scores.entries()) {
      while (missed > 0 && genuine[missed - 1]! >= score) missed--
      sum += weights[tail.p[at]!]! * weights[tail.q[at]!]!
      if (isReached(sum / total, missed)) return missed
    }
    return null
  }

  /** How many genuine pairs, as drawn, are among the first n: an entry for each n. */
  private genuineBelow(weights: ArrayLike<number>): Float64Array {
    const { genuinePeople } = this.curve
    const below = new Float64Array(genuinePeople.length + 1)
    for (const [i, person] of genuinePeople.entries()) below[i + 1] = below[i]! + weights[person]!
    return below
  }

  private collect(
    count: number,
    members: Uint8Array | undefined,
    measure: (weights: Uint8Array, put: (index: number, value: number) => void) => void,
  ): Replicates {
    const values = Array.from({ length: count }, () => new Float64Array(this.draws.length))
    const lengths = new Uint32Array(count)
    const put = (index: number, value: number) => {
      values[index]![lengths[index]!++] = value
    }
    for (const times of this.draws)
      measure(members ? times.map((n, person) => n * members[person]!) : times, put)
    return values.map((of, index) => of.subarray(0, lengths[index]!))
  }
}
