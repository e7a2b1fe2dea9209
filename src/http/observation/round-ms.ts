/** How a duration is told: in milliseconds, to a hundredth. */
export function roundMs(durationMs: number): number {
  return Math.round(durationMs * 100) / 100
}
