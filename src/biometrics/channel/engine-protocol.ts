/**
 * What the service says to its engine process and to the workers in it; `worker-messages.ts` has what they say. Tasks and
 * replies go straight between the service and a worker, over the worker's own socket, as frames whose parts are the pictures;
 * a hop through the engine process's main thread would cost each verify 0.4 ms of CPU time.
 */
import type { ModelPack } from '../../../models/pack/model-pack.js'
import type { Alignment } from '../measurements.js'
import type { ImageLimits } from '../types.js'

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

/** Ends when the service hangs up, or before it is ready. */
export type WorkerEnd = { loaded: true } | { loaded: false; reason: string }

/**
 * Ways to break the worker that takes the task: at once; when its next task arrives; by an uncaught error after the
 * task. `crash` takes the whole engine process along, as a fault in native code does; `exhaust` fills the worker's JavaScript
 * heap; `stall` keeps the worker busy.
 */
export type Breakage = 'exit' | 'throw' | 'exhaust' | 'crash'
export type InjectedFault =
  | { kind: Breakage | `${Breakage}-on-next-task` | 'throw-afterwards' }
  | { kind: 'stall'; durationMs: number }

/** A single picture of several that a call brought, and its index among them. */
interface OnePicture {
  images: readonly [Uint8Array]
  imageIndex: number
}

/**
 * `look` and `embed` are the tasks of a challenge, each for one of its frames: no worker keeps anything of a frame between two
 * tasks. `embed` decodes its frame again and cuts the face out as `look` aligned it.
 */
export type WorkerTask =
  | { type: 'enrol'; images: readonly Uint8Array[] }
  | { type: 'verify'; images: readonly Uint8Array[] }
  | { type: 'compare'; images: readonly [Uint8Array, Uint8Array] }
  | ({ type: 'look'; checkLiveness: boolean } & OnePicture)
  | ({ type: 'embed'; alignment: Alignment } & OnePicture)
  | { type: 'guide'; images: readonly Uint8Array[] }
  | ({ type: 'inspect'; maxPixels?: number } & OnePicture)
  | { type: 'fault'; fault: InjectedFault }

/** A task without its images, which are the frame's parts. */
export type ImagelessTask = WorkerTask extends infer T
  ? T extends WorkerTask
    ? Omit<T, 'images'>
    : never
  : never

/** From the service to a worker: a task. */
export interface TaskMessage {
  id: number
  task: ImagelessTask
}

/** From the service to a worker: answer with a `pong` as soon as the event loop turns. */
export interface PingMessage {
  ping: true
}

/** From the service to a worker: nobody waits for this task's reply any more. It may have been sent already. */
export interface CancelMessage {
  cancelled: number
}
