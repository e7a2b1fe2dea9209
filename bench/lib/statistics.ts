/** Statistics of measured times: percentiles, medians and rates. */

/** Milliseconds, rounded to a tenth of a microsecond. */
export interface LatencySummary {
  p50_ms: number
  /** Milliseconds; null with too few samples, as is the next one. */
  p95_ms: number | null
  p99_ms: number | null
}

/**
 * Returns the value that a share of the samples does not exceed, linear between the two nearest ranks (type 7 of
 * Hyndman & Fan, 1996, as in spreadsheets and NumPy).
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

/**
 * Minimum number of samples for a percentile, so that at least one lies beyond it; with fewer it would be close to
 * the largest sample.
 */
export function leastSamples(share: number): number {
  return Math.round(1 / (1 - share))
}

/** Returns null if there are too few samples. */
export function carriedPercentile(samples: readonly number[], share: number): number | null {
  return samples.length < leastSamples(share) ? null : percentile(samples, share)
}

/** Describes the percentiles for the notes of a suite. */
export const TOO_FEW_SAMPLES = `A dash stands where the samples do not carry a percentile: p95 needs ${leastSamples(0.95)}, p99 ${leastSamples(0.99)}, p99.9 ${leastSamples(0.999)}. A longer run has them.`

/** Formats a value for a table, with a dash for a missing one. */
export function shown(value: number | null, digits: number): string {
  return value === null ? '–' : value.toFixed(digits)
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
    p50_ms: round(median(samplesMs), 4),
    p95_ms: rounded(carriedPercentile(samplesMs, 0.95)),
    p99_ms: rounded(carriedPercentile(samplesMs, 0.99)),
  }
}

/**
 * Returns completions per second, from the first to the last of a window: a window of fixed length would round to
 * whole requests, which are few in a short round.
 * @param completedAtMs times of completion on one axis, in milliseconds, in any order
 */
export function ratePerSecond(completedAtMs: readonly number[]): number {
  if (completedAtMs.length < 2) throw new RangeError('the round was too short: fewer than two completions')
  const sorted = completedAtMs.toSorted((a, b) => a - b)
  return ((sorted.length - 1) * 1000) / (sorted.at(-1)! - sorted[0]!)
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : round(ms, 4)
}

export function round(value: number, digits: number): number {
  const factor = 10 ** digits
  return Math.round(value * factor) / factor
}
