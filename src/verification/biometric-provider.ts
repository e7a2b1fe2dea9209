/** Where verdicts come from: the engine in production, the caller's own choice in the sandbox. One shape for both. */
import type { FmrBasis } from '../../models/pack/model-pack.js'
import type { PackGrade } from '../../models/pack/pack-grade.js'
import type { FrameGuidance } from '../biometrics/challenge/frame-faults.js'
import type { WeightedEmbedding } from '../biometrics/pipeline/match.js'
import type {
  ChallengeFrames,
  EnrolResult,
  FaceSample,
  GuideFrames,
  Quality,
  VerifyResult,
} from '../biometrics/types.js'
import type { Call, CaptureInput } from './call.js'
import type { Base64 } from './images.js'
import type { LivenessStatement } from './liveness.js'

/** The decoded images of a request. */
export interface Evidence {
  images: Buffer[]
  /** What the images were to show, where they are frames of a challenge; null for photos. */
  challenge: ChallengeFrames | null
}

/** What a provider reads of a request: whose images these are said to be, and for how long its caller waits. */
export type ProviderCall<Input> = Pick<Call<Input>, 'input' | 'deadlineMs' | 'signal' | 'schedulingClass'>

export interface EnrolOptions {
  /** Reports images of poor quality in the findings instead of refusing them. */
  assessOnly: boolean
}

/** A small frame of a person who is not to be recognized. */
export interface GuideInput {
  image: Base64
  /** Chooses the sandbox's guidance; production ignores it. */
  user_id?: string
}

/** As the engine gives it: `reference` is empty in the sandbox, and there are no samples. */
export interface Enrolled extends Omit<EnrolResult, 'samples' | 'liveness'> {
  liveness: LivenessStatement
  /** How many images the reference is made of. */
  views: number
  /** One an image that the reference is made of, in the order of the images. */
  samples: Array<Pick<FaceSample, 'imageIndex' | 'embedding' | 'quality'>>
}

export interface Comparison extends Omit<VerifyResult, 'score' | 'sample' | 'samples'> {
  /** Null where a challenge's frames do not show what was asked for: nothing was compared. */
  score: number | null
  /** The images are of the person enrolled, whether live or not. */
  matches: boolean
  /** The one that was compared. */
  sample: { quality: Quality | null; liveness: LivenessStatement }
  /** One a usable image, for telling replays. */
  samples: Array<Pick<FaceSample, 'imageIndex' | 'embedding'>>
}

/** A reference on its way into or out of the vault. */
export interface FusedReference extends WeightedEmbedding {
  /** How many photos it was made of. */
  views: number
}

export interface OperatingPoint {
  /** The score from which on two faces count as the same person. */
  threshold: number
  /** The false match rate that the threshold attains; not always the one that was asked for. */
  fmr: number
  /** What stands behind the rate. */
  basis: FmrBasis
  /** What the model pack is good for at the rate. */
  grade: PackGrade
}

export interface BiometricProvider {
  /** Id of what makes the embeddings; references of another one are never compared. */
  readonly model: string
  /** What judges liveness by a network, as statements name it; null for nothing. */
  readonly passiveLiveness: string | null
  /** Frames of challenges can be judged. */
  readonly takesChallenges: boolean
  /** What decides at a false match rate that was asked for. */
  operatingPoint(fmr: number): OperatingPoint
  /** @throws DomainError of category biometric_rejected, or unavailable */
  enrol(call: ProviderCall<CaptureInput>, evidence: Evidence, options: EnrolOptions): Promise<Enrolled>
  /**
   * A reference with the photos of an enrolment added to it. Each of them must match it.
   * @throws DomainError different_people, naming the first that does not match
   */
  extend(
    call: Pick<ProviderCall<CaptureInput>, 'input'>,
    reference: FusedReference,
    added: Enrolled,
    threshold: number,
  ): FusedReference
  /**
   * @param reference opens it, which is asked for when the images are on their way; null for a user who is not enrolled
   * @throws DomainError reference_not_found; of category biometric_rejected, or unavailable
   */
  verify(
    call: ProviderCall<CaptureInput>,
    evidence: Evidence,
    reference: (() => Float32Array) | null,
    threshold: number,
  ): Promise<Comparison>
  /**
   * What a person can be told, the most urgent first.
   * @throws DomainError image_unreadable, image_too_large, image_too_small, or unavailable
   */
  guide(call: ProviderCall<GuideInput>, frames: GuideFrames): Promise<FrameGuidance[]>
  /** Whether a verify of this user is refused while the user is not enrolled. False for the sandbox's scripted users. */
  needsReference(userId: string): boolean
}

/** As replays are told by them. */
export function embeddingsByImage(samples: Comparison['samples']): Map<number, Float32Array> {
  return new Map(samples.map(({ imageIndex, embedding }) => [imageIndex, embedding]))
}
