/** What a worker does for each type of task. Runs in a worker thread. */

import { BiometricError, IMAGE_ERROR_CODES, type ImageErrorCode } from '../biometric-error.js'
import type { WorkerTask } from '../channel/engine-protocol.js'
import type { WorkerFailure, WorkerReply, WorkerValues } from '../channel/worker-messages.js'
import { decodeImage } from '../pipeline/decode.js'
import type { FacePipeline } from '../pipeline/face-pipeline.js'
import { StageClock } from '../pipeline/stage-clock.js'
import type { FaceSample, InspectedImage } from '../types.js'

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
    case 'inspect':
      return inspect(task.images, pipeline, clock)
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

async function inspect(
  images: readonly Uint8Array[],
  pipeline: FacePipeline,
  clock: StageClock,
): Promise<WorkerValues['inspect']> {
  const inspected: InspectedImage[] = []
  for (const [i, bytes] of images.entries()) {
    const { format, width, height } = await clock.measure('decode', () =>
      decodeImage(bytes, pipeline.limits, i),
    )
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
