/** What a worker does for each type of task. Runs in a worker thread. */

import { BiometricError, IMAGE_ERROR_CODES, type ImageErrorCode } from '../biometric-error.js'
import { type FrameNote, judgeGeometry, keyIndices } from '../challenge/active-geometry.js'
import { FRAME_LIMITS } from '../challenge/frame-guidance.js'
import type { Step } from '../challenge/steps.js'
import type { WorkerTask } from '../channel/engine-protocol.js'
import type { WorkerFailure, WorkerReply, WorkerValues } from '../channel/worker-messages.js'
import type { Pixels } from '../kernels/planes.js'
import { decodeImage } from '../pipeline/decode.js'
import type { FacePipeline } from '../pipeline/face-pipeline.js'
import { LIVENESS_UNCHECKED } from '../pipeline/liveness.js'
import { StageClock } from '../pipeline/stage-clock.js'
import type { FaceSample, ImageLimits, InspectedImage, Liveness } from '../types.js'

/** Never rejects: a refusal or failure is part of the reply. */
export async function runTask(
  task: Exclude<WorkerTask, { type: 'fault' }>,
  pipeline: FacePipeline,
): Promise<WorkerReply> {
  const clock = new StageClock()
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
    case 'challenge':
      return challenge(task, pipeline, clock)
    case 'guide':
      return guide(task.images, pipeline, clock)
    case 'inspect':
      return inspect(task, pipeline, clock)
  }
}

/** Every image must be usable: a reference made of half of what was sent would surprise. */
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

/** One usable image is enough; only if there is none does the first one's refusal stand. */
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

/** So many frames are decoded while one of them is looked at. */
const FRAMES_AT_ONCE = 3
/** So many looks straight ahead are judged by the liveness network. */
const MOST_LIVENESS_FRAMES = 3

/** Every frame is looked at; those that speak for the series are embedded, where its movements are those asked for. */
async function challenge(
  { images, notes, steps }: Extract<WorkerTask, { type: 'challenge' }>,
  pipeline: FacePipeline,
  clock: StageClock,
): Promise<WorkerValues['challenge']> {
  const { activeLiveness, quality } = pipeline.pack.manifest
  if (!activeLiveness) throw new Error('the pack takes no challenge')
  const judged = livenessFrames(notes, steps)
  const seen: FrameOutcome[] = []
  let next = 0
  const lookAtTheRest = async () => {
    try {
      for (let i = next++; i < images.length; i = next++)
        seen[i] = await lookAt(pipeline, images[i]!, i, { checkLiveness: judged.has(i), clock })
    } catch (error) {
      // The series is refused for this frame: nobody looks at the others.
      next = images.length
      throw error
    }
  }
  await allDone(Array.from({ length: FRAMES_AT_ONCE }, lookAtTheRest))
  const looks = seen.map(({ look }) => look)
  const { keys } = judgeGeometry(looks, notes, steps, { activeLiveness, quality })
  const indices = keys ? keyIndices(keys) : []
  const embeddings = await Promise.all(
    indices.map(async (imageIndex) => ({
      imageIndex,
      embedding: await pipeline.embed(seen[imageIndex]!.chip!, clock),
    })),
  )
  return { looks, embeddings, liveness: meanLiveness(seen, pipeline.pack.manifest.liveness?.threshold ?? 0) }
}

/** Waits for the last of them, so that nothing of a task runs on after its answer. @throws what the first that failed threw */
async function allDone(work: Array<Promise<void>>): Promise<void> {
  await Promise.allSettled(work)
  await Promise.all(work)
}

interface FrameOutcome {
  look: WorkerValues['challenge']['looks'][number]
  chip?: Float32Array
  liveness: Liveness
}

async function lookAt(
  pipeline: FacePipeline,
  bytes: Uint8Array,
  imageIndex: number,
  options: { checkLiveness: boolean; clock: StageClock; limits?: ImageLimits },
): Promise<FrameOutcome> {
  try {
    const { face, chip, liveness } = await pipeline.look(bytes, { imageIndex, ...options })
    return { look: face, chip, liveness }
  } catch (error) {
    const code = error instanceof BiometricError && FACELESS.find((known) => known === error.code)
    if (!code) throw error
    return { look: { imageIndex, code }, liveness: LIVENESS_UNCHECKED }
  }
}

const FACELESS = ['face_not_found', 'multiple_faces', 'face_too_small'] as const

/** Spread over the looks straight ahead at the beginning and at the end: what is held up may change meanwhile. */
function livenessFrames(notes: readonly FrameNote[], steps: readonly Step[]): Set<number> {
  const ahead = notes.flatMap(({ step }, index) => (step === 0 || step === steps.length - 1 ? [index] : []))
  const count = Math.min(MOST_LIVENESS_FRAMES, ahead.length)
  const places = Array.from({ length: count }, (_, i) =>
    Math.round((i * (ahead.length - 1)) / Math.max(count - 1, 1)),
  )
  return new Set(places.map((place) => ahead[place]!))
}

/** Of the frames that could be judged: one of them says less than all. Where none could, that one speaks which says why. */
function meanLiveness(seen: readonly FrameOutcome[], threshold: number): Liveness {
  const scores = seen.flatMap(({ liveness }) => (liveness.score === null ? [] : [liveness.score]))
  if (scores.length === 0) {
    const unjudged = seen.find(({ liveness }) => liveness.checked)
    return unjudged?.liveness ?? LIVENESS_UNCHECKED
  }
  const score = scores.reduce((sum, one) => sum + one, 0) / scores.length
  return { checked: true, score, passed: score >= threshold }
}

/** Small frames: decoded, their faces found and measured, nothing embedded. */
async function guide(
  images: readonly Uint8Array[],
  pipeline: FacePipeline,
  clock: StageClock,
): Promise<WorkerValues['guide']> {
  const limits = { ...pipeline.limits, ...FRAME_LIMITS }
  const looks: WorkerValues['guide']['looks'] = []
  for (const [i, bytes] of images.entries())
    looks.push((await lookAt(pipeline, bytes, i, { checkLiveness: false, clock, limits })).look)
  const [look] = looks
  const isFaceless = look && 'code' in look && look.code === 'face_not_found'
  if (!isFaceless) return { looks, luminance: null }
  const { pixels } = await clock.measure('decode', () => decodeImage(images[0]!, limits))
  return { looks, luminance: meanLuminance(pixels) }
}

/** Of the green samples, which carry most of it. */
function meanLuminance({ data }: Pixels): number {
  let sum = 0
  for (let i = 1; i < data.length; i += 3) sum += data[i]!
  return sum / (data.length / 3)
}

async function inspect(
  { images, maxPixels = Number.POSITIVE_INFINITY }: Extract<WorkerTask, { type: 'inspect' }>,
  pipeline: FacePipeline,
  clock: StageClock,
): Promise<WorkerValues['inspect']> {
  const inspected: InspectedImage[] = []
  const limits = { ...pipeline.limits, maxPixels: Math.min(maxPixels, pipeline.limits.maxPixels) }
  for (const [i, bytes] of images.entries()) {
    const { format, width, height } = await clock.measure('decode', () => decodeImage(bytes, limits, i))
    inspected.push({ format, width, height })
  }
  return { images: inspected }
}

function describeFailure(error: unknown): WorkerFailure {
  if (error instanceof BiometricError && isImageError(error.code)) {
    const { code, message, imageIndex, faults } = error
    return {
      ok: false,
      code,
      message,
      ...(imageIndex === undefined ? {} : { imageIndex }),
      ...(faults.length === 0 ? {} : { faults: [...faults] }),
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
