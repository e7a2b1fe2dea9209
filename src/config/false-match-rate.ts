/** The false match rates that anything may ask for: one rule for settings, the command line and the dashboard. */

/** One impostor in a hundred: beyond it a verdict says next to nothing, and no pack is calibrated. */
export const MAX_FMR = 0.01

/** A sentence that says what is wrong with a rate, whatever the pack; null where nothing is. */
export function falseMatchRateProblem(fmr: number | string, setting: string): string | null {
  const rate = Number(fmr)
  if (rate > 0 && rate <= MAX_FMR) return null
  return `${setting} is ${JSON.stringify(String(fmr))}; expected a false match rate over 0 and at most ${MAX_FMR}, such as 1e-4.`
}
