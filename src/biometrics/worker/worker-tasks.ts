/** Runs each type of task. Called in a worker thread. */

import { BiometricError, IMAGE_ERROR_CODES } from '../biometric-error.js'
import type { WorkerTask } from '../channel/engine-protocol.js'
import type { TaskType, WorkerFailure, WorkerReply, WorkerValues } from '../channel/worker-messages.js'
import type { Pixels } from '../kernels/planes.js'
import { decodeImage } from '../pipeline/decode/decode.js'
import type { FacePipeline } from '../pipeline/face-pipeline.js'
import type { Following } from '../pipeline/following-packs.js'
import { LIVENESS_UNCHECKED } from '../pipeline/judge/liveness-room.js'
import { StageClock } from '../pipeline/stage-clock.js'
import type { FaceSample, ImageLimits } from '../types.js'

/** The clock of a task, and what it leaves for the log. */
interface Run {
  clock: StageClock
  /** Why a pack that follows failed, the first one of the task. */
  followingFailure: string | undefined
}

type TaskOf<T extends TaskType> = Extract<WorkerTask, { type: T }>
type Perform<T extends TaskType> = (
  task: TaskOf<T>,
  pipeline: FacePipeline,
  run: Run,
) => Promise<WorkerValues[T]>
/** Types of the tasks that compute something. */
type WorkType = Exclude<TaskType, 'fault'>

/**
 * Never rejects: a refusal or failure is part of the reply.
 * @param signal aborted when no caller waits for the reply: the task ends with its next stage
 */
export async function runTask(
  task: TaskOf<WorkType>,
  pipeline: FacePipeline,
  signal?: AbortSignal,
): Promise<WorkerReply> {
  const clock = new StageClock(signal)
  const run: Run = { clock, followingFailure: undefined }
  try {
    const value = await (TASKS[task.type] as Perform<WorkType>)(task, pipeline, run)
    const { followingFailure } = run
    return { ok: true, value, timingsMs: clock.timingsMs, ...(followingFailure ? { followingFailure } : {}) }
  } catch (error) {
    return describeFailure(error)
  }
}

const TASKS: { [T in WorkType]: Perform<T> } = {
  /** Every image must be usable: a reference made of half of the images would surprise the caller. */
  async enrol(task, pipeline, run) {
    const options = { decideBy: task.decideBy, following: followingOf(task, run), clock: run.clock }
    const samples: FaceSample[] = []
    for (const [imageIndex, bytes] of task.images.entries())
      samples.push(await pipeline.analyse(bytes, { ...options, imageIndex, strictLiveness: true }))
    return { samples }
  },

  /** One usable image is enough; if there is none, the first one's refusal is thrown. */
  async verify(task, pipeline, run) {
    const { decideBy, bounds } = task
    const options = { decideBy, bounds, following: followingOf(task, run), clock: run.clock }
    const samples: FaceSample[] = []
    let firstRefusal: unknown
    for (const [imageIndex, bytes] of task.images.entries()) {
      try {
        samples.push(await pipeline.analyse(bytes, { ...options, imageIndex }))
      } catch (error) {
        if (!(error instanceof BiometricError)) throw error
        firstRefusal ??= error
      }
    }
    if (samples.length === 0) throw firstRefusal
    return { samples }
  },

  async compare({ images }, pipeline, { clock }) {
    const first = await pipeline.analyse(images[0], { imageIndex: 0, clock })
    const second = await pipeline.analyse(images[1], { imageIndex: 1, clock })
    return { samples: [first, second] }
  },

  /** Measures the face of one frame of a series, without embedding it. */
  async look({ images, imageIndex, checkLiveness, decideBy }, pipeline, { clock }) {
    const limits = frameLimits(pipeline)
    return lookAt(pipeline, images[0], { imageIndex, checkLiveness, clock, limits, decideBy })
  },

  async embed(task, pipeline, run) {
    const { images, imageIndex, alignment, box, decideBy } = task
    const packs = followingOf(task, run)
    return pipeline.embed(images[0], alignment, {
      imageIndex,
      decideBy,
      clock: run.clock,
      limits: frameLimits(pipeline),
      following: packs && box ? { ...packs, box } : undefined,
    })
  },

  /** Measures the faces of small frames. The first one is embedded, only to see whether it is upright. */
  async glance({ images, decideBy, ...task }, pipeline, { clock }) {
    const limits = { ...pipeline.limits, ...task.limits }
    const options = { checkLiveness: false, clock, limits, decideBy }
    const looks: WorkerValues['glance']['looks'] = []
    for (const [imageIndex, bytes] of images.entries()) {
      const isUncertain = imageIndex === 0
      looks.push((await lookAt(pipeline, bytes, { ...options, imageIndex, isUncertain })).look)
    }
    const [look] = looks
    const isFaceless = look && 'code' in look && look.code === 'face_not_found'
    if (!isFaceless) return { looks, luminance: null }
    const { pixels } = await clock.measure('decode', () => decodeImage(images[0]!, limits, 0, clock.signal))
    return { looks, luminance: meanLuminance(pixels) }
  },

  async inspect({ images, imageIndex, maxPixels = Number.POSITIVE_INFINITY }, pipeline, { clock }) {
    const limits = { ...pipeline.limits, maxPixels: Math.min(maxPixels, pipeline.limits.maxPixels) }
    const { format, width, height } = await clock.measure('decode', () =>
      decodeImage(images[0], limits, imageIndex, clock.signal),
    )
    return { format, width, height }
  },
}

/** The packs that follow in this task, or undefined where none does. */
function followingOf({ alsoEmbed }: { alsoEmbed?: readonly string[] }, run: Run): Following | undefined {
  if (!alsoEmbed) return undefined
  const onFailure = (modelId: string, error: unknown) => {
    run.followingFailure ??= `${modelId}: ${describe(error)}`
  }
  return { models: alsoEmbed, onFailure }
}

/** Reports a frame without a usable face as a result, not as an error. */
async function lookAt(
  pipeline: FacePipeline,
  bytes: Uint8Array,
  options: Parameters<FacePipeline['look']>[1],
): Promise<WorkerValues['look']> {
  try {
    const { face, alignment, liveness } = await pipeline.look(bytes, options)
    return { look: face, alignment, liveness }
  } catch (error) {
    const code = error instanceof BiometricError && FACELESS.find((known) => known === error.code)
    if (!code) throw error
    return { look: { imageIndex: options.imageIndex, code }, alignment: null, liveness: LIVENESS_UNCHECKED }
  }
}

const FACELESS = ['face_not_found', 'multiple_faces', 'face_too_small', 'face_not_upright'] as const

/** Limits of a frame: it is smaller than a photo, and a series has up to forty. */
function frameLimits({ limits }: FacePipeline): ImageLimits {
  return { ...limits, maxPixels: Math.min(limits.maxPixels, limits.maxFramePixels ?? limits.maxPixels) }
}

/** Mean of the green samples, 0 to 255: they carry most of the luminance. */
function meanLuminance({ data }: Pixels): number {
  let sum = 0
  for (let i = 1; i < data.length; i += 3) sum += data[i]!
  return sum / (data.length / 3)
}

/** The refusal of an image or of a task that nobody waits for; anything else is described for the log only. */
function describeFailure(error: unknown): WorkerFailure {
  const code = error instanceof BiometricError && REPORTED.find((known) => known === error.code)
  if (code) {
    const { message, imageIndex, faults, guidance } = error
    return {
      ok: false,
      code,
      message,
      ...(imageIndex === undefined ? {} : { imageIndex }),
      ...(faults.length === 0 ? {} : { faults: [...faults] }),
      ...(guidance === undefined ? {} : { guidance }),
    }
  }
  return {
    ok: false,
    code: 'engine_unavailable',
    message: 'The engine could not process the request.',
    detail: describe(error),
  }
}

const REPORTED = [...IMAGE_ERROR_CODES, 'cancelled'] as const

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
