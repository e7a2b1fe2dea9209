/** Remembers which verdicts were used, so that one approves one action only. */

export interface ReplayStore {
  /**
   * Marks a verdict as used, atomically; false when it was used before. It may be forgotten after `expiresAt` (unix
   * seconds), when the JWT is refused anyway.
   */
  consume(jti: string, expiresAt: number, signal?: AbortSignal): boolean | Promise<boolean>
}

const SWEEP_SECONDS = 60

/** For one process. Several backends of one application must share a store, such as Redis: `SET jti 1 NX EXAT …`. */
export class MemoryReplayStore implements ReplayStore {
  readonly #used = new Map<string, number>()
  #nextSweep = 0

  /** `now` in unix seconds. */
  constructor(private readonly now: () => number = () => Date.now() / 1000) {}

  consume(jti: string, expiresAt: number): boolean {
    this.#sweep()
    if (this.#used.has(jti)) return false
    this.#used.set(jti, expiresAt)
    return true
  }

  /** How many are remembered. */
  get size(): number {
    return this.#used.size
  }

  #sweep(): void {
    const now = this.now()
    if (now < this.#nextSweep) return
    this.#nextSweep = now + SWEEP_SECONDS
    for (const [jti, expiresAt] of this.#used) if (expiresAt < now) this.#used.delete(jti)
  }
}
