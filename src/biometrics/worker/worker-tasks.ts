/** Runs each type of task. Called in a worker thread. */

import { BiometricError, IMAGE_ERROR_CODES, type ImageErrorCode } from '../biometric-error.js'
import { FRAME_LIMITS } from '../challenge/frame-guidance.js'
import type { WorkerTask } from '../channel/engine-protocol.js'
import type { WorkerFailure, WorkerReply, WorkerValues } from '../channel/worker-messages.js'
import type { Pixels } from '../kernels/planes.js'
import { decodeImage } from '../pipeline/decode.js'
import type { FacePipeline } from '../pipeline/face-pipeline.js'
import { LIVENESS_UNCHECKED } from '../pipeline/liveness.js'
import { StageClock } from '../pipeline/stage-clock.js'
import type { FaceSample, ImageLimits } from '../types.js'

/**
 * Never rejects: a refusal or failure is part of the reply.
 * @param signal aborted when no caller waits for the reply: the task ends with its next stage
 */
export async function runTask(
  task: Exclude<WorkerTask, { type: 'fault' }>,
  pipeline: FacePipeline,
  signal?: AbortSignal,
): Promise<WorkerReply> {
  const clock = new StageClock(signal)
  try {
    return { ok: true, value: await execute(task, pipeline, clock), timingsMs: clock.timingsMs }
  } catch (error) {
    return describeFailure(error)
  }
}

function execute(
  task: Exclude<WorkerTask, { type: 'fault' }>,
  pipeline: FacePipeline,
  clock: StageClock,
): Promise<WorkerValues[WorkerTask['type']]> {
  switch (task.type) {
    case 'enrol':
      return enrol(task.images, pipeline, clock)
    case 'verify':
      return verify(task.images, pipeline, clock)
    case 'compare':
      return compare(task.images, pipeline, clock)
    case 'look':
      return look(task, pipeline, clock)
    case 'embed':
      return embed(task, pipeline, clock)
    case 'guide':
      return guide(task.images, pipeline, clock)
    case 'inspect':
      return inspect(task, pipeline, clock)
  }
}

/** Every image must be usable: a reference made of half of the images would surprise the caller. */
async function enrol(
  images: readonly Uint8Array[],
  pipeline: FacePipeline,
  clock: StageClock,
): Promise<WorkerValues['enrol']> {
  const samples: FaceSample[] = []
  for (const [i, bytes] of images.entries()) {
    samples.push(await pipeline.analyse(bytes, { imageIndex: i, strictLiveness: true, clock }))
  }
  return { samples }
}

/** One usable image is enough; if there is none, the first one's refusal is thrown. */
async function verify(
  images: readonly Uint8Array[],
  pipeline: FacePipeline,
  clock: StageClock,
): Promise<WorkerValues['verify']> {
  const samples: FaceSample[] = []
  let firstRefusal: unknown
  for (const [i, bytes] of images.entries()) {
    try {
      samples.push(await pipeline.analyse(bytes, { imageIndex: i, clock }))
    } catch (error) {
      if (!(error instanceof BiometricError)) throw error
      firstRefusal ??= error
    }
  }
  if (samples.length === 0) throw firstRefusal
  return { samples }
}

async function compare(
  images: readonly [Uint8Array, Uint8Array],
  pipeline: FacePipeline,
  clock: StageClock,
): Promise<WorkerValues['compare']> {
  const first = await pipeline.analyse(images[0], { imageIndex: 0, clock })
  const second = await pipeline.analyse(images[1], { imageIndex: 1, clock })
  return { samples: [first, second] }
}

/** Measures the face of one frame of a challenge, without embedding it. */
async function look(
  { images, imageIndex, checkLiveness }: Extract<WorkerTask, { type: 'look' }>,
  pipeline: FacePipeline,
  clock: StageClock,
): Promise<WorkerValues['look']> {
  return lookAt(pipeline, images[0], { imageIndex, checkLiveness, clock, limits: frameLimits(pipeline) })
}

/** Reports a frame without a usable face as a result, not as an error. */
async function lookAt(
  pipeline: FacePipeline,
  bytes: Uint8Array,
  options: { imageIndex: number; checkLiveness: boolean; clock: StageClock; limits?: ImageLimits },
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

const FACELESS = ['face_not_found', 'multiple_faces', 'face_too_small'] as const

async function embed(
  { images, imageIndex, alignment }: Extract<WorkerTask, { type: 'embed' }>,
  pipeline: FacePipeline,
  clock: StageClock,
): Promise<WorkerValues['embed']> {
  const options = { imageIndex, clock, limits: frameLimits(pipeline) }
  return { embedding: await pipeline.embed(images[0], alignment, options) }
}

/** Limits of a frame: it is smaller than a photo, and a challenge has up to forty. */
function frameLimits({ limits }: FacePipeline): ImageLimits {
  return { ...limits, maxPixels: Math.min(limits.maxPixels, limits.maxFramePixels ?? limits.maxPixels) }
}

/** Measures the faces of small frames, without embedding them. */
async function guide(
  images: readonly Uint8Array[],
  pipeline: FacePipeline,
  clock: StageClock,
): Promise<WorkerValues['guide']> {
  const limits = { ...pipeline.limits, ...FRAME_LIMITS }
  const looks: WorkerValues['guide']['looks'] = []
  for (const [imageIndex, bytes] of images.entries())
    looks.push((await lookAt(pipeline, bytes, { imageIndex, checkLiveness: false, clock, limits })).look)
  const [look] = looks
  const isFaceless = look && 'code' in look && look.code === 'face_not_found'
  if (!isFaceless) return { looks, luminance: null }
  const { pixels } = await clock.measure('decode', () => decodeImage(images[0]!, limits, 0, clock.signal))
  return { looks, luminance: meanLuminance(pixels) }
}

/** Mean of the green samples, 0 to 255: they carry most of the luminance. */
function meanLuminance({ data }: Pixels): number {
  let sum = 0
  for (let i = 1; i < data.length; i += 3) sum += data[i]!
  return sum / (data.length / 3)
}

async function inspect(
  { images, imageIndex, maxPixels = Number.POSITIVE_INFINITY }: Extract<WorkerTask, { type: 'inspect' }>,
  pipeline: FacePipeline,
  clock: StageClock,
): Promise<WorkerValues['inspect']> {
  const limits = { ...pipeline.limits, maxPixels: Math.min(maxPixels, pipeline.limits.maxPixels) }
  const { format, width, height } = await clock.measure('decode', () =>
    decodeImage(images[0], limits, imageIndex, clock.signal),
  )
  return { format, width, height }
}

function describeFailure(error: unknown): WorkerFailure {
  if (error instanceof BiometricError && error.code === 'cancelled') {
    const { code, message } = error
    return { ok: false, code, message }
  }
  if (error instanceof BiometricError && isImageError(error.code)) {
    const { code, message, imageIndex, faults, guidance } = error
    return {
      ok: false,
      code,
      message,
      ...(imageIndex === undefined ? {} : { imageIndex }),
      ...(faults.length === 0 ? {} : { faults: [...faults] }),
      ...(guidance === undefined ? {} : { guidance }),
    }
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return {
    ok: false,
    code: 'engine_unavailable',
    message: 'The engine could not process the request.',
    detail,
  }
}

function isImageError(code: string): code is ImageErrorCode {
  return IMAGE_ERROR_CODES.some((known) => known === code)
}
