/** What a suite is given and gives back. */
import type { ModelPack } from '../models/pack/model-pack.js'
import type { SuiteResult } from './lib/report.js'

export interface SuiteOptions {
  pack: ModelPack
  /** Measuring time, without starting and warming up. */
  seconds: number
  /** Folder for V8 CPU profiles of the service; undefined for none. */
  cpuProfileDir: string | undefined
  /** The largest number of references that `scaling` tries. */
  references: number
  soakMinutes: number
  /** Calls a second of `soak`; undefined for a share of what the machine can do. */
  soakRate: number | undefined
  /** What a picture takes of an engine worker in `cluster`, in milliseconds. */
  engineMs: number
  /** URL of the database of `cluster`; undefined for one of its own. */
  database: string | undefined
  /** Keeps what a long run has measured so far, should it not come to its end. */
  keepPartial(details: Record<string, unknown>): void
}

export interface Suite {
  name: string
  description: string
  /** Measuring time when none is asked for, in seconds. */
  defaultSeconds: number
  run(options: SuiteOptions): Promise<SuiteResult>
}
