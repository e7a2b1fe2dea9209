/** Live guidance from one small frame: what the person should do before anything is sent to be judged. */

import { FRAME_GUIDANCE, type FrameGuidance, type Guidance } from '../../../clients/capture/guidance-codes.js'
import type { ActiveLivenessSpec, LivenessSpec } from '../../../models/pack/pack-schema.js'
import type { QualityComponent } from '../../../models/pack/quality-components.js'
import type { QualitySpec } from '../../../models/pack/quality-schema.js'
import type { FrameFace } from '../measurements.js'
import { hasRoomAround } from '../pipeline/judge/liveness-room.js'
import type { Purpose } from '../pipeline/judge/quality-bounds.js'
import type { Look } from './active-geometry.js'
import { faultOfPlace, faultOfQuality, REFUSED } from './frame-faults.js'
import { movedBy, poseOf } from './head-pose.js'
import { type Movement, modeOf, type Step } from './steps.js'

/** Size and format of guidance frames: enough for every code, small enough to cost no more than one detection. */
export const FRAME_LIMITS = {
  maxPixels: 640 * 480,
  /**
   * Smallest face width in the small frame, in pixels; how large the face must be for the verdict is a separate
   * bound.
   */
  minFacePx: 24,
} as const

/** Longest side, in pixels, that frames of a challenge are expected to have when they are sent to be judged. */
const JUDGED_SIDE_PX = 640
/** Margin above the smallest face: a face that is just wide enough soon becomes too small again. */
const MARGIN = 1.2

/** Share of a frame's longer side that a face must take to be wide enough for the verdict. */
export function leastFaceShare({ minFacePx }: { minFacePx: number }): number {
  return (MARGIN * minFacePx) / JUDGED_SIDE_PX
}

/** Measurements of the frame, and the step of the challenge. */
export interface GuidedFrame {
  look: Look
  /** Mean gray level of the whole frame, 0 to 255, or null where the frame shows a face. */
  luminance: number | null
  step: Step
  /** An earlier frontal frame that was good, from which a movement is measured; null before there is one. */
  frontal: Look | null
}

/** Bounds from the model pack and the installation. */
export interface GuidanceBounds {
  activeLiveness?: ActiveLivenessSpec | undefined
  liveness?: LivenessSpec | undefined
  quality?: QualitySpec | undefined
  /** Smallest width of the face, as a share of the frame's longer side. */
  minFaceShare: number
}

/** Guidance codes, the most urgent first; empty when the person has nothing left to correct. */
export function guidanceOn(frame: GuidedFrame, bounds: GuidanceBounds): FrameGuidance[] {
  const { look, step, frontal } = frame
  if ('code' in look) return tellable([faultOfFrameLight(frame), REFUSED[look.code]])
  const place = faultOfDistance(look, bounds) ?? faultOfPlace(look)
  // Advice on light comes earlier than a verify would refuse the photo.
  const light = faultOf(look, LIGHT, 'enrol', bounds)
  // A moving head is blurred and not frontal, so neither counts here.
  if (step !== 'frontal') return tellable([place, light, faultOfMovement(look, step, frontal, bounds)])
  const focus = faultOf(look, ['sharpness'], 'verify', bounds)
  return tellable([place, light, focus, faultOfPose(look, bounds)])
}

/** Mean gray levels, 0 to 255, beyond which no face is found any more. */
const DARK_FRAME = 45
const BRIGHT_FRAME = 215

function faultOfFrameLight({ luminance }: GuidedFrame): Guidance | null {
  if (luminance === null) return null
  if (luminance < DARK_FRAME) return 'too_dark'
  return luminance > BRIGHT_FRAME ? 'too_bright' : null
}

const LIGHT = [
  'luminance_mean',
  'luminance_variance',
  'under_exposure_prevention',
  'over_exposure_prevention',
  'illumination_uniformity',
] as const satisfies QualityComponent[]
const POSE = ['head_pose_yaw', 'head_pose_pitch', 'head_pose_roll'] as const satisfies QualityComponent[]

function faultOf(
  { quality }: FrameFace,
  names: readonly QualityComponent[],
  purpose: Purpose,
  bounds: GuidanceBounds,
): Guidance | null {
  const measured = names.flatMap((name) => {
    const value = quality.components[name]
    return value === undefined ? [] : [[name, value]]
  })
  return faultOfQuality(Object.fromEntries(measured), purpose, bounds.quality)
}

function faultOfDistance({ box, width, height }: FrameFace, bounds: GuidanceBounds): Guidance | null {
  if (box.width < bounds.minFaceShare * Math.max(width, height)) return 'too_far'
  const { liveness } = bounds
  return liveness && !hasRoomAround(box, { width, height }, liveness) ? 'too_close' : null
}

function faultOfPose(look: FrameFace, bounds: GuidanceBounds): Guidance | null {
  const { activeLiveness } = bounds
  const isAhead = !activeLiveness || Math.abs(poseOf(look).yaw) <= activeLiveness.frontalDegrees
  return isAhead ? faultOf(look, POSE, 'enrol', bounds) : 'not_frontal'
}

/** Without a frontal frame to compare with, a turn is measured from the middle, and a nod cannot be measured. */
function faultOfMovement(
  look: FrameFace,
  step: Movement,
  frontal: Look | null,
  { activeLiveness }: GuidanceBounds,
): Guidance | null {
  const isTurn = modeOf(step) === 'turn'
  const middle = frontal && !('code' in frontal) ? poseOf(frontal) : isTurn ? { yaw: 0, pitch: 0 } : null
  if (!activeLiveness || !middle) return null
  const target = isTurn ? activeLiveness.turnDegrees : activeLiveness.nodDegrees
  const moved = movedBy(poseOf(look), middle, step)
  if (moved >= target) return null
  if (moved <= -target) return 'wrong_direction'
  return isTurn ? 'turn_more' : 'nod_more'
}

/** Removes repeated codes. */
function tellable(found: ReadonlyArray<Guidance | null>): FrameGuidance[] {
  const told = found.flatMap((one) => FRAME_GUIDANCE.find((known) => known === one) ?? [])
  return [...new Set(told)]
}
