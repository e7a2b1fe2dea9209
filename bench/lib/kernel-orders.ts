/** What the bare kernel loop can be asked for, and what it answers. */
import type { ModelPack } from '../../models/pack/model-pack.js'
import type { ImageLimits } from '../../src/biometrics/types.js'

/** As many pictures as the engine gives each of its workers at once. */
export const ENGINE_BATCH = 4

/** What a kernel thread is started with. */
export interface KernelSetup {
  pack: ModelPack
  provider: string
  limits: ImageLimits
  /** Makes the reference that every image is compared with. */
  enrolImage: Uint8Array
  images: Uint8Array[]
}

export type KernelOrder =
  | ({ type: 'load'; threads: number } & KernelSetup)
  /** Each thread has `picturesAtOnce` under way: from 2 on, it decodes some meanwhile and embeds in batches. */
  | { type: 'loop'; threads: number; picturesAtOnce: number; warmUpSeconds: number; seconds: number }

/** One thread's part of a loop. */
export interface KernelRound {
  /** Time of each image, in milliseconds. */
  latenciesMs: number[]
  /** When each was done, in milliseconds on the machine's monotonic axis. */
  doneAtMs: number[]
}

export interface KernelResult extends KernelRound {
  /** CPU time that the process took in the measured part, in milliseconds, and how long that was. */
  cpuMs: number
  wallMs: number
}

/** Milliseconds on an axis that all threads share: `performance.now()` starts anew in each. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
