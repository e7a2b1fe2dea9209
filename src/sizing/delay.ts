/** A random time that a verify takes somewhere on its way; times of several places add up, and have percentiles. */

/** Far finer than what is asked: a percentile of a whole verify. */
const STEP_MS = 0.5
/** No plan is for longer than a second. */
const STEPS = 2048
/** What lies so far out that no percentile asks for it is left out. */
const NEGLIGIBLE = 1e-9

/** A fixed part, and a random one on top of it. */
export class Delay {
  private constructor(
    private readonly fixedMs: number,
    /** Probability of each multiple of the step; what is missing to 1 lies beyond. */
    private readonly masses: Float64Array,
  ) {
    let last = masses.length
    for (let left = 0; last > 1; last--) {
      left += masses[last - 1]!
      if (left > NEGLIGIBLE) break
    }
    this.masses = masses.subarray(0, last)
  }

  static fixed(ms: number): Delay {
    const masses = new Float64Array(1)
    masses[0] = 1
    return new Delay(ms, masses)
  }

  /** Nothing, or with this probability an exponential time of this mean: the wait in a queue. */
  static wait(probability: number, meanMs: number): Delay {
    if (probability <= 0 || meanMs <= 0) return Delay.fixed(0)
    return Delay.from((ms) => 1 - Math.min(probability, 1) * Math.exp(-ms / meanMs))
  }

  /** As likely early as late. */
  static uniform(longestMs: number): Delay {
    if (longestMs <= 0) return Delay.fixed(0)
    return Delay.from((ms) => Math.min(1, ms / longestMs))
  }

  /** At least so long, and as much longer as a gamma distribution with this mean and variance. */
  static atLeast(leastMs: number, extra: { meanMs: number; varianceMs2: number }): Delay {
    const { meanMs, varianceMs2 } = extra
    if (meanMs < STEP_MS / 10 || varianceMs2 <= 0) return Delay.fixed(leastMs + meanMs)
    const scaleMs = varianceMs2 / meanMs
    return Delay.from((ms) => gammaCumulative(meanMs / scaleMs, ms / scaleMs), leastMs)
  }

  /** What is left of this time for whoever comes while it runs. */
  residual(): Delay {
    const masses = new Float64Array(STEPS)
    const fixedSteps = Math.round(this.fixedMs / STEP_MS)
    let beyond = 1
    for (let step = 0; step < STEPS; step++) {
      beyond -= step < fixedSteps ? 0 : (this.masses[step - fixedSteps] ?? 0)
      masses[step] = Math.max(0, beyond)
    }
    const sum = masses.reduce((total, mass) => total + mass, 0)
    return sum === 0
      ? Delay.fixed(this.fixedMs / 2)
      : new Delay(
          0,
          masses.map((mass) => mass / sum),
        )
  }

  /** This time as those meet it who come while it runs: the longer it is, the more of them. */
  asMet(): Delay {
    const weighted = this.masses.map((mass, step) => mass * (this.fixedMs + step * STEP_MS))
    const sum = weighted.reduce((total, mass) => total + mass, 0)
    return sum === 0
      ? this
      : new Delay(
          this.fixedMs,
          weighted.map((mass) => mass / sum),
        )
  }

  /** @param cumulative the probability of at most so many milliseconds */
  private static from(cumulative: (ms: number) => number, fixedMs = 0): Delay {
    const masses = new Float64Array(STEPS)
    let before = 0
    for (let step = 0; step < STEPS; step++) {
      // Each time counts as the nearest step: rounding to one side would add up over the places.
      const until = cumulative((step + 0.5) * STEP_MS)
      masses[step] = until - before
      before = until
    }
    return new Delay(fixedMs, masses)
  }

  /** This one, or with the given probability the other. */
  or(probability: number, other: Delay): Delay {
    const fixedMs = Math.min(this.fixedMs, other.fixedMs)
    const masses = new Float64Array(STEPS)
    const add = (delay: Delay, share: number) => {
      const shift = Math.round((delay.fixedMs - fixedMs) / STEP_MS)
      for (let step = 0; step < delay.masses.length && step + shift < STEPS; step++)
        masses[step + shift]! += share * delay.masses[step]!
    }
    add(this, 1 - probability)
    add(other, probability)
    return new Delay(fixedMs, masses)
  }

  /** Both, one after the other, as if neither knew of the other. */
  plus(other: Delay): Delay {
    const masses = new Float64Array(Math.min(this.masses.length + other.masses.length - 1, STEPS))
    for (const [shift, share] of other.masses.entries()) {
      const length = Math.min(this.masses.length, STEPS - shift)
      for (let step = 0; step < length; step++) masses[step + shift]! += share * this.masses[step]!
    }
    return new Delay(this.fixedMs + other.fixedMs, masses)
  }

  /** @returns Infinity for what lies beyond the longest time that is kept */
  percentileMs(share: number): number {
    let sum = 0
    for (const [step, mass] of this.masses.entries()) {
      sum += mass
      if (sum >= share) return this.fixedMs + step * STEP_MS
    }
    return Number.POSITIVE_INFINITY
  }
}

/** Regularised lower incomplete gamma function P(shape, x), by its series (Abramowitz and Stegun, 6.5.29). */
function gammaCumulative(shape: number, x: number): number {
  if (x <= 0) return 0
  // Far beyond the mean the series is long and its value 1.
  if (x > shape + 40 + 12 * Math.sqrt(shape)) return 1
  let term = 1 / shape
  let sum = term
  for (let n = 1; term > sum * 1e-12; n++) {
    term *= x / (shape + n)
    sum += term
  }
  return Math.min(1, sum * Math.exp(shape * Math.log(x) - x - logGamma(shape)))
}

/** Stirling's series, after the argument was moved to where it is exact. */
function logGamma(x: number): number {
  if (x < 8) return logGamma(x + 1) - Math.log(x)
  const square = x * x
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + (1 / 12 - 1 / (360 * square)) / x
}
