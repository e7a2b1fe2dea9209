/** Where the time of one request goes, stage by stage. */
import type { EngineStage } from '../stages.js'
import type { StageTimings } from '../types.js'

export class StageClock {
  readonly timingsMs: StageTimings = {}

  /** Runs `work` and adds its duration to `stage`. */
  async measure<T>(stage: EngineStage, work: () => T | Promise<T>): Promise<T> {
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
