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

/** The upper bound of a rate at which no error was seen in so many independent trials: 95 %, one-sided. */
export function ruleOfThree(trials: number): number {
  return Math.min(1, 3 / trials)
}

/** The 2.5th and the 97.5th percentile, between the neighbours linearly. */
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
