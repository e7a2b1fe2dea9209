/** What a person before the camera is told by one small frame, while nothing is sent to be judged yet. */
import type { ActiveLivenessSpec, LivenessSpec } from '../../../models/pack/pack-schema.js'
import type { QualityComponent } from '../../../models/pack/quality-components.js'
import type { QualitySpec } from '../../../models/pack/quality-schema.js'
import type { FrameFace } from '../measurements.js'
import { hasRoomAround } from '../pipeline/liveness.js'
import type { Purpose } from '../pipeline/quality-bounds.js'
import type { Look } from './active-geometry.js'
import {
  FRAME_GUIDANCE,
  type FrameGuidance,
  faultOfPlace,
  faultOfQuality,
  type Guidance,
  REFUSED,
} from './frame-faults.js'
import { movedBy, poseOf } from './head-pose.js'
import { type Movement, modeOf, type Step } from './steps.js'

/** What is looked at for guidance: enough for every code, little enough to cost no more than a look. */
export const FRAME_LIMITS = {
  maxPixels: 640 * 480,
  /** In the small frame; how much of it the face must take is the judgement's own. */
  minFacePx: 24,
} as const

/** Longest side that frames of a challenge are expected to have when they are sent to be judged. */
const JUDGED_SIDE_PX = 640
/** A face that is just wide enough is soon too small again. */
const MARGIN = 1.2

/** How much of a frame's longer side a face must take to be wide enough where it counts. */
export function leastFaceShare({ minFacePx }: { minFacePx: number }): number {
  return (MARGIN * minFacePx) / JUDGED_SIDE_PX
}

/** What was seen, and what the person is to do. */
export interface GuidedFrame {
  look: Look
  /** Mean grey level of the whole frame, where it shows no face. */
  luminance: number | null
  step: Step
  /** A look ahead that was found good before: what a movement is measured from. */
  frontal: Look | null
}

/** What a model pack and an installation say of it. */
export interface GuidanceBounds {
  activeLiveness?: ActiveLivenessSpec | undefined
  liveness?: LivenessSpec | undefined
  quality?: QualitySpec | undefined
  /** Least width of the face, as a share of the frame's longer side. */
  minFaceShare: number
}

/** The most urgent first; empty where nothing is left to be done. */
export function guidanceOn(frame: GuidedFrame, bounds: GuidanceBounds): FrameGuidance[] {
  const { look, step, frontal } = frame
  if ('code' in look) return tellable([faultOfFrameLight(frame), REFUSED[look.code]])
  const place = faultOfDistance(look, bounds) ?? faultOfPlace(look)
  // Advice on light comes sooner than the refusal of a verify.
  const light = faultOf(look, LIGHT, 'enrol', bounds)
  // A head that moves is blurred and not ahead.
  if (step !== 'frontal') return tellable([place, light, faultOfMovement(look, step, frontal, bounds)])
  const focus = faultOf(look, ['sharpness'], 'verify', bounds)
  return tellable([place, light, focus, faultOfPose(look, bounds)])
}

/** Grey levels at which no face is found any more, whoever is there. */
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

/** Without a look ahead to compare with, a turn is measured from the middle, and of a nod nothing is known. */
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

/** Each once. */
function tellable(found: ReadonlyArray<Guidance | null>): FrameGuidance[] {
  const told = found.flatMap((one) => FRAME_GUIDANCE.find((known) => known === one) ?? [])
  return [...new Set(told)]
}
