/** Quantiles of the chi-square distribution, for the noise of a distance between two histograms. */

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
