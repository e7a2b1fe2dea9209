/** Confidence intervals of error rates. */

/** Both ends of a 95 % interval, 0..1. */
export type Interval = [number, number]

const Z = 1.959964

/** Wilson's score interval (1927): 95 %, for `errors` of `trials` that know nothing of each other. */
export function wilson(errors: number, trials: number): Interval {
  if (trials === 0) return [0, 1]
  const rate = errors / trials
  const centre = rate + Z ** 2 / (2 * trials)
  const half = Z * Math.sqrt((rate * (1 - rate)) / trials + Z ** 2 / (4 * trials ** 2))
  const scale = 1 + Z ** 2 / trials
  return [Math.max(0, (centre - half) / scale), Math.min(1, (centre + half) / scale)]
}

/**
 * The exact upper end (Clopper and Pearson 1934): at a larger rate, as few errors as these have a chance below
 * `risk`.
 * @param risk 0.05 for a one-sided 95 % bound, 0.025 for the end of a two-sided interval
 */
export function exactUpperBound(errors: number, trials: number, risk: number): number {
  if (errors >= trials) return 1
  let [low, high] = [errors / trials, 1]
  // The interval is halved until neighboring numbers are met.
  for (let middle = (low + high) / 2; middle > low && middle < high; middle = (low + high) / 2) {
    if (chanceOfAtMost(errors, trials, middle) > risk) low = middle
    else high = middle
  }
  return high
}

/** Clopper and Pearson's interval: 95 %, two-sided, never too narrow, however few the trials. */
export function exactInterval(errors: number, trials: number): Interval {
  if (trials === 0) return [0, 1]
  return [1 - exactUpperBound(trials - errors, trials, 0.025), exactUpperBound(errors, trials, 0.025)]
}

/** Cumulative probability of a binomial distribution; 0 < rate < 1. */
function chanceOfAtMost(errors: number, trials: number, rate: number): number {
  // The sum uses logarithms: with many trials, the probability of no error is too small a number.
  let term = trials * Math.log1p(-rate)
  let sum = Math.exp(term)
  for (let i = 1; i <= errors; i++) {
    term += Math.log((trials - i + 1) / i) + Math.log(rate) - Math.log1p(-rate)
    sum += Math.exp(term)
  }
  return sum
}

/** The upper bound of a rate at which no error was seen in so many independent trials: 95 %, one-sided. */
export function ruleOfThree(trials: number): number {
  return Math.min(1, 3 / trials)
}

/** The 2.5th and the 97.5th percentile, linear between neighbors. */
export function percentileInterval(replicates: Float64Array): Interval {
  const sorted = replicates.slice().sort()
  const at = (share: number) => {
    const position = share * (sorted.length - 1)
    const low = Math.floor(position)
    const high = Math.min(low + 1, sorted.length - 1)
    return sorted[low]! + (position - low) * (sorted[high]! - sorted[low]!)
  }
  return [at(0.025), at(0.975)]
}

/**
 * The interval of a rate: percentiles of the replicates, but never narrower than if every pair were independent of all others,
 * because a bootstrap can draw again only the errors that it has seen; without any error, the rule of three.
 * @param independent how many of the trials share nobody: pairs of people, or people
 */
export function rateInterval(
  errors: number,
  trials: number,
  independent: number,
  replicates: Float64Array,
): Interval {
  if (trials === 0) return [0, 1]
  if (errors === 0) return [0, ruleOfThree(independent)]
  const [low, high] = percentileInterval(replicates)
  const [least, most] = wilson(errors, trials)
  return [Math.min(low, least), Math.max(high, most)]
}
