/** Orders and results of the bare kernel loop. */
import type { ModelPack } from '../../models/pack/model-pack.js'
import type { ImageLimits } from '../../src/biometrics/types.js'

/** Pictures that the engine gives each of its workers at once. */
export const ENGINE_BATCH = 4

/** Options of a kernel thread. */
export interface KernelSetup {
  pack: ModelPack
  provider: string
  limits: ImageLimits
  /** Picture of the reference, with which every image is compared. */
  enrolImage: Uint8Array
  images: Uint8Array[]
}

export type KernelOrder =
  | ({ type: 'load'; threads: number } & KernelSetup)
  /**
   * Each thread works on `picturesAtOnce` pictures: from 2 on, it decodes some while it computes others, and embeds
   * in batches.
   */
  | { type: 'loop'; threads: number; picturesAtOnce: number; warmUpSeconds: number; seconds: number }

/** One thread's results of a loop. */
export interface KernelRound {
  /** Time of each image, in milliseconds. */
  latenciesMs: number[]
  /** Time at which each image was done, in milliseconds on the machine's monotonic axis. */
  doneAtMs: number[]
}

export interface KernelResult extends KernelRound {
  /** CPU time of the process in the measured part, in milliseconds, and the length of that part. */
  cpuMs: number
  wallMs: number
}

/** Milliseconds on an axis that all threads share: `performance.now()` starts at zero in each. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
