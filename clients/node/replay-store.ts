/** Remembers which verdicts were used, so that each approves only one action. */

/** A store of used verdicts. Backends of one application share one, such as `RedisReplayStore` or `PostgresReplayStore`. */
export interface ReplayStore {
  /**
   * Marks a verdict as used, atomically.
   * @param expiresAt unix seconds after which the store may forget the verdict, because its JWT is refused anyway
   * @returns false when it was used before
   */
  consume(jti: string, expiresAt: number, signal?: AbortSignal): boolean | Promise<boolean>
}

const SWEEP_SECONDS = 60

/** Remembers used verdicts in the memory of one process. */
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

interface NodeProcess {
  getBuiltinModule?(name: string): { isWorker?: boolean } | undefined
  emitWarning(text: string, options: { code: string }): void
}

let hasLooked = false

/** The default. It warns once in a process of a cluster. */
export class DefaultReplayStore extends MemoryReplayStore {
  override consume(jti: string, expiresAt: number): boolean {
    if (!hasLooked) {
      hasLooked = true
      const { process } = globalThis as { process?: NodeProcess }
      if (process?.getBuiltinModule?.('node:cluster')?.isWorker)
        process.emitWarning(
          'Each process of this cluster remembers used verdicts in its own memory. Give a replayStore, such as RedisReplayStore.',
          { code: 'COUNTERSIGN_REPLAY_STORE' },
        )
    }
    return super.consume(jti, expiresAt)
  }
}
