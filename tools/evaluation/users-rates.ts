/**
 * The false match rate among users who were never labelled: measured where their pairs show it, and extrapolated below by the fitted tail of their
 * scores.
 */
import type { CalibrationPoint } from '../../models/pack/calibration.js'
import { candidateThresholds, measuredPoints, RATES } from './calibrate.js'
import { type Interval, percentileInterval, ruleOfThree } from './intervals.js'
import { fitOf, rankOfTail } from './likely-duplicates.js'
import { PersonBootstrap } from './person-bootstrap.js'
import { RatesReader } from './rates-at.js'
import { justAbove } from './score-curve.js'
import type { StrangerPairs } from './stranger-pairs.js'
import { fitTail, shareAbove, type TailFit } from './tail-fit.js'

/** How far below the lowest rate that the pairs show the tail is trusted. */
export const EXTRAPOLATED_BY = 30
/** The score of two equal embeddings. */
const HIGHEST_SCORE = 1
/** Number of refits: an interval of 95 % needs fewer of them than the percentiles of a rate, and each one costs as much as hundreds. */
const REFITS = 400

export class UsersRates {
  private readonly bootstrap: PersonBootstrap
  readonly reader: RatesReader
  /** Lowest rate that so many pairs can show, even without a match among them. */
  readonly lowestMeasured: number

  constructor(
    private readonly strangers: StrangerPairs,
    seed: number,
    replicates?: number,
  ) {
    const curve = curveOf(strangers)
    this.bootstrap = new PersonBootstrap(curve, seed, replicates)
    this.reader = new RatesReader(curve, this.bootstrap)
    this.lowestMeasured = ruleOfThree(strangers.pairs)
  }

  measured(): CalibrationPoint[] {
    return measuredPoints(
      this.reader.at(candidateThresholds(this.strangers.tail.scores)),
      this.lowestMeasured,
    )
  }

  /** Points below those that were measured, from the fitted tail. @param measured those points, from the highest rate to the lowest */
  extrapolated(measured: readonly CalibrationPoint[]): CalibrationPoint[] {
    const tail = this.fittedTail()
    const lowest = measured.at(-1)
    if (!tail || !lowest) return []
    return RATES.filter((fmr) => fmr < lowest.fmr && fmr >= this.lowestMeasured / EXTRAPOLATED_BY).flatMap(
      (fmr) => {
        const fitted = tail.thresholdFor(fmr)
        if (fitted === null) return []
        const threshold = Math.max(fitted, lowest.threshold)
        return {
          fmr,
          threshold,
          basis: 'extrapolated' as const,
          measured_fmr: null,
          fmr_ci95: tail.intervalAt(threshold),
          fnmr: null,
          fnmr_ci95: [0, 1] as Interval,
        }
      },
    )
  }

  fittedTail(): FittedTail | null {
    const { tail, pairs } = this.strangers
    if (tail.scores.length === 0) return null
    const fit = fitOf(tail.scores, pairs)
    return fit && new FittedTail(fit, this.refits())
  }

  /** The fit as it would have been had other people enrolled. */
  private refits(): TailFit[] {
    const { tail, pairs } = this.strangers
    const from = tail.scores[rankOfTail(tail.scores, pairs)]!
    return this.bootstrap.draws.slice(0, REFITS).flatMap((times) => {
      const weights = new Float64Array(tail.scores.length)
      for (let i = 0; i < weights.length; i++) weights[i] = times[tail.p[i]!]! * times[tail.q[i]!]!
      return fitTail(tail.scores, from, this.strangers.countWith(times), weights) ?? []
    })
  }
}

export class FittedTail {
  constructor(
    readonly fit: TailFit,
    private readonly refits: readonly TailFit[],
  ) {}

  rateAt(threshold: number): number {
    return shareAbove(this.fit, threshold)
  }

  /** 95 % interval of the rate at a threshold. */
  intervalAt(threshold: number): Interval {
    return percentileInterval(Float64Array.from(this.refits, (fit) => shareAbove(fit, threshold)))
  }

  /** The lowest threshold, to six digits, at which the upper end of the interval is not over the rate; null where no score is high enough. */
  thresholdFor(fmr: number): number | null {
    let [low, high] = [this.fit.from, HIGHEST_SCORE]
    if (this.intervalAt(high)[1] > fmr) return null
    while (high - low > 1e-7) {
      const middle = (low + high) / 2
      if (this.intervalAt(middle)[1] > fmr) low = middle
      else high = middle
    }
    return justAbove(high)
  }
}

function curveOf(strangers: StrangerPairs) {
  const none = new Float64Array(0)
  return {
    data: { people: { length: strangers.users } },
    genuine: none,
    genuinePeople: new Uint32Array(0),
    notCompared: 0,
    tail: strangers.tail,
    impostors: {
      countWith: strangers.countWith,
      // A user has one reference, so that pairs of references are pairs of people.
      peoplePairs: (members: ArrayLike<number>) =>
        strangers.countWith(Uint8Array.from(members, (member) => (member ? 1 : 0))),
    },
  }
}
