/** The messages between the engine on the main thread and its workers. Errors travel as data: Piscina would strip their codes. */
import type { ModelPack } from './model-pack.js'
import type {
  BiometricErrorCode,
  FaceSample,
  ImageLimits,
  InspectedImage,
  ProviderStatus,
  StageTimings,
} from './types.js'

/** What a worker is started with. */
export interface WorkerSetup {
  pack: ModelPack
  executionProviders: string[]
  limits: ImageLimits
  faultInjection: boolean
  /** [2] int32 shared by all threads: see `LoadGate`. */
  gate: Int32Array<SharedArrayBuffer>
}

/**
 * Ways to break the worker that takes the task: at once; when its next task arrives; by an uncaught error after the
 * task. `stall` keeps it busy outside native code.
 */
export type Fault =
  | { kind: 'exit' | 'exit-on-next-task' | 'throw-afterwards' }
  | { kind: 'stall'; durationMs: number }

export type WorkerTask =
  | { type: 'enrol'; images: Uint8Array[] }
  | { type: 'verify'; images: Uint8Array[]; reference: Float32Array }
  | { type: 'compare'; images: [Uint8Array, Uint8Array] }
  | { type: 'inspect'; images: Uint8Array[] }
  | { type: 'warm-up' }
  | { type: 'fault'; fault: Fault }

/** What each type of task yields. */
export interface WorkerValues {
  enrol: { samples: FaceSample[]; reference: Float32Array }
  verify: { sample: FaceSample; score: number }
  compare: { samples: [FaceSample, FaceSample]; score: number }
  inspect: { images: InspectedImage[] }
  'warm-up': { threadId: number }
  fault: Record<string, never>
}

export interface WorkerFailure {
  ok: false
  code: BiometricErrorCode
  message: string
  imageIndex?: number
  /** For the log alone: what really happened, where the code hides it. */
  detail?: string
}

export type WorkerReply<T extends WorkerTask['type']> =
  | { ok: true; value: WorkerValues[T]; timingsMs: StageTimings }
  | WorkerFailure

/** Sent once a worker has loaded and warmed up its networks, or each time it has failed to. */
export type WorkerNotice =
  | { kind: 'worker-ready'; threadId: number; provider: ProviderStatus }
  | { kind: 'worker-load-failed'; threadId: number; reason: string }
