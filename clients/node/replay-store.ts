/** Remembers which verdicts were used, so that each approves only one action. */

/**
 * A store of used verdicts. Backends of one application share one.
 * @example
 * const store: ReplayStore = {
 *   consume: async (jti, expiresAt) => (await redis.set(jti, '1', { NX: true, EXAT: expiresAt })) !== null,
 * }
 */
export interface ReplayStore {
  /**
   * Marks a verdict as used, atomically.
   * @param expiresAt unix seconds after which the store may forget the verdict, because its JWT is refused anyway
   * @returns false when it was used before
   */
  consume(jti: string, expiresAt: number, signal?: AbortSignal): boolean | Promise<boolean>
}

const SWEEP_SECONDS = 60

/** Remembers used verdicts in the memory of one process. Several processes must share a store, such as Redis: `SET jti 1 NX EXAT …`. */
export class MemoryReplayStore implements ReplayStore {
  readonly #used = new Map<string, number>()
  #nextSweep = 0

  /** @param now the clock, in unix seconds */
  constructor(private readonly now: () => number = () => Date.now() / 1000) {}

  consume(jti: string, expiresAt: number): boolean {
    this.#sweep()
    if (this.#used.has(jti)) return false
    this.#used.set(jti, expiresAt)
    return true
  }

  /** Number of verdicts that are remembered. */
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
