/**
 * The population stability index between a reference and a window of newer counts, and how large chance can make it.
 *
 * PSI = Σ (p − q) · ln(p / q) over groups of bins, where p and q are the shares of both sides: the sum of both relative entropies
 * (Jeffreys 1946). Between two samples of n and m independent values of one distribution it is (1/n + 1/m) times a chi-square variable
 * with one degree of freedom less than there are groups (Yurdakul and Naranjo 2020). Real traffic varies more, by hour, weekday and
 * person. How much more is measured: each stretch of the reference is compared with the whole. The means and the variances of both causes
 * add up, and the scaled chi-square variable that has the sums gives the noise (Satterthwaite 1946).
 */

import { BINS, type Histogram, totalOf } from '../histogram.js'

/** Least share of a group of bins, and of a name that is a group of its own: smaller shares are mostly chance. */
const LEAST_SHARE = { bins: 0.1, names: 0.02 }
/** Least values of a stretch, and the number of stretches at which shorter ones are taken. */
const STRETCH_VALUES = 50
const LEAST_STRETCHES = 8
/** Standard errors that are added to the mean of the stretches, since few of them can miss how much traffic varies. */
const ERRORS_ADDED = 3

/** Whether the keys of a histogram are numbers of bins or names. */
export type KeyKind = keyof typeof LEAST_SHARE

export interface StabilityIndex {
  /** Population stability index; 0 for equal shares. */
  psi: number
  /** Largest index that traffic without a change reaches by chance. */
  noise: number
}

type GroupOf = (key: string) => number

/** A reference that windows are compared with. It is prepared once, since it takes longer than a comparison. */
export class StabilityReference {
  readonly total: number
  private readonly groupOf: GroupOf
  private readonly size: number
  private readonly counts: number[]
  /** Mean of the index of a stretch, beyond that of independent values: at most so much, with 99.9 % confidence. */
  private readonly extra: number

  /**
   * @param histogram not empty
   * @param parts the same counts in the order of time; empty where nothing is known of their variation
   * @param clumping sum of the squared shares of the days: 1 for a single day, 1/28 for 28 equal ones
   */
  constructor(
    histogram: Histogram,
    kind: KeyKind,
    parts: readonly Histogram[] = [],
    private readonly clumping = 0,
  ) {
    this.total = totalOf(histogram)
    const groups = (kind === 'bins' ? binGroups : nameGroups)(histogram, this.total * LEAST_SHARE[kind])
    this.groupOf = groups.groupOf
    this.size = groups.size
    this.counts = this.inGroups(histogram)
    this.extra = this.variation(parts.map((part) => this.inGroups(part)))
  }

  /**
   * Compares a window that is not empty.
   * @param clumping as of the reference
   * @param chance that a window without a change exceeds the noise
   */
  compare(window: Histogram, clumping: number, chance: number): StabilityIndex {
    const counts = this.inGroups(window)
    const degrees = this.size - 1
    const each = 1 / sumOf(counts) + 1 / this.total
    const shared = clumping + this.clumping
    const extra = this.extra * shared
    const mean = degrees * each + extra
    // The traffic is taken to vary in one direction, as when all pictures of a day are darker: the most noise for this mean.
    const variance = 2 * degrees * each ** 2 + 2 * extra ** 2 + 4 * extra * each
    const noise =
      degrees === 0 ? 0 : (variance / (2 * mean)) * chiSquareAbove((2 * mean ** 2) / variance, chance)
    return { psi: this.indexOf(counts), noise }
  }

  /** Half a value is added to each group of both sides, on the scale of the window: an empty group would make the index infinite. */
  private indexOf(counts: readonly number[]): number {
    const n = sumOf(counts)
    const whole = n + this.size / 2
    return counts.reduce((index, count, group) => {
      const p = (count + 0.5) / whole
      const q = ((this.counts[group]! / this.total) * n + 0.5) / whole
      return index + (p - q) * Math.log(p / q)
    }, 0)
  }

  private variation(parts: number[][]): number {
    const stretches = joinedTo(Math.min(STRETCH_VALUES, this.total / LEAST_STRETCHES), parts)
    const degrees = this.size - 1
    if (stretches.length < 2 || degrees === 0) return 0
    const indices = stretches.map((stretch) => this.chiSquareOf(stretch))
    const mean = sumOf(indices) / stretches.length
    const variance = sumOf(indices.map((index) => (index - mean) ** 2)) / (stretches.length - 1)
    // Independent values in stretches of these sizes have this mean.
    const ofChance = (degrees * sumOf(stretches.map((stretch) => 1 / sumOf(stretch)))) / stretches.length
    const error = Math.sqrt(variance / stretches.length)
    return Math.max(0, mean + ERRORS_ADDED * error - ofChance)
  }

  /** The chi-square divergence. It is about the index where the difference is small, and its mean is exact for few values. */
  private chiSquareOf(counts: readonly number[]): number {
    const n = sumOf(counts)
    return counts.reduce((sum, count, group) => {
      const q = this.counts[group]! / this.total
      return q === 0 ? sum : sum + (count / n - q) ** 2 / q
    }, 0)
  }

  private inGroups(histogram: Histogram): number[] {
    const counts = new Array<number>(this.size).fill(0)
    for (const key in histogram) counts[this.groupOf(key)]! += histogram[key]!
    return counts
  }
}

/** Joins bins from low to high until a group has the least count. Bins that the reference lacks belong to the group around them. */
function binGroups(histogram: Histogram, least: number): { groupOf: GroupOf; size: number } {
  const bins = Object.keys(histogram).map(Number)
  /** Lowest bins of all groups but the first. */
  const starts: number[] = []
  let filled = 0
  for (const bin of bins.toSorted((a, b) => a - b)) {
    if (filled >= least) {
      starts.push(bin)
      filled = 0
    }
    filled += histogram[bin]!
  }
  if (filled < least) starts.pop()
  // Values below a reference of a single group are a group of their own.
  if (starts.length === 0) starts.push(Math.min(...bins))
  // A calibration whose highest threshold is 1 has a bin beyond the last one.
  const groups = Array.from(
    { length: BINS + 1 },
    (_, bin) => starts.findLastIndex((start) => start <= bin) + 1,
  )
  return { groupOf: (key) => groups[Number(key)]!, size: starts.length + 1 }
}

/** Gives each common name a group, and all others together the last one. */
function nameGroups(histogram: Histogram, least: number): { groupOf: GroupOf; size: number } {
  const common = Object.keys(histogram).filter((name) => histogram[name]! >= least)
  const groups = new Map(common.map((name, group) => [name, group]))
  return { groupOf: (key) => groups.get(key) ?? common.length, size: common.length + 1 }
}

/** Joins neighboring parts until each has at least so many values. What is left at the end belongs to the last one. */
function joinedTo(least: number, parts: readonly number[][]): number[][] {
  const stretches: number[][] = []
  let open: number[] | null = null
  const addTo = (stretch: number[], part: readonly number[]) => {
    for (const [group, count] of part.entries()) stretch[group]! += count
  }
  for (const part of parts) {
    open ??= part.map(() => 0)
    addTo(open, part)
    if (sumOf(open) < least) continue
    stretches.push(open)
    open = null
  }
  if (open && stretches.length > 0) addTo(stretches.at(-1)!, open)
  return stretches
}

function sumOf(values: readonly number[]): number {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

/**
 * The value that a chi-square variable exceeds with this chance (Wilson and Hilferty 1931; within 2 % from 2 degrees of freedom on).
 * @param degrees degrees of freedom, at least 1
 * @param chance above 0 and below 0.5
 */
export function chiSquareAbove(degrees: number, chance: number): number {
  const spread = 2 / (9 * degrees)
  return degrees * (1 - spread + normalAbove(chance) * Math.sqrt(spread)) ** 3
}

/** The value that a standard normal variable exceeds with this chance (Abramowitz and Stegun 26.2.23; within 4.5e-4). */
function normalAbove(chance: number): number {
  const t = Math.sqrt(-2 * Math.log(chance))
  const above = 2.515517 + t * (0.802853 + t * 0.010328)
  const below = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308))
  return t - above / below
}
