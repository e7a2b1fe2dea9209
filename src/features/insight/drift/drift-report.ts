/** Compares the latest verifies of a tenant with those of the month before, and with the calibration of the model pack. */
import type { Calibration } from '../../../../models/pack/calibration.js'
import { DAY_MS, HOUR_MS } from '../../../lib/clock.js'
import { BINS, type Histogram, totalOf } from '../histogram.js'
import { calibratedOutcomes, calibratedScores } from './calibrated-side.js'
import { type DriftCounts, MEASURES, type Measure, sumOfCounts } from './drift-counts.js'
import { type StabilityIndex, StabilityReference } from './stability-index.js'

/** Length of a counted time: four in a day, so that the day and the night count as different conditions. */
export const PERIOD_MS = 6 * HOUR_MS
/** Verifies of a block. The latest window is made of whole blocks and the one that is being filled. */
export const BLOCK_VERIFIES = 100
/** Least verifies of a window, and approvals or pictures in it that a comparison needs. */
export const LEAST_VERIFIES = 200
const LEAST_VALUES = 100
const LEAST_REFERENCE = 400
export const WEEK_MS = 7 * DAY_MS
/** Least time of the reference: a shorter one does not show how much days, nights and weekends differ. */
const LEAST_REFERENCE_MS = WEEK_MS
export const MONTH_MS = 28 * DAY_MS
/** A population stability index from here on is by convention a large change, and one from 0.1 a moderate one. */
const LARGE_CHANGE = 0.25
/** Chance that a month without a change raises an alarm, over all its looks. */
const CHANCE_A_MONTH = 0.01

/** `latest`: the last 200 to 300 verifies; `week`: the last seven days. */
export const DRIFT_WINDOWS = ['latest', 'week'] as const
export type DriftWindow = (typeof DRIFT_WINDOWS)[number]
/** `shifted`: beyond the noise, and no alarm: below its bound, or compared with the calibration. */
export type DriftState = 'too_few' | 'steady' | 'shifted' | 'alarm'

/** Counts of one time. */
export interface CountedPeriod {
  /** Start, in milliseconds since the Unix epoch. */
  at: number
  counts: DriftCounts
}

/** Everything that is known of a tenant's verifies with one model. */
export interface DriftHistory {
  /** Oldest first. */
  periods: readonly CountedPeriod[]
  /** The newest verifies in blocks, oldest first; `at` is the time of the first of them. */
  blocks: readonly CountedPeriod[]
}

export interface DriftComparison extends StabilityIndex {
  measure: Measure
  window: DriftWindow
  against: 'month' | 'calibration'
  state: DriftState
  /** Number of values in the window and behind the reference. */
  counted: number
  compared: number
}

/** One side with its times, in milliseconds since the Unix epoch. */
interface TimedCounts {
  from: number
  to: number
  periods: readonly CountedPeriod[]
  total: DriftCounts
}

export interface DriftReport {
  /** The month that ends a week ago. */
  month: TimedCounts
  windows: Record<DriftWindow, TimedCounts>
  comparisons: DriftComparison[]
  /** Measures for which a comparison with the month before is an alarm. */
  alarms: Measure[]
}

type Pick = (counts: DriftCounts) => Histogram

/** A tenant's verifies with one model up to the period that is under way. It serves every look within that period. */
export class DriftBaseline {
  readonly month: TimedCounts
  readonly week: TimedCounts
  private readonly references = new Map<string, StabilityReference>()
  private readonly chance: number
  private readonly isMonthLong: boolean
  private readonly ofWeek: DriftComparison[]

  /**
   * @param periods oldest first
   * @param at milliseconds since the Unix epoch
   * @param calibration undefined where the pack has none that was measured
   * @param since verifies from before this time are not compared; 0 for all
   */
  constructor(
    periods: readonly CountedPeriod[],
    at: number,
    calibration: Calibration | undefined,
    private readonly since = 0,
  ) {
    const end = startOfPeriod(at)
    // A period that began earlier has verifies from before that time too.
    const compared = periods.filter((period) => period.at >= since)
    this.week = timed(compared, end - WEEK_MS, end)
    this.month = timed(compared, this.week.from - MONTH_MS, this.week.from)
    const [first] = this.month.periods
    this.isMonthLong = first !== undefined && this.month.to - first.at >= LEAST_REFERENCE_MS
    this.chance = CHANCE_A_MONTH / looksOfMonth(this.month)
    this.ofWeek = [
      ...this.compareWithMonth('week', this.week),
      ...(calibration ? this.compareWithCalibration(calibration) : []),
    ]
  }

  /** @param blocks the newest verifies, oldest first */
  report(blocks: readonly CountedPeriod[], now: number): DriftReport {
    const compared = blocks.filter((block) => block.at >= this.since)
    const latest = latestOf(compared, now)
    const comparisons = [...this.compareWithMonth('latest', latest), ...this.ofWeek]
    const isAlarm = (measure: Measure) =>
      comparisons.some((one) => one.measure === measure && one.state === 'alarm')
    const { month, week } = this
    return { month, windows: { latest, week }, comparisons, alarms: MEASURES.filter(isAlarm) }
  }

  private compareWithMonth(window: DriftWindow, seen: TimedCounts): DriftComparison[] {
    const floor = commonFloor(seen.total, this.month.total)
    return MEASURES.map((measure) => {
      const pick: Pick =
        measure === 'scores' ? ({ scores }) => binsWithin(scores, floor) : (counts) => counts[measure]
      const clumping = window === 'latest' ? 1 : clumpingOf(seen.periods, pick)
      const reference = this.reference(measure === 'scores' ? `scores ${floor}` : measure, measure, pick)
      const values = pick(seen.total)
      return this.compare({ measure, window, against: 'month' }, seen, { values, clumping }, reference)
    })
  }

  /** A calibration has the scores of genuine pairs, and how many of them do not match. It knows no quality. */
  private compareWithCalibration(calibration: Calibration): DriftComparison[] {
    const { scores, outcomes, thresholds } = this.week.total
    const floor = floorOf(thresholds)
    if (floor === null) return []
    const { approved = 0, no_match = 0 } = outcomes
    const expected = calibratedScores(calibration, floor + 1)
    const highest = Math.max(0, ...Object.keys(expected).map(Number))
    const pairs = [
      ['scores', binsWithin(scores, floor + 1, highest), expected],
      ['outcomes', { approved, no_match }, calibratedOutcomes(calibration, (floor + 0.5) / BINS)],
    ] as const
    return pairs.map(([measure, values, histogram]) => {
      const reference = new StabilityReference(histogram, kindOf(measure))
      const asked = { measure, window: 'week', against: 'calibration' } as const
      return this.compare(asked, this.week, { values, clumping: 0 }, reference)
    })
  }

  private reference(name: string, measure: Measure, pick: Pick): StabilityReference {
    const { total, periods } = this.month
    const parts = () => periods.map(({ counts }) => pick(counts))
    const known =
      this.references.get(name) ??
      new StabilityReference(pick(total), kindOf(measure), parts(), clumpingOf(periods, pick))
    this.references.set(name, known)
    return known
  }

  private compare(
    asked: Omit<DriftComparison, keyof StabilityIndex | 'state' | 'counted' | 'compared'>,
    { total }: TimedCounts,
    { values, clumping }: { values: Histogram; clumping: number },
    reference: StabilityReference,
  ): DriftComparison {
    const [counted, compared] = [totalOf(values), Math.round(reference.total)]
    const isKnown = compared >= LEAST_REFERENCE && (asked.against === 'calibration' || this.isMonthLong)
    if (totalOf(total.outcomes) < LEAST_VERIFIES || counted < LEAST_VALUES || !isKnown)
      return { ...asked, psi: 0, noise: 0, state: 'too_few', counted, compared }
    const index = reference.compare(values, clumping, this.chance)
    return { ...asked, ...index, state: stateOf(asked.against, index), counted, compared }
  }
}

export function startOfPeriod(at: number): number {
  return Math.floor(at / PERIOD_MS) * PERIOD_MS
}

/** A calibration was measured with other people and cameras: a difference from it is no change. */
function stateOf(against: DriftComparison['against'], { psi, noise }: StabilityIndex): DriftState {
  if (psi <= noise) return 'steady'
  return against === 'calibration' || psi < LARGE_CHANGE ? 'shifted' : 'alarm'
}

function kindOf(measure: Measure) {
  return measure === 'outcomes' ? 'names' : 'bins'
}

function timed(all: readonly CountedPeriod[], from: number, to: number): TimedCounts {
  const periods = all.filter(({ at }) => at >= from && at < to)
  return { from, to, periods, total: sumOfCounts(periods.map(({ counts }) => counts)) }
}

/** The newest blocks of the last week that have enough verifies together. */
function latestOf(blocks: readonly CountedPeriod[], now: number): TimedCounts {
  const newest: CountedPeriod[] = []
  let verifies = 0
  for (const block of blocks.toReversed()) {
    if (verifies >= LEAST_VERIFIES || block.at < now - WEEK_MS) break
    newest.unshift(block)
    verifies += totalOf(block.counts.outcomes)
  }
  const from = newest[0]?.at ?? now
  return { from, to: now, periods: newest, total: sumOfCounts(newest.map(({ counts }) => counts)) }
}

/** How often a month looks at windows that have little in common, over all measures: the chance of a false alarm is shared among them. */
function looksOfMonth({ periods, total }: TimedCounts): number {
  const days = perDay(periods, ({ outcomes }) => outcomes).length
  const perMonth = (totalOf(total.outcomes) / Math.max(1, days)) * (MONTH_MS / DAY_MS)
  return MEASURES.length * (perMonth / (BLOCK_VERIFIES / 2) + MONTH_MS / PERIOD_MS)
}

/** Least part of the approvals that a threshold must have decided about to count: a rule of a policy may ask for more, rarely. */
const COMMON_PART = 0.1

/** Bin of the highest threshold that a common part of the approvals was held to; null without any. */
function floorOf(thresholds: Histogram): number | null {
  const least = totalOf(thresholds) * COMMON_PART
  const common = Object.entries(thresholds).filter(([, count]) => count >= least)
  return common.length === 0 ? null : Math.max(...common.map(([bin]) => Number(bin)))
}

/**
 * Lowest bin whose scores are approvals on both sides. A threshold that was raised between the two cuts approvals off on one side only;
 * they say nothing about a change of the scores.
 */
function commonFloor(one: DriftCounts, other: DriftCounts): number {
  const floors = [floorOf(one.thresholds) ?? 0, floorOf(other.thresholds) ?? 0] as const
  return Math.max(...floors) + (floors[0] === floors[1] ? 0 : 1)
}

/** The bins from `lowest` on. Bins above `highest` count as that bin. */
function binsWithin(histogram: Histogram, lowest: number, highest = BINS - 1): Histogram {
  const within: Histogram = {}
  for (const bin in histogram) {
    const number = Math.min(Number(bin), highest)
    if (number >= lowest) within[number] = (within[number] ?? 0) + histogram[bin]!
  }
  return within
}

function perDay(periods: readonly CountedPeriod[], pick: Pick): number[] {
  const days = new Map<number, number>()
  for (const { at, counts } of periods) {
    const day = Math.floor(at / DAY_MS)
    days.set(day, (days.get(day) ?? 0) + totalOf(pick(counts)))
  }
  return [...days.values()]
}

/** Sum of the squared shares of the days. */
function clumpingOf(periods: readonly CountedPeriod[], pick: Pick): number {
  const days = perDay(periods, pick)
  const all = days.reduce((sum, one) => sum + one, 0)
  return all === 0 ? 0 : days.reduce((sum, one) => sum + (one / all) ** 2, 0)
}
