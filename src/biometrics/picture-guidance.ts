/** Guidance on a picture: on its refusal, and on the components of its quality. */
import type { Guidance, PhotoGuidance } from '../../clients/capture/guidance-codes.js'
import type { QualityComponent } from '../../models/pack/quality-components.js'
import type { BiometricErrorCode, ImageErrorCode } from './biometric-error.js'
import type { QualityFault } from './measurements.js'
import type { ComponentFinding } from './pipeline/judge/component-finding.js'

/**
 * Guidance codes by component, too low and too high, the most urgent component first. The other components have no
 * code.
 */
export const BY_COMPONENT: ReadonlyArray<readonly [QualityComponent, low: Guidance, high: Guidance]> = [
  ['sharpness', 'blurred', 'blurred'],
  ['over_exposure_prevention', 'too_bright', 'too_bright'],
  ['luminance_mean', 'too_dark', 'too_bright'],
  ['under_exposure_prevention', 'too_dark', 'too_dark'],
  ['illumination_uniformity', 'too_dark', 'too_dark'],
  ['luminance_variance', 'too_dark', 'too_dark'],
  ['head_pose_yaw', 'not_frontal', 'not_frontal'],
  ['head_pose_pitch', 'not_frontal', 'not_frontal'],
  ['head_pose_roll', 'not_frontal', 'not_frontal'],
]

/** Returns whether the value is too low rather than too high. */
export function isBelow({ value, bound }: Pick<ComponentFinding, 'value' | 'bound'>): boolean {
  return value < (bound?.min ?? Number.NEGATIVE_INFINITY)
}

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
  if (fault.component === 'inter_eye_distance') return isBelow(fault) ? 'too_far' : 'too_close'
  const entry = BY_COMPONENT.find(([name]) => name === fault.component)
  return entry ? entry[isBelow(fault) ? 1 : 2] : 'try_again'
}
