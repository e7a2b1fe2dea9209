/** Rounds a duration to hundredths of a millisecond, the precision of log and `Server-Timing`. */
export function roundMs(durationMs: number): number {
  return Math.round(durationMs * 100) / 100
}
