/** Where the time of one request goes, stage by stage; and its end between two stages, when nobody waits for it any more. */
import type { EngineStage } from '../stages.js'
import { BiometricError, type StageTimings } from '../types.js'

export class StageClock {
  readonly timingsMs: StageTimings = {}

  /** @param signal aborted when nobody waits for the result any more; by default somebody always does */
  constructor(readonly signal?: AbortSignal) {}

  /**
   * Runs `work` and adds its duration to `stage`.
   * @throws BiometricError cancelled, where nobody waits for the result: `work` is not begun
   */
  async measure<T>(stage: EngineStage, work: () => T | Promise<T>): Promise<T> {
    if (this.signal?.aborted) throw new BiometricError('cancelled', 'The call was cancelled.')
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
