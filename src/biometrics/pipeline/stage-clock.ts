/**
 * Measures the time of one request by stage, and ends the request between two stages when no caller waits for it any
 * more.
 */
import { cancelled } from '../biometric-error.js'
import type { EngineStage } from '../stages.js'
import type { StageTimings } from '../types.js'

export class StageClock {
  readonly timingsMs: StageTimings = {}

  /** @param signal aborted when no caller waits for the result any more; by default never */
  constructor(readonly signal?: AbortSignal) {}

  /**
   * Runs `work` and adds its duration to `stage`.
   * @throws BiometricError cancelled, without starting `work`, when no caller waits for the result
   */
  async measure<T>(stage: EngineStage, work: () => T | Promise<T>): Promise<T> {
    if (this.signal?.aborted) throw cancelled()
    const startedAt = performance.now()
    try {
      return await work()
    } finally {
      this.add(stage, performance.now() - startedAt)
    }
  }

  add(stage: EngineStage, durationMs: number): void {
    this.timingsMs[stage] = (this.timingsMs[stage] ?? 0) + durationMs
  }
}
