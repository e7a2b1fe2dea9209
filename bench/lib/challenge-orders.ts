/** What the sender of challenges and their bare kernels can be asked for, and what they answer. */
import type { ModelPack } from '../../models/pack/model-pack.js'
import type { Movement } from '../../src/biometrics/challenge/steps.js'
import type { ImageLimits } from '../../src/biometrics/types.js'
import type { Target } from './load-orders.js'

/** The frames of every film: a camera's, five a second. */
export const FRAMES = 24
export const FRAME_INTERVAL_MS = 200

/** JPEG files of one head, from which the film of any challenge is put together. */
export interface FilmParts {
  ahead: { first: Uint8Array[]; last: Uint8Array[] }
  movements: Record<Movement, Uint8Array[]>
}

/** A closed loop: each of `callers` asks for a challenge, sends its film, and begins anew when that is approved. */
export interface ChallengeOrder {
  target: Target
  /** Enrolled by the order itself, where they are not yet. */
  users: number
  enrolImage: Uint8Array
  parts: FilmParts
  callers: number
  warmUpSeconds: number
  seconds: number
}

export interface ChallengeLoad {
  /** From the first byte of a film written to the last byte of its verdict read, in milliseconds. */
  latenciesMs: number[]
  /** The same for asking for a challenge. */
  askedMs: number[]
  /** What the service itself says of each verdict (`Server-Timing`), in milliseconds by stage. */
  stagesMs: Array<Record<string, number>>
}

/** Decodes the frames, finds the face and its points in each, and embeds as many faces as speak for a film; over and over. */
export interface ChallengeKernelOrder {
  pack: ModelPack
  provider: string
  limits: ImageLimits
  frames: Uint8Array[]
  embeddings: number
  seconds: number
}

/** Milliseconds on one thread, a film each. */
export interface ChallengeKernels {
  decodeMs: number[]
  findMs: number[]
  embedMs: number[]
}
