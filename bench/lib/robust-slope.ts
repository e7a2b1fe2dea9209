/** Slope of a series, robust against single samples, such as one before a garbage collection. */
import { median } from './statistics.js'

export interface Point {
  x: number
  y: number
}

/**
 * Theil–Sen estimator: the median of the slopes between all pairs of points. Points of different series are never
 * paired, so that a step between two lives of a process does not count as growth.
 * @returns null if no series has two points
 */
export function robustSlope(series: readonly Point[][]): number | null {
  const slopes: number[] = []
  for (const points of series)
    for (const [i, later] of points.entries())
      for (const earlier of points.slice(0, i))
        if (later.x !== earlier.x) slopes.push((later.y - earlier.y) / (later.x - earlier.x))
  return slopes.length > 0 ? median(slopes) : null
}
