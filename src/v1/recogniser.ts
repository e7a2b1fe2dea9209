/** Where verdicts come from: the engine in production, the caller's own choice in the sandbox. One shape for both. */
import type { Liveness, Quality } from '../biometrics/types.js'
import type { ImageInput } from './images.js'
import type { Timings } from './stages.js'

export interface RecogniserCall {
  /** Where the images came from, for naming the one to blame. */
  input: ImageInput
  deadlineMs: number
  signal: AbortSignal
}

export interface Enrolled {
  /** [dimensions] float32; empty in the sandbox. */
  embedding: Float32Array
  /** Each image's embedding, for telling replays later; in the order of the images. */
  samples: Float32Array[]
  quality: Quality
  liveness: Liveness
  timings: Timings
}

export interface Comparison {
  score: number
  /** Embedding of the image that counted. */
  embedding: Float32Array
  quality: Quality
  liveness: Liveness
  timings: Timings
}

export interface Recogniser {
  /** Id of what makes the embeddings; references of another one are never compared. */
  readonly model: string
  /** The score from which on two faces count as the same person, at a false match rate. */
  threshold(fmr: number): number
  /** How alike two embeddings are, on the scale of `threshold`. */
  similarity(a: Float32Array, b: Float32Array): number
  /** Liveness is checked, so that lockout allows more attempts (NIST SP 800-63B-4). */
  readonly checksLiveness: boolean
  /** Verdicts are made up: they say nothing of the images, so neither lockout nor replays are judged on them. */
  readonly synthetic: boolean
  /** The answer for this user id does not depend on an enrolment. */
  isScripted(userId: string): boolean
  /** @throws ApiError of category biometric_rejected, or unavailable */
  enrol(userId: string, images: Buffer[], call: RecogniserCall): Promise<Enrolled>
  /** @throws ApiError of category biometric_rejected, or unavailable */
  verify(
    userId: string,
    images: Buffer[],
    reference: Float32Array,
    fmr: number,
    call: RecogniserCall,
  ): Promise<Comparison>
}
