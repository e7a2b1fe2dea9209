/** Counts durations in classes, whose counts can be added up. Percentiles are exact to a fortieth. */
import type { CallKind } from '../../../contract/call-kinds.js'
import { type Histogram, increase, totalOf } from '../histogram.js'

/** `[p50, p95, p99]` in milliseconds. */
export type Percentiles = [number, number, number]

const MIN_MS = 0.001
/** Ratio between neighboring classes. The middle of a class stands for its durations. */
const RATIO = 1.05
const PERCENTILES = [50, 95, 99] as const

export function countLatency(counts: Histogram, durationMs: number): void {
  const number = Math.round(Math.log(Math.max(durationMs, MIN_MS) / MIN_MS) / Math.log(RATIO))
  increase(counts, String(number))
}

/** Returns the percentiles of at least one duration, in milliseconds. */
export function percentilesOf(counts: Histogram): Percentiles {
  // JavaScript lists numeric keys in ascending order.
  const classes = Object.entries(counts)
  const total = totalOf(counts)
  return PERCENTILES.map((percentile) => {
    const rank = Math.ceil((percentile / 100) * total)
    let seen = 0
    const [number] = classes.find(([, count]) => {
      seen += count
      return seen >= rank
    })!
    return MIN_MS * RATIO ** Number(number)
  }) as Percentiles
}

/** @param isChallenge whether the images were the frames of a challenge */
export function callKindOf({ endpoint, isChallenge }: { endpoint: string; isChallenge: boolean }): CallKind {
  if (endpoint !== 'verify' && endpoint !== 'enroll') return 'other'
  return isChallenge ? `${endpoint}_challenge` : endpoint
}
