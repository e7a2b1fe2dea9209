/** Quality of photos in the service in memory: every photo is good, except the first one of a `+low_quality` user. */
import { isFirstPhotoPoor, POOR_SHARPNESS } from '../../../src/contract/sandbox-rules.js'
import type { ErrorDetail } from '../errors.js'
import type { ImageQuality, Quality, QualityBound, QualityComponent, QualityFinding } from '../types.js'
import { FAKE_HINTS } from './service-texts.js'

const SCORE = 0.9

/** A good value of each component, and its bounds for an enrollment photo; null where every value will do. */
const COMPONENTS: Record<QualityComponent, { value: number; bound: QualityBound | null }> = {
  inter_eye_distance: { value: 110, bound: null },
  sharpness: { value: 400, bound: { min: 15 } },
  luminance_mean: { value: 130, bound: { min: 30, max: 230 } },
  luminance_variance: { value: 1600, bound: { min: 25 } },
  under_exposure_prevention: { value: 0.99, bound: { min: 0.75 } },
  over_exposure_prevention: { value: 0.99, bound: null },
  illumination_uniformity: { value: 0.9, bound: { min: 0.4 } },
  head_pose_yaw: { value: 2, bound: { min: -40, max: 40 } },
  head_pose_pitch: { value: -3, bound: { min: -35, max: 35 } },
  head_pose_roll: { value: 1, bound: { min: -30, max: 30 } },
  eyes_open: { value: 0.28, bound: { min: 0.2 } },
}
const BLURRED = {
  component: 'sharpness',
  value: POOR_SHARPNESS,
  guidance: 'blurred',
  hint: FAKE_HINTS.blurred,
} as const
/** Bounds of verify, which refuses only photos that are far too poor. */
const VERIFY_SHARPNESS: QualityBound = { min: 3 }

/** @param paths fields of the request that hold the photos */
export function qualityAnswer(userId: string, paths: readonly string[], isDetailed: boolean): Quality {
  const images = paths.map((path, index) => imageQuality(path, isFirstPhotoPoor(userId) && index === 0))
  const poor = images.find(({ passed }) => !passed)
  const issues = poor ? [{ path: poor.path, ...BLURRED, bound: COMPONENTS.sharpness.bound! }] : []
  return { score: SCORE, passed: issues.length === 0, issues, ...(isDetailed ? { images } : {}) }
}

function imageQuality(path: string, isPoor: boolean): ImageQuality {
  const components = (Object.keys(COMPONENTS) as QualityComponent[]).map((component): QualityFinding => {
    const good = { component, ...COMPONENTS[component], passed: true }
    return isPoor && component === BLURRED.component ? { ...good, value: BLURRED.value, passed: false } : good
  })
  return { path, passed: !isPoor, face_width_px: 240, detection: 0.95, components }
}

export function qualityDetail(path: string, purpose: 'enrol' | 'verify'): ErrorDetail {
  const bound = purpose === 'enrol' ? COMPONENTS.sharpness.bound! : VERIFY_SHARPNESS
  const { component, value } = BLURRED
  return { path, issue: `${component} is ${value}, must be at least ${bound.min}`, ...BLURRED, bound }
}
