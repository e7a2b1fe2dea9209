/** The only source of wall-clock time, so that a test can move it: overlaps, 24-hour windows and expiries all use it. */
import { setTimeout } from 'node:timers/promises'

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Milliseconds since an arbitrary start, on a clock that cannot be set. It stands still while the machine is suspended. */
  uptime(): number
  /** Resolves when `ms` milliseconds have passed. Rejects when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  uptime: () => performance.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }),
}

/** A clock that stands still until it is moved. `sleep` moves it and resolves at once. */
export class ManualClock implements Clock {
  private uptimeMs = 0

  constructor(private nowMs: number = Date.now()) {}

  now(): number {
    return this.nowMs
  }

  uptime(): number {
    return this.uptimeMs
  }

  /** Lets `ms` milliseconds pass. */
  advance(ms: number): void {
    this.nowMs += ms
    this.uptimeMs += ms
  }

  /** Sets the clock forward, or back where `ms` is negative, without any time passing. */
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

export function optionalTime(at: number | null): string | null {
  return at === null ? null : isoTime(at)
}
