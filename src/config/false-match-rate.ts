/** Bounds of the false match rates that settings, the command line and the dashboard accept. */

/** One impostor in a hundred: a verdict at a higher rate says next to nothing, and no pack is calibrated for it. */
export const MAX_FMR = 0.01

/** A sentence that says what is wrong with a rate for any pack, or null. */
export function falseMatchRateProblem(fmr: number | string, setting: string): string | null {
  const rate = Number(fmr)
  if (rate > 0 && rate <= MAX_FMR) return null
  return `${setting} is ${JSON.stringify(String(fmr))}; expected a false match rate over 0 and at most ${MAX_FMR}, such as 1e-4.`
}
