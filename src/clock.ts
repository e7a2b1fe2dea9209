/** The one source of wall-clock time, so that a test can move it: overlaps, 24-hour windows and expiries all ask here. */

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  constructor(private nowMs: number = Date.now()) {}

  now(): number {
    return this.nowMs
  }

  advance(ms: number): void {
    this.nowMs += ms
  }
}

export const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** RFC 3339 in UTC with milliseconds, the form of every time in a response. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
