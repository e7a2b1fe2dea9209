/**
 * The engine's channel: messages from the service to its engine process and to the workers in it. `worker-messages.ts` has the
 * messages back, `frames.ts` the encoding, `engine/engine-process.ts` the service's end and its states.
 *
 *   1. The service listens on a socket in a folder that only its owner may read, and starts the engine process.
 *   2. service -> process, standard input: one HostSetup. End of file there asks the process to end.
 *   3. process: starts its worker threads; each loads its networks and runs each of them once.
 *   4. worker -> service, a socket of its own: `ready`. The service may now send tasks.
 *   5. service -> worker: TaskMessage { id, task }, the pictures as parts of the frame.
 *      worker -> service: `reply` with the same id. Replies may come in any order.
 *   6. service -> worker: CancelMessage; the task ends with its next stage and still sends a reply.
 *   7. service -> worker: PingMessage, every second; worker -> service: `pong`.
 *   8. process -> service, a socket for each incident: `worker_lost`, `worker_load_failed`, `accelerator_lost` or
 *      `accelerator_hung`.
 *   9. The service closes a worker's socket: the worker finishes its tasks, and its thread ends.
 *
 * Tasks and replies go straight between the service and a worker: a hop through the engine process's main thread would cost
 * each verify 0.4 ms of CPU time.
 */

import type { ModelPack } from '../../../models/pack/model-pack.js'
import type { ModelPackErrorCode } from '../../../models/pack/model-pack-error.js'
import type { LaneFault } from '../accelerator/lane-messages.js'
import type { Alignment, Box } from '../measurements.js'
import type { FrameLimits, ImageLimits, OtherBounds } from '../types.js'

/** The engine process's first and only frame on standard input. */
export interface HostSetup {
  workers: number
  worker: WorkerSetup
}

/** Options of one worker. */
export interface WorkerSetup {
  /** The service's listening socket: a file path (on Windows, a named pipe). */
  socketPath: string
  pack: ModelPack
  /** Packs that may follow or decide besides `pack`. */
  otherPacks: readonly ModelPack[]
  executionProviders: string[]
  limits: ImageLimits
  faultInjection: boolean
}

/** Result of the Piscina task that serves: it ends when the service hangs up, or before the worker is ready. */
export type WorkerEnd = { loaded: true } | { loaded: false; reason: string; code?: ModelPackErrorCode }

/**
 * Ways to break the worker that takes the task: at once; when its next task arrives; by an uncaught error after the
 * task. `crash` ends the whole engine process, as a fault in native code does; `exhaust` fills the worker's
 * JavaScript heap; `stall` keeps the worker busy.
 */
export type Breakage = 'exit' | 'throw' | 'exhaust' | 'crash'
/** `accelerator-…` breaks the lane: its device, its thread, or its next run, which then does not end. */
export type InjectedFault =
  | { kind: `accelerator-${LaneFault}` }
  | { kind: Breakage | `${Breakage}-on-next-task` | 'throw-afterwards' }
  | { kind: 'stall'; durationMs: number }

/** One picture of a call with several, and its index among them. */
interface OnePicture {
  images: readonly [Uint8Array]
  imageIndex: number
}

/** The pack that decides about the images. A field is left out where the primary pack decides. */
interface Decided {
  /** Model id. */
  decideBy?: string
}

/** Packs that follow. The field is left out where none does. */
interface Followed {
  /** Model ids. */
  alsoEmbed?: readonly string[]
}

/**
 * All tasks. `look` and `embed` are the tasks of a series, each for one of its frames: a worker keeps nothing of a
 * frame between two tasks. `embed` decodes its frame again and cuts out the face that `look` aligned; packs that follow
 * look for the face at `box`, in pixels of the frame.
 */
export type WorkerTask =
  | ({ type: 'enrol'; images: readonly Uint8Array[] } & Decided & Followed)
  | ({ type: 'verify'; images: readonly Uint8Array[]; bounds?: OtherBounds } & Decided & Followed)
  | { type: 'compare'; images: readonly [Uint8Array, Uint8Array] }
  | ({ type: 'look'; checkLiveness: boolean } & OnePicture & Decided)
  | ({ type: 'embed'; alignment: Alignment; box?: Box } & OnePicture & Decided & Followed)
  | ({ type: 'glance'; images: readonly Uint8Array[]; limits: FrameLimits } & Decided)
  | ({ type: 'inspect'; maxPixels?: number } & OnePicture)
  | { type: 'fault'; fault: InjectedFault }

/** A task without its images, which travel as parts of the frame. */
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

/**
 * From the service to a worker: no caller waits for this task's reply any more. The worker may have sent it already.
 */
export interface CancelMessage {
  cancelled: number
}
