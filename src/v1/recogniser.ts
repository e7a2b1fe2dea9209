/** Where verdicts come from: the engine in production, the caller's own choice in the sandbox. One shape for both. */
import type { EnrolResult, FaceSample, FlowShare, VerifyResult } from '../biometrics/types.js'
import type { ImageInput } from './images.js'

export interface RecogniserCall {
  /** Whose images they are said to be. */
  userId: string
  images: Buffer[]
  /** Where the images came from, for naming the one to blame. */
  input: ImageInput
  /** On `performance.now()`'s axis. */
  deadlineMs: number
  signal: AbortSignal
  share: FlowShare
}

/** As the engine gives it: `reference` is empty in the sandbox, and there are no samples. */
export interface Enrolled extends Omit<EnrolResult, 'samples'> {
  /** One an image, for telling replays later; in the order of the images. */
  samples: Array<Pick<FaceSample, 'embedding'>>
}

export interface Comparison extends Omit<VerifyResult, 'sample'> {
  /** The images are of the person enrolled, whether live or not. */
  matches: boolean
  /** The one that counted. */
  sample: Pick<FaceSample, 'embedding' | 'quality' | 'liveness'>
}

export interface Recogniser {
  /** Id of what makes the embeddings; references of another one are never compared. */
  readonly model: string
  /** The score from which on two faces count as the same person, at a false match rate. */
  threshold(fmr: number): number
  /** @throws ApiError of category biometric_rejected, or unavailable */
  enrol(call: RecogniserCall): Promise<Enrolled>
  /**
   * @param reference null for a user who is not enrolled
   * @throws ApiError reference_not_found; of category biometric_rejected, or unavailable
   */
  verify(call: RecogniserCall, reference: Float32Array | null, threshold: number): Promise<Comparison>
}
