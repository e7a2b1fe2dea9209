/** Judges the quality components against bounds, and says what the person can do about a value beyond them. */

import { GUIDANCE_TEXTS } from '../../../../clients/capture/guidance-texts.js'
import { QUALITY_COMPONENTS, type QualityComponent } from '../../../../models/pack/quality-components.js'
import type { QualityBound, QualityBounds, QualitySpec } from '../../../../models/pack/quality-schema.js'
import { BiometricError } from '../../biometric-error.js'
import type { QualityComponents, QualityFault } from '../../measurements.js'
import type { ComponentFinding } from './component-finding.js'

export type Purpose = 'enrol' | 'verify'

/**
 * Bounds in the units of `measureComponents`. At verify they stop only near-black, blown-out and badly blurred
 * captures and leave the rest to the score, since a refusal there turns a customer away. At enrollment they stop
 * photos that make every later verify worse; docs/accuracy.md says what each bound costs and saves.
 */
export const DEFAULT_BOUNDS: Readonly<Required<QualitySpec>> = Object.freeze({
  verify: {
    sharpness: { min: 3 },
    luminance_mean: { min: 25, max: 230 },
    luminance_variance: { min: 25 },
  },
  enrol: {
    sharpness: { min: 15 },
    luminance_mean: { min: 30 },
    under_exposure_prevention: { min: 0.75 },
    illumination_uniformity: { min: 0.4 },
    head_pose_yaw: { min: -40, max: 40 },
    head_pose_pitch: { min: -35, max: 35 },
    head_pose_roll: { min: -30, max: 30 },
    eyes_open: { min: 0.2 },
  },
})

/**
 * Advice for a value below its bound; for one above it the same, unless `high` says something else. It is the text of the guidance code, or
 * a more exact one where the measurement says which way to go.
 */
const HINTS: Record<QualityComponent, { low: string; high?: string }> = {
  inter_eye_distance: { low: GUIDANCE_TEXTS.too_far, high: GUIDANCE_TEXTS.too_close },
  sharpness: { low: GUIDANCE_TEXTS.blurred },
  luminance_mean: { low: GUIDANCE_TEXTS.too_dark, high: GUIDANCE_TEXTS.too_bright },
  luminance_variance: { low: 'Find better light, and wipe the lens.' },
  under_exposure_prevention: { low: GUIDANCE_TEXTS.too_dark },
  over_exposure_prevention: { low: GUIDANCE_TEXTS.too_bright },
  illumination_uniformity: { low: 'Turn to the light, so that it falls on both sides of the face.' },
  head_pose_yaw: { low: 'Turn your face to the camera.' },
  head_pose_pitch: { low: 'Lift your chin a little.', high: 'Lower your chin a little.' },
  head_pose_roll: { low: 'Hold your head upright.' },
  eyes_open: { low: GUIDANCE_TEXTS.eyes_closed },
}

/** Returns a finding for every measured component, in a fixed order. @param spec the pack's quality bounds */
export function assessQuality(
  components: QualityComponents,
  purpose: Purpose,
  spec: QualitySpec = {},
): ComponentFinding[] {
  return QUALITY_COMPONENTS.flatMap((component) => {
    const value = components[component]
    return value === undefined ? [] : [judge(component, value, boundFor(component, purpose, spec))]
  })
}

/** Returns the bound of a component, or null where every value is good enough. @param spec the pack's quality bounds */
export function boundFor(
  component: QualityComponent,
  purpose: Purpose,
  spec: QualitySpec = {},
): QualityBound | null {
  const sources: Array<QualityBounds | undefined> = [DEFAULT_BOUNDS.verify, spec.verify]
  if (purpose === 'enrol') sources.push(DEFAULT_BOUNDS.enrol, spec.enrol)
  const bound: QualityBound = Object.assign({}, ...sources.map((bounds) => bounds?.[component]))
  return Object.keys(bound).length === 0 ? null : bound
}

/** Returns the bounds with others at verify, which replace those of the spec end by end. */
export function withBounds(
  spec: QualitySpec | undefined,
  others: QualityBounds | undefined,
): QualitySpec | undefined {
  if (!others) return spec
  const verify: QualityBounds = { ...spec?.verify }
  for (const component of QUALITY_COMPONENTS)
    if (others[component]) verify[component] = { ...verify[component], ...others[component] }
  return { ...spec, verify }
}

function judge(component: QualityComponent, value: number, bound: QualityBound | null): ComponentFinding {
  const { low, high = low } = HINTS[component]
  const isLow = bound?.min !== undefined && value < bound.min
  const isHigh = bound?.max !== undefined && value > bound.max
  const hint = isLow ? low : isHigh ? high : null
  return { component, value, bound, passed: hint === null, hint }
}

/** The refusal of the first photo with a fault, with the advice on all faults as a sentence for the person, each piece once. @param faults at least one */
export function lowQuality(faults: readonly QualityFault[]): BiometricError {
  const advice = ['The photo is not good enough.', ...new Set(faults.map(({ hint }) => hint))].join(' ')
  return new BiometricError('low_quality', advice, faults[0]!.imageIndex, { faults })
}
