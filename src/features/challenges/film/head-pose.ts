/** Head pose in degrees, and its distance from an earlier pose. */
import type { FrameFace } from '../../../biometrics/measurements.js'
import type { Movement } from './steps.js'

export interface Pose {
  /** Degrees, positive toward the person's left. */
  yaw: number
  /** Degrees, positive upward. The neutral value differs from person to person: only differences count. */
  pitch: number
}

export function poseOf({ quality }: Pick<FrameFace, 'quality'>): Pose {
  const { head_pose_yaw: yaw = 0, head_pose_pitch: pitch = 0 } = quality.components
  return { yaw, pitch }
}

/** Degrees between a pose and the frontal pose in the direction of a step; negative in the opposite direction. */
export function movedBy(pose: Pose, middle: Pose, step: Movement): number {
  switch (step) {
    case 'turn_left':
      return pose.yaw - middle.yaw
    case 'turn_right':
      return middle.yaw - pose.yaw
    case 'nod_up':
      return pose.pitch - middle.pitch
    case 'nod_down':
      return middle.pitch - pose.pitch
  }
}
