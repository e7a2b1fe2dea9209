/** Maps a refused image to its guidance. */

import type { PhotoGuidance } from '../../clients/capture/guidance-codes.js'
import type { BiometricErrorCode, ImageErrorCode } from './biometric-error.js'
import { guidanceOnComponent } from './component-guidance.js'
import type { QualityFault } from './measurements.js'

const BY_CODE: Readonly<Record<Exclude<ImageErrorCode, 'low_quality'> | 'different_people', PhotoGuidance>> =
  {
    image_unreadable: 'file_unreadable',
    image_too_large: 'image_too_large',
    image_too_small: 'image_too_small',
    face_not_found: 'no_face',
    multiple_faces: 'several_faces',
    face_too_small: 'too_far',
    face_not_upright: 'not_upright',
    liveness_failed: 'not_live',
    different_people: 'different_people',
  }

/**
 * Guidance on a refused image; undefined where no image is to blame, and for `low_quality`, whose faults each have
 * their own.
 */
export function guidanceOfRefusal(code: BiometricErrorCode): PhotoGuidance | undefined {
  return code in BY_CODE ? BY_CODE[code as keyof typeof BY_CODE] : undefined
}

/** Guidance on one quality component that is beyond its bound. */
export function guidanceOfFault(fault: Pick<QualityFault, 'component' | 'value' | 'bound'>): PhotoGuidance {
  if (fault.component === 'eyes_open') return 'eyes_closed'
  if (fault.component === 'inter_eye_distance')
    return fault.value < (fault.bound.min ?? Number.NEGATIVE_INFINITY) ? 'too_far' : 'too_close'
  return guidanceOnComponent(fault) ?? 'try_again'
}
