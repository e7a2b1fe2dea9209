/** Where the time of one request goes, stage by stage. */
import type { StageTimings } from '../types.js'

export type Stage = keyof StageTimings

export class StageClock {
  readonly timingsMs: StageTimings = {}

  /** Runs `work` and adds its duration to `stage`. */
  async measure<T>(stage: Stage, work: () => T | Promise<T>): Promise<T> {
    const startedAt = performance.now()
    try {
      return await work()
    } finally {
      this.add(stage, performance.now() - startedAt)
    }
  }

  add(stage: Stage, durationMs: number): void {
    this.timingsMs[stage] = (this.timingsMs[stage] ?? 0) + durationMs
  }
}
