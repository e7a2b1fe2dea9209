/** The one source of wall-clock time, so that a test can move it: overlaps, 24-hour windows and expiries all ask here. */
import { setTimeout } from 'node:timers/promises'

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Milliseconds since some start, by a clock that nobody can set. It stands still while the machine is suspended. */
  uptime(): number
  /** Resolves when so much time has passed. Rejects when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  uptime: () => performance.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }),
}

/** A clock that stands still until it is moved; whoever sleeps by it moves it, and waits no longer than that takes. */
export class ManualClock implements Clock {
  private uptimeMs = 0

  constructor(private nowMs: number = Date.now()) {}

  now(): number {
    return this.nowMs
  }

  uptime(): number {
    return this.uptimeMs
  }

  /** Lets so much time pass. */
  advance(ms: number): void {
    this.nowMs += ms
    this.uptimeMs += ms
  }

  /** Sets the clock forward, or back where `ms` is negative, in no time. */
  jump(ms: number): void {
    this.nowMs += ms
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    this.advance(ms)
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
