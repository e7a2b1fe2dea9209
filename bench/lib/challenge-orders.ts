/** Orders and results of the sender of challenges and of its bare kernels. */
import type { ModelPack } from '../../models/pack/model-pack.js'
import type { ImageLimits } from '../../src/biometrics/types.js'
import type { Movement } from '../../src/features/challenges/film/steps.js'
import type { Target } from './load-orders.js'

/** Frames of every film: a camera takes five a second. */
export const FRAMES = 24
export const FRAME_INTERVAL_MS = 200

/** JPEG files of one head, from which the film of any challenge is put together. */
export interface FilmParts {
  ahead: { first: Uint8Array[]; last: Uint8Array[] }
  movements: Record<Movement, Uint8Array[]>
}

/**
 * A closed loop: each of `callers` asks for a challenge, sends its film, and starts again when the film is approved.
 */
export interface ChallengeOrder {
  target: Target
  /** Users are enrolled by the order itself, unless they are already. */
  users: number
  enrolImage: Uint8Array
  parts: FilmParts
  callers: number
  warmUpSeconds: number
  seconds: number
}

export interface ChallengeLoad {
  /** Milliseconds from the first byte of a film written to the last byte of its verdict read. */
  latenciesMs: number[]
  /** Milliseconds of asking for a challenge, measured alike. */
  askedMs: number[]
  /** Milliseconds by stage that the service reports for each verdict (`Server-Timing`). */
  stagesMs: Array<Record<string, number>>
}

/** Decodes the frames, finds the face and its points in each, and embeds the key frames, again and again. */
export interface ChallengeKernelOrder {
  pack: ModelPack
  provider: string
  limits: ImageLimits
  frames: Uint8Array[]
  embeddings: number
  seconds: number
}

/** Milliseconds on one thread for each film. */
export interface ChallengeKernels {
  decodeMs: number[]
  findMs: number[]
  embedMs: number[]
}
