/** What is said about a set of measured times: percentiles, medians and rates. */

/** Milliseconds, rounded to a tenth of a microsecond. */
export interface LatencySummary {
  p50_ms: number
  p95_ms: number
  p99_ms: number
}

/**
 * The value that a share of the samples does not exceed, linear between the two nearest ranks (type 7 of Hyndman & Fan,
 * 1996: what spreadsheets and NumPy give).
 * @param share 0..1
 */
export function percentile(samples: readonly number[], share: number): number {
  if (samples.length === 0) throw new RangeError('there are no samples')
  const sorted = samples.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const below = sorted[Math.floor(at)]!
  const above = sorted[Math.ceil(at)]!
  return below + (above - below) * (at - Math.floor(at))
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5)
}

export function mean(samples: readonly number[]): number {
  return samples.reduce((sum, sample) => sum + sample, 0) / samples.length
}

/** @param samplesMs milliseconds */
export function summariseLatency(samplesMs: readonly number[]): LatencySummary {
  return {
    p50_ms: round(percentile(samplesMs, 0.5), 4),
    p95_ms: round(percentile(samplesMs, 0.95), 4),
    p99_ms: round(percentile(samplesMs, 0.99), 4),
  }
}

/**
 * Completions per second, from the first to the last of a window: a window of fixed length would round to whole requests,
 * which are few in a short round.
 * @param completedAtMs times of completion on one axis, in milliseconds, in any order
 */
export function ratePerSecond(completedAtMs: readonly number[]): number {
  if (completedAtMs.length < 2) throw new RangeError('the round was too short: fewer than two completions')
  const sorted = completedAtMs.toSorted((a, b) => a - b)
  return ((sorted.length - 1) * 1000) / (sorted.at(-1)! - sorted[0]!)
}

export function round(value: number, digits: number): number {
  const factor = 10 ** digits
  return Math.round(value * factor) / factor
}
