/** Where a head looks, in degrees, and how far it is from where it looked before. */
import type { FrameFace } from '../measurements.js'
import type { Movement } from './steps.js'

export interface Pose {
  /** Positive to the person's left. */
  yaw: number
  /** Positive upward. What is neutral differs from person to person: only differences count. */
  pitch: number
}

export function poseOf({ quality }: Pick<FrameFace, 'quality'>): Pose {
  const { head_pose_yaw: yaw = 0, head_pose_pitch: pitch = 0 } = quality.components
  return { yaw, pitch }
}

/** How far a pose is from the look ahead in the direction of a step; negative in the other one. */
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
