/** Tolerated difference between this machine's clock and the service's, and the texts of errors that name the difference. */

/**
 * Default of the difference, in seconds. Servers without a time service drift by seconds a week, and a verdict is
 * checked in the second in which it was made, so that a clock that is a little behind would refuse all of them.
 */
export const DEFAULT_CLOCK_TOLERANCE_SECONDS = 60

/** More than the life of a verdict (300 s by default) would hide a broken clock rather than tolerate a drift. */
export const MAX_CLOCK_TOLERANCE_SECONDS = 300

/** @throws TypeError for anything but a number from 0 to 300 */
export function clockTolerance(seconds: number = DEFAULT_CLOCK_TOLERANCE_SECONDS): number {
  if (!(typeof seconds === 'number' && seconds >= 0 && seconds <= MAX_CLOCK_TOLERANCE_SECONDS))
    throw new TypeError(
      `clockToleranceSeconds is ${seconds}; it must be a number from 0 to ${MAX_CLOCK_TOLERANCE_SECONDS}`,
    )
  return seconds
}

/** @param from unix seconds from which the verdict is valid @param now unix seconds by this machine's clock */
export function notYetValidText(from: number, now: number, tolerance: number): string {
  return `The verdict is valid from ${isoTime(from)}, which is ${seconds(from - now)} ahead of this machine's clock; ${tolerance} s of difference are allowed. Is this machine's clock right?`
}

/** @param until unix seconds at which the verdict expired @param now unix seconds by this machine's clock */
export function expiredText(until: number, now: number, tolerance: number): string {
  return `The verdict expired at ${isoTime(until)}, which is ${seconds(now - until)} ago by this machine's clock; ${tolerance} s of difference are allowed. Have the action countersigned again; if this verdict is a new one: is this machine's clock right?`
}

/** @param at unix seconds at which something was signed @param now unix seconds by this machine's clock */
export function signedText(at: number, now: number, tolerance: number): string {
  const distance =
    now < at ? `${seconds(at - now)} ahead of this machine's clock` : `${seconds(now - at)} ago`
  return `It was signed ${distance}; ${tolerance} s are allowed. Is the clock right?`
}

function seconds(difference: number): string {
  return `${Math.round(difference)} s`
}

function isoTime(unixSeconds: number): string {
  const date = new Date(unixSeconds * 1000)
  return Number.isNaN(date.getTime()) ? `${unixSeconds}` : date.toISOString().replace('.000Z', 'Z')
}
