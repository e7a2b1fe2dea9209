/** The interface to face recognition: `EngineProvider` asks the engine, `SandboxProvider` takes the outcome from the user id. */

import type { PackGrade } from '../../models/pack/grades.js'
import type { FmrBasis, ModelPack } from '../../models/pack/model-pack.js'
import type { FrameSample, FrameSeries } from '../biometrics/engine/frame-series.js'
import type { ComponentFinding } from '../biometrics/pipeline/judge/component-finding.js'
import type { WeightedEmbedding } from '../biometrics/pipeline/judge/match.js'
import type {
  EnrolResult,
  FaceSample,
  FrameLimits,
  Glance,
  Liveness,
  OtherBounds,
  Quality,
  StageTimings,
  VerifyResult,
} from '../biometrics/types.js'
import type { CaptureFault } from '../contract/capture-fault.js'
import type { Call, CaptureInput } from './call.js'
import type { PathOf, Pictures } from './capture/images.js'
import type { LivenessStatement } from './liveness.js'

/** Frames that are judged together, by the feature that has asked for them. */
export interface Film {
  /** Name of the liveness method that its movements are; null for a film without movements. */
  method: string | null
  /** @throws BiometricError */
  judge(frames: FrameSeries): Promise<JudgedFilm>
  /** Judges it in the sandbox, by the user id. @returns null for frames that pass @throws DomainError */
  script(userId: string): CaptureFault | null
}

export interface JudgedFilm {
  /** Null if the frames show what was asked for. */
  fault: CaptureFault | null
  /** Result of the liveness network over several frames. */
  liveness: Liveness
  /**
   * The key frames, the compared one first and another look straight ahead last; none where nothing is to be compared. Packs that
   * follow embed these two.
   */
  samples: FrameSample[]
  timingsMs: StageTimings
}

/** The decoded images of a request. */
export interface Evidence extends Pictures {
  /** The film of which the images are frames; null for photos. */
  film: Film | null
}

/** The fields of a request that a provider reads: the claimed user, and for how long the caller waits. */
export type ProviderCall<Input> = Pick<Call<Input>, 'input' | 'deadlineMs' | 'signal' | 'schedulingClass'> & {
  /** Model ids of packs that follow: each adds its embeddings to the result, and has no part in the outcome. */
  alsoEmbed?: readonly string[] | undefined
  /** Bounds of photos at verify that hold instead of those that are configured. */
  bounds?: OtherBounds | undefined
  /** Whether nobody waits for the result: it is computed where it delays nobody, or refused as `overloaded`. */
  isSpare?: boolean | undefined
}

/** One image that was measured. */
export interface AssessedImage {
  imageIndex: number
  quality: Quality
  /** The components of the quality, judged by the bounds for enrollment. */
  findings: ComponentFinding[]
}

/** Result of an enrollment. In the sandbox `reference` is empty, and there are no samples. */
export interface Enrolled extends Omit<EnrolResult, 'samples' | 'liveness' | 'quality'> {
  /** The images that the reference is made of, in their order. */
  assessed: AssessedImage[]
  liveness: LivenessStatement
  /** Number of photos that the reference is made of. */
  photoCount: number
  /** One sample for each image that the reference is made of, in the order of the images. */
  samples: Array<Pick<FaceSample, 'imageIndex' | 'embedding' | 'others' | 'quality'>>
}

export interface Comparison extends Omit<VerifyResult, 'score' | 'sample' | 'samples'> {
  /** Similarity, higher is more alike; null where nothing was compared, because the frames of a film do not show its movements. */
  score: number | null
  /** Whether the images show the enrolled person, live or not. */
  matches: boolean
  /** The image that was compared; `assessed` is null where none was. */
  sample: { assessed: AssessedImage | null; liveness: LivenessStatement }
  /**
   * The compared capture as the packs that follow see it, by model id: a reference can be made of it. Null where such a
   * pack gives no embedding, or nothing was compared.
   */
  others: Record<string, WeightedEmbedding | null>
  /** One embedding for each usable image, for detecting replays. */
  samples: Array<Pick<FaceSample, 'imageIndex' | 'embedding'>>
}

/** A reference outside the vault. */
export interface FusedReference extends WeightedEmbedding {
  /** Number of photos that the reference was made of. */
  photoCount: number
}

export interface OperatingPoint {
  /** Lowest score at which two faces count as the same person. */
  threshold: number
  /** False match rate that the threshold attains, 0 to 1. It may differ from the requested one. */
  fmr: number
  /** Basis of the rate: measured or extrapolated. */
  basis: FmrBasis
  /** Grade of the model pack at the rate. */
  grade: PackGrade
}

export interface BiometricProvider {
  /** Id of the model that makes the embeddings. References of another model are never compared. */
  readonly model: string
  /** Name of the liveness network in statements; null where there is none. */
  readonly passiveLiveness: string | null
  /** The pack that decides; null in the sandbox, where none does. */
  readonly pack: ModelPack | null
  /** Whether films can be judged. */
  readonly takesFilms: boolean
  /** The threshold for a false match rate. @param fmr requested rate, 0 to 1 */
  operatingPoint(fmr: number): OperatingPoint
  /**
   * @param options `assessOnly`: reports images of poor quality in the findings instead of refusing them
   * @throws DomainError of category biometric_rejected, or unavailable
   */
  enrol(
    call: ProviderCall<CaptureInput>,
    evidence: Evidence,
    options: { assessOnly: boolean },
  ): Promise<Enrolled>
  /**
   * Adds the photos of an enrollment to a reference. Each of them must match it.
   * @throws DomainError different_people, naming the first that does not match
   */
  extend(
    pictures: Pick<Pictures, 'field'>,
    reference: FusedReference,
    added: Enrolled,
    threshold: number,
  ): FusedReference
  /**
   * Compares the images with the user's reference.
   * @param reference opens the reference: it is called once the images are on their way to the engine. Null for a user who is not enrolled
   * @param threshold lowest score at which two faces count as the same person
   * @throws DomainError reference_not_found; of category biometric_rejected, or unavailable
   */
  verify(
    call: ProviderCall<CaptureInput>,
    evidence: Evidence,
    reference: (() => Float32Array) | null,
    threshold: number,
  ): Promise<Comparison>
  /**
   * Measures a small frame of a person who is not to be recognized, and perhaps a second one. Null in the sandbox, which looks for no face.
   * @param pathOf names the field of each frame
   * @throws DomainError image_unreadable, image_too_large, image_too_small, or unavailable
   */
  glance(
    call: ProviderCall<{ user_id?: string }>,
    images: Buffer[],
    limits: FrameLimits,
    pathOf: PathOf,
  ): Promise<Glance | null>
  /** The provider of another model of the same engine; null for a model that is not loaded. The sandbox answers for every model itself. */
  forModel(model: string): BiometricProvider | null
  /** Similarity of two embeddings of this model, on the scale of thresholds. */
  similarity(a: Float32Array, b: Float32Array): number
  /** Adds embeddings of this model to a reference without comparing them. @param photoCount number of photos that they were made of */
  join(reference: FusedReference, added: readonly WeightedEmbedding[], photoCount: number): FusedReference
  /** An embedding of this model that is nobody's, to compare with where there is no reference. */
  readonly noFace: Float32Array
  /** Whether a verify of this user is refused while the user is not enrolled. False for the sandbox's scripted users. */
  needsReference(userId: string): boolean
}

/** Embeddings by the index of their image. */
export function embeddingsByImage(samples: Comparison['samples']): Map<number, Float32Array> {
  return new Map(samples.map(({ imageIndex, embedding }) => [imageIndex, embedding]))
}
