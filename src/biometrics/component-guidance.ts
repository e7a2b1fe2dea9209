/** Guidance on the components of a picture's quality. */
import type { Guidance } from '../../clients/capture/guidance-codes.js'
import type { QualityComponent } from '../../models/pack/quality-components.js'
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

/** Guidance on one component that is beyond its bound, or null where no code of a frame describes it. */
export function guidanceOnComponent(
  fault: Pick<ComponentFinding, 'component' | 'value' | 'bound'>,
): Guidance | null {
  const entry = BY_COMPONENT.find(([name]) => name === fault.component)
  return entry ? entry[isBelow(fault) ? 1 : 2] : null
}
