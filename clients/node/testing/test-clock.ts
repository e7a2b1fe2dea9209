/**
 * A clock that stands still until a test moves it.
 * @example
 * const fake = new FakeCountersign()
 * fake.clock.advance(301_000) // Verdicts of before have expired now.
 */
export class TestClock {
  private readonly sleepers = new Set<{ atMs: number; wake: () => void }>()

  /** @param nowMs the time in milliseconds since 1970; default: the system's time at this moment */
  constructor(private nowMs = Date.now()) {}

  /** @returns milliseconds since 1970 */
  now(): number {
    return this.nowMs
  }

  /** Moves the clock forward, and wakes everything that slept until then. */
  advance(ms: number): void {
    this.nowMs += ms
    for (const sleeper of this.sleepers) if (sleeper.atMs <= this.nowMs) sleeper.wake()
  }

  /** Resolves when the clock was moved by `ms`. Rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal | null): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const settle = (then: () => void) => () => {
        this.sleepers.delete(sleeper)
        signal?.removeEventListener('abort', abort)
        then()
      }
      const abort = settle(() => reject(signal?.reason))
      const sleeper = { atMs: this.nowMs + ms, wake: settle(resolve) }
      this.sleepers.add(sleeper)
      signal?.addEventListener('abort', abort, { once: true })
    })
  }
}

/** @param ms milliseconds since 1970 */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
