/**
 * What is said between the service, its engine process and the workers in it. Tasks and replies go straight between the
 * service and a worker, over the worker's own socket, as frames whose parts are the pictures; a hop through the engine
 * process's main thread would cost each verify 0.4 ms of CPU time.
 */
import type { ModelPack } from '../../../models/pack/model-pack.js'
import type { StageTimings } from '../stages.js'
import type { BiometricErrorCode, FaceSample, ImageLimits, InspectedImage, ProviderStatus } from '../types.js'

/** What an engine process is started with. */
export interface HostSetup {
  workers: number
  worker: WorkerSetup
}

/** What a worker is started with. */
export interface WorkerSetup {
  /** Where the service listens: a path of the file system (a pipe's name on Windows). */
  socketPath: string
  pack: ModelPack
  executionProviders: string[]
  limits: ImageLimits
  faultInjection: boolean
}

/** Something that the log should know of a worker: it died, or could not load its networks. */
export interface WorkerIncident {
  kind: 'worker_lost' | 'worker_load_failed'
  reason: string
}

/** Ends when the service hangs up, or before it is ready. */
export type WorkerEnd = { loaded: true } | { loaded: false; reason: string }

/**
 * Ways to break the worker that takes the task: at once; when its next task arrives; by an uncaught error after the
 * task. `crash` takes the whole engine process along, as a fault in native code does; `exhaust` fills the worker's JavaScript
 * heap; `stall` keeps the worker busy.
 */
export type Breakage = 'exit' | 'throw' | 'exhaust' | 'crash'
export type Fault =
  | { kind: Breakage | `${Breakage}-on-next-task` | 'throw-afterwards' }
  | { kind: 'stall'; durationMs: number }

export type WorkerTask =
  | { type: 'enrol'; images: readonly Uint8Array[] }
  | { type: 'verify'; images: readonly Uint8Array[]; reference: Float32Array }
  | { type: 'compare'; images: readonly [Uint8Array, Uint8Array] }
  | { type: 'inspect'; images: readonly Uint8Array[] }
  | { type: 'fault'; fault: Fault }

/** What each type of task yields. */
export interface WorkerValues {
  enrol: { samples: FaceSample[]; reference: Float32Array }
  verify: { sample: FaceSample; score: number }
  compare: { samples: [FaceSample, FaceSample]; score: number }
  inspect: { images: InspectedImage[] }
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

export type WorkerReply<T extends WorkerTask['type'] = WorkerTask['type']> =
  | { ok: true; value: WorkerValues[T]; timingsMs: StageTimings }
  | WorkerFailure

/** A task without its images, which are the frame's parts. */
export type ImagelessTask = WorkerTask extends infer T
  ? T extends WorkerTask
    ? Omit<T, 'images'>
    : never
  : never

/** From the service to a worker. */
export interface TaskMessage {
  id: number
  task: ImagelessTask
}

/**
 * From a worker to the service: first that it has loaded and warmed up its networks, then its replies. What happened to a
 * worker is told for it, on a connection of its own.
 */
export type WorkerMessage =
  | WorkerIncident
  | { kind: 'ready'; provider: ProviderStatus }
  | { kind: 'reply'; id: number; reply: WorkerReply }
