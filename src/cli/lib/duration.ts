/** Durations on the command line, such as `90s`, `30m`, `1h` or `2d`; 0 means none. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/clock.js'
import { UsageError } from './output.js'

const UNITS: Record<string, number> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS }

const MAX_MS = 365 * DAY_MS

/** @returns milliseconds, at most those of a year */
export function parseDuration(text: string): number {
  if (text === '0') return 0
  const match = /^(\d+)([smhd])$/.exec(text)
  const ms = match ? Number(match[1]) * UNITS[match[2]!]! : Number.POSITIVE_INFINITY
  if (ms > MAX_MS)
    throw new UsageError(
      'invalid_duration',
      `"${text}" is not a duration: use 90s, 30m, 1h or 2d, at most 365d.`,
    )
  return ms
}
