/**
 * A generalized Pareto distribution fitted to the highest scores of strangers, for false match rates that so few pairs cannot show. ISO/IEC 5152
 * estimates such rates by extreme values; the threshold of the fit is a high quantile of the scores.
 */

/** A fitted tail: above `from`, a share `(1 - slope * x) ** (-1 / shape)` of the excesses is over x. */
export interface TailFit {
  /** Lowest score that the fit describes. */
  from: number
  /** Share of all pairs that score above `from`. */
  share: number
  /** Shape of the generalized Pareto distribution; below 0 the scores have an upper end. */
  shape: number
  /** `-shape / scale`; `1 / slope` is the upper end where the shape is below 0. */
  slope: number
}

/** Minimum number of excesses: with fewer, the shape is a guess. */
const MIN_EXCESSES = 25
/** Constant of the prior, as Zhang and Stephens recommend. */
const PRIOR = 3
/** Below this shape, 0 in effect, the distribution is computed as the exponential one that it approaches. */
const SMALL = 1e-8

/**
 * Fits by the method of Zhang and Stephens (Technometrics 51, 2009), which needs no search and always gives a result.
 * @param descending scores; those above `from` are fitted
 * @param pairs number of all pairs, as weighted
 * @param weights how often each score counts; default: once
 * @returns null for fewer than 25 excesses, or where all of them are alike
 */
export function fitTail(
  descending: Float64Array,
  from: number,
  pairs: number,
  weights?: ArrayLike<number>,
): TailFit | null {
  const [allExcesses, counts] = [new Float64Array(descending.length), new Float64Array(descending.length)]
  let [length, total] = [0, 0]
  for (let i = 0; i < descending.length && descending[i]! > from; i++) {
    const count = weights ? weights[i]! : 1
    if (count === 0) continue
    allExcesses[length] = descending[i]! - from
    counts[length] = count
    length++
    total += count
  }
  const excesses = allExcesses.subarray(0, length)
  if (excesses.length < MIN_EXCESSES || excesses[0] === excesses.at(-1)) return null
  const shapeAt = (slope: number) => {
    let sum = 0
    for (let i = 0; i < excesses.length; i++) sum += counts[i]! * Math.log1p(-slope * excesses[i]!)
    return sum / total
  }
  const [largest, quartile] = [excesses[0]!, excesses[Math.floor(0.75 * excesses.length)]!]
  const candidates = 30 + Math.floor(Math.sqrt(excesses.length))
  const slopes = Array.from(
    { length: candidates },
    (_, j) => 1 / largest + (1 - Math.sqrt(candidates / (j + 0.5))) / (PRIOR * quartile),
  )
  const likelihoods = slopes.map((slope) => {
    const shape = shapeAt(slope)
    return total * (Math.log(-slope / shape) - shape - 1)
  })
  const highest = Math.max(...likelihoods)
  const chances = likelihoods.map((likelihood) => Math.exp(likelihood - highest))
  const sum = chances.reduce((a, b) => a + b, 0)
  const slope = slopes.reduce((mean, value, j) => mean + (value * chances[j]!) / sum, 0)
  return { from, share: total / pairs, shape: shapeAt(slope), slope }
}

/** Share of all pairs that score at or above a score, 0 to 1. @param score at least `from` of the fit */
export function shareAbove({ from, share, shape, slope }: TailFit, score: number): number {
  const excess = score - from
  if (Math.abs(shape) < SMALL) return share * Math.exp((slope / shape) * excess)
  const rest = 1 - slope * excess
  return rest <= 0 ? 0 : share * rest ** (-1 / shape)
}

/** The score above which a share of all pairs is expected. @param part at most `share` of the fit */
export function scoreAbove({ from, share, shape, slope }: TailFit, part: number): number {
  if (Math.abs(shape) < SMALL) return from + Math.log(part / share) * (shape / slope)
  return from + (1 - (part / share) ** -shape) / slope
}
