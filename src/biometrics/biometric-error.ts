/** The ways in which a request to the engine produces no result. */
import { CodedError } from '../lib/errors.js'
import type { QualityFault } from './measurements.js'
import type { PhotoGuidance } from './photo-guidance.js'

/** The image is to blame. */
export const IMAGE_ERROR_CODES = [
  'image_unreadable',
  'image_too_large',
  'image_too_small',
  'face_not_found',
  'multiple_faces',
  'face_too_small',
  'low_quality',
  'liveness_failed',
] as const

export type ImageErrorCode = (typeof IMAGE_ERROR_CODES)[number]

/** The image is to blame, the company it is in, or the moment. */
export type BiometricErrorCode =
  | ImageErrorCode
  | 'different_people'
  | 'overloaded'
  | 'deadline_exceeded'
  | 'cancelled'
  | 'engine_unavailable'

/** A coded refusal. `message` is safe to show to a caller: it never holds image bytes, paths or embeddings. */
export class BiometricError extends CodedError<BiometricErrorCode> {
  override readonly name = 'BiometricError'
  /** Of `low_quality`: what is wrong with which image. */
  readonly faults: readonly QualityFault[]
  /** The person's remedy, where the code does not say it exactly enough. */
  readonly guidance: PhotoGuidance | undefined

  constructor(
    code: BiometricErrorCode,
    message: string,
    /** Index into the caller's images, where one image is to blame. */
    readonly imageIndex?: number,
    /** `cause` is for the log alone. */
    options: { cause?: unknown; faults?: readonly QualityFault[]; guidance?: PhotoGuidance | undefined } = {},
  ) {
    super(code, message, 'cause' in options ? { cause: options.cause } : {})
    this.faults = options.faults ?? []
    this.guidance = options.guidance
  }
}
