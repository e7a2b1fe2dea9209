/** Options and interface of a suite. */
import type { ModelPack } from '../models/pack/model-pack.js'
import type { SuiteResult } from './lib/report.js'

export interface SuiteOptions {
  pack: ModelPack
  /** Measuring time in seconds, without starting and warming up. */
  seconds: number
  /** Folder for V8 CPU profiles of the service, or undefined. */
  cpuProfileDir: string | undefined
  /** Largest number of references that `scaling` tries. */
  references: number
  soakMinutes: number
  /** Calls per second of `soak`; undefined for a share of the machine's capacity. */
  soakRate: number | undefined
  /** Number of tenants of `cluster`. */
  tenants: number
  /** Milliseconds that a picture takes of an engine worker in `cluster`. */
  engineMs: number
  /** Accelerator of `lane`; undefined for the processor in its part. */
  provider: string | undefined
  /** URL of the database of `cluster`; undefined to start one. */
  database: string | undefined
  /** Keeps the figures measured so far, in case a long run does not finish. */
  keepPartial(details: Record<string, unknown>): void
}

export interface Suite {
  name: string
  description: string
  /** Folders of the measured code, by path inside the repository: a result says how much of them has changed since. */
  measures: readonly string[]
  /** Default measuring time, in seconds. */
  defaultSeconds: number
  run(options: SuiteOptions): Promise<SuiteResult>
}
