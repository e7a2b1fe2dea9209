/** Durations in classes that can be added up, of which percentiles are told to a fortieth. */
import type { Percentiles } from './contract.js'

/** How many durations fell into each class, by its number. */
export type LatencyCounts = Record<string, number>

const MIN_MS = 0.001
/** From one class to the next; a duration is told by the middle of its class. */
const RATIO = 1.05
const PERCENTILES = [50, 95, 99] as const

export function countLatency(counts: LatencyCounts, durationMs: number): void {
  const number = Math.round(Math.log(Math.max(durationMs, MIN_MS) / MIN_MS) / Math.log(RATIO))
  counts[number] = (counts[number] ?? 0) + 1
}

/** Of at least one duration. */
export function percentilesOf(counts: LatencyCounts): Percentiles {
  // Numbers as keys come in their order.
  const classes = Object.entries(counts)
  const total = classes.reduce((sum, [, count]) => sum + count, 0)
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
