/** How far the model has been from what it was compared with, at most; docs/benchmarks.md has the comparisons. */
export const ACCURACY = {
  /** The discrete-event simulation, over its grid of clusters from 30 to 85 % of what they can do. */
  simulation: { p99: 0.35, capacity: 0.1 },
  /** The measured runs: from 25 to 90 % of the capacity of one service, and what one to four nodes could do. */
  runs: { p99: 0.4, capacity: 0.15 },
} as const
