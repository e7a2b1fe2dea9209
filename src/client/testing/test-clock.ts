/** A clock that only tests move. */
export class TestClock {
  private readonly sleepers = new Set<{ atMs: number; wake: () => void }>()

  /** Milliseconds since 1970; default: now, which then stands still. */
  constructor(private nowMs = Date.now()) {}

  now(): number {
    return this.nowMs
  }

  advance(ms: number): void {
    this.nowMs += ms
    for (const sleeper of this.sleepers) if (sleeper.atMs <= this.nowMs) sleeper.wake()
  }

  /** Until the clock was moved so far. Rejects with the signal's reason when it is aborted. */
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
