/** Quality components that are measured on a face, by the names of ISO/IEC 29794-5 in snake case. */

export const QUALITY_COMPONENTS = [
  'inter_eye_distance',
  'sharpness',
  'luminance_mean',
  'luminance_variance',
  'under_exposure_prevention',
  'over_exposure_prevention',
  'illumination_uniformity',
  'head_pose_yaw',
  'head_pose_pitch',
  'head_pose_roll',
  'eyes_open',
] as const

export type QualityComponent = (typeof QUALITY_COMPONENTS)[number]
