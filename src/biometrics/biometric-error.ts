/** Error codes of the engine: the reasons for which a request produces no result. */

import type { PhotoGuidance } from '../../clients/capture/guidance-codes.js'
import { CodedError } from '../lib/errors.js'
import type { QualityFault } from './measurements.js'

/** Codes that blame the image. */
export const IMAGE_ERROR_CODES = [
  'image_unreadable',
  'image_too_large',
  'image_too_small',
  'face_not_found',
  'multiple_faces',
  'face_too_small',
  'face_not_upright',
  'low_quality',
  'liveness_failed',
] as const

export type ImageErrorCode = (typeof IMAGE_ERROR_CODES)[number]

/** Every code: the image is to blame, the other images of the call are, or the state of the engine at that moment. */
export type BiometricErrorCode =
  | ImageErrorCode
  | 'different_people'
  | 'overloaded'
  | 'deadline_exceeded'
  | 'cancelled'
  | 'engine_unavailable'

/** A coded refusal. `message` is safe to show to a caller: it never holds image bytes, paths or embeddings. */
export class BiometricError extends CodedError<BiometricErrorCode> {
  /** The quality components beyond their bounds, each with its image; empty unless the code is `low_quality`. */
  readonly faults: readonly QualityFault[]
  /** Guidance for the person, where the code is not exact enough. */
  readonly guidance: PhotoGuidance | undefined

  constructor(
    code: BiometricErrorCode,
    message: string,
    /** Index into the caller's images, or undefined where no single image is to blame. */
    readonly imageIndex?: number,
    /** `cause` is only for the log. */
    options: { cause?: unknown; faults?: readonly QualityFault[]; guidance?: PhotoGuidance | undefined } = {},
  ) {
    super(code, message, 'cause' in options ? { cause: options.cause } : {})
    this.faults = options.faults ?? []
    this.guidance = options.guidance
  }
}

/** The end of a call of which no caller waits any more. */
export function cancelled(): BiometricError {
  return new BiometricError('cancelled', 'The call was cancelled.')
}
