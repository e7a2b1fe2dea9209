/** Live guidance from one small frame: what the person should do before anything is sent to be judged. */

import {
  FRAME_GUIDANCE,
  type FrameGuidance,
  type Guidance,
} from '../../../../clients/capture/guidance-codes.js'
import type { ModelPack } from '../../../../models/pack/model-pack.js'
import type { QualityComponent } from '../../../../models/pack/quality-components.js'
import type { FrameFace, Look } from '../../../biometrics/measurements.js'
import { hasRoomAround } from '../../../biometrics/pipeline/judge/liveness-room.js'
import type { Purpose } from '../../../biometrics/pipeline/judge/quality-bounds.js'
import type { FrameLimits, Glance } from '../../../biometrics/types.js'
import { faultOfPlace, faultOfQuality, REFUSED } from './frame-faults.js'
import { movedBy, poseOf } from './head-pose.js'
import { type Movement, modeOf, type Step } from './steps.js'

type Bounds = ModelPack['manifest']

/** Size and format of guidance frames: enough for every code, small enough to cost no more than one detection. */
export const FRAME_LIMITS: FrameLimits = {
  maxPixels: 640 * 480,
  /** Smallest face width in the small frame, in pixels; how large it must be for the verdict is a separate bound. */
  minFacePx: 24,
}

/** Longest side, in pixels, that frames of a challenge are expected to have when they are sent to be judged. */
const JUDGED_SIDE_PX = 640
/** Margin above the smallest face: a face that is just wide enough soon becomes too small again. */
const MARGIN = 1.2

/** Guidance codes, the most urgent first; empty when the person has nothing left to correct. @param glance of the frame, and perhaps of an earlier frontal one that was good */
export function guidanceOn(glance: Glance, step: Step): FrameGuidance[] {
  const { looks, luminance, pack } = glance
  const look = looks[0]!
  const bounds = pack.manifest
  if ('code' in look) return tellable([faultOfFrameLight(luminance), REFUSED[look.code]])
  const place = faultOfDistance(look, glance) ?? faultOfPlace(look)
  // Advice on light comes earlier than a verify would refuse the photo.
  const light = faultOf(look, LIGHT, 'enrol', bounds)
  // A moving head is blurred and not frontal, so neither counts here.
  if (step !== 'frontal') return tellable([place, light, faultOfMovement(look, step, looks[1], bounds)])
  const focus = faultOf(look, ['sharpness'], 'verify', bounds)
  return tellable([place, light, focus, faultOfPose(look, bounds)])
}

/** Mean gray levels, 0 to 255, beyond which no face is found any more. */
const DARK_FRAME = 45
const BRIGHT_FRAME = 215

function faultOfFrameLight(luminance: number | null): Guidance | null {
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
  bounds: Bounds,
): Guidance | null {
  const measured = names.flatMap((name) => {
    const value = quality.components[name]
    return value === undefined ? [] : [[name, value]]
  })
  return faultOfQuality(Object.fromEntries(measured), purpose, bounds.quality)
}

function faultOfDistance({ box, width, height }: FrameFace, { pack, minFacePx }: Glance): Guidance | null {
  const leastShare = (MARGIN * minFacePx) / JUDGED_SIDE_PX
  if (box.width < leastShare * Math.max(width, height)) return 'too_far'
  const { liveness } = pack.manifest
  return liveness && !hasRoomAround(box, { width, height }, liveness) ? 'too_close' : null
}

function faultOfPose(look: FrameFace, bounds: Bounds): Guidance | null {
  const { activeLiveness } = bounds
  const isAhead = !activeLiveness || Math.abs(poseOf(look).yaw) <= activeLiveness.frontalDegrees
  return isAhead ? faultOf(look, POSE, 'enrol', bounds) : 'not_frontal'
}

/** Without a frontal frame to compare with, a turn is measured from the middle, and a nod cannot be measured. */
function faultOfMovement(
  look: FrameFace,
  step: Movement,
  frontal: Look | undefined,
  { activeLiveness }: Bounds,
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
