/** Options of the engine by the configuration, for the service and for commands that run an engine themselves. */
import { decoderMemoryBytes } from '../biometrics/pipeline/decode/decoding-budget.js'
import type { EngineOptions } from '../biometrics/types.js'
import { type Config, modelPackDir } from '../config/config.js'

/** Options of an engine with one pack. */
export function engineOptions(config: Config): EngineOptions {
  return {
    packDir: modelPackDir(config),
    workers: config.workers,
    executionProviders: config.executionProviders,
    queueLimit: config.queueLimit,
    limits: {
      maxPixels: config.maxImagePixels,
      maxFramePixels: config.maxFramePixels,
      minSidePx: MIN_SIDE_PX,
      minFacePx: config.minFacePx,
      secondFaceRatio: SECOND_FACE_RATIO,
      decoding: { memoryBytes: decoderMemoryBytes(config.maxImagePixels) },
    },
  }
}

/** An image thinner than this cannot hold a usable face. */
const MIN_SIDE_PX = 64
/** A second face at least half as wide as the largest is a second person in front of the camera, not a passer-by. */
const SECOND_FACE_RATIO = 0.5
