/** Histograms of counted requests. Those of several times, and of several services, can be added up. */

/** Bins of scores and of qualities, each 0.01 wide, from 0 to 1. A value beyond them counts in the outermost bin. */
export const BINS = 100

/** How often each bin or each name was seen; those without a count are left out. */
export type Histogram = Record<string, number>

type Counts<T> = { [Name in keyof T]: Partial<Histogram> }

/** Number of the bin of a value; -1..0 counts as 0. */
export function binOf(value: number): string {
  return String(Math.min(Math.max(Math.floor(value * BINS), 0), BINS - 1))
}

export function increase(histogram: Partial<Histogram>, key: string, count = 1): void {
  histogram[key] = (histogram[key] ?? 0) + count
}

export function totalOf(histogram: Histogram): number {
  let total = 0
  for (const key in histogram) total += histogram[key]!
  return total
}

export function addHistogram(sum: Partial<Histogram>, part: Partial<Histogram>): void {
  for (const key in part) increase(sum, key, part[key])
}

export function addCounts<T extends Counts<T>>(sum: T, part: T): T {
  for (const name of Object.keys(sum) as Array<keyof T>) addHistogram(sum[name], part[name] ?? {})
  return sum
}

/** The counts of a row of the database; without one, none. */
export function countsOf<T>(row: { counts: string } | undefined, none: () => T): T {
  return { ...none(), ...(row && (JSON.parse(row.counts) as Partial<T>)) }
}
