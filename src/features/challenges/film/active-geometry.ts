/**
 * Active liveness by geometry: judges by five landmarks a frame, all relative to the frontal frame at the beginning, whether a series of
 * frames shows one head that did what a challenge asked. Flat paper that is turned shows almost no yaw, and bent paper shows yaw about one
 * axis only: that is why a challenge has two axes. A film of the person doing the same movements passes.
 */

import type { Guidance } from '../../../../clients/capture/guidance-codes.js'
import type { ActiveLivenessSpec } from '../../../../models/pack/pack-schema.js'
import type { QualitySpec } from '../../../../models/pack/quality-schema.js'
import type { FrameFace, Look } from '../../../biometrics/measurements.js'
import type { CaptureFault } from '../../../contract/capture-fault.js'
import { CAPTURE_LIMITS } from '../../../contract/capture-limits.js'
import type { LivenessFinding } from '../../../contract/wire-types.js'
import { faultOfPlace, faultOfQuality, REFUSED } from './frame-faults.js'
import { movedBy, type Pose, poseOf } from './head-pose.js'
import { type Movement, modeOf, reversedTurns, type Step } from './steps.js'

/** A frame as its sender describes it. */
export interface FrameNote {
  /** Index of the challenge's step that the person was shown when the frame was taken. */
  step: number
  /** Milliseconds since the capture began, by the sender's clock. */
  tMs: number
}

/** Indices of the key frames, which are embedded and represent the series. */
export interface KeyFrames {
  /** The best frontal frame of the first step; the service compares it with the reference. */
  frontal: number
  /** The first frame of each movement that goes far enough. */
  movements: number[]
  /** The frontal frame at the end. */
  last: number
}

/** The distinct indices, the compared one first: a challenge without a movement may begin and end with the same frame. */
export function keyIndices({ frontal, movements, last }: KeyFrames): number[] {
  return [...new Set([frontal, ...movements, last])]
}

export type GeometryVerdict = { keys: KeyFrames; fault: null } | { keys: null; fault: CaptureFault }

/** A model pack's bounds for active liveness and quality. */
export interface GeometryBounds {
  activeLiveness: ActiveLivenessSpec
  quality?: QualitySpec | undefined
}

/** @param looks one measurement a frame, in order */
export function judgeGeometry(
  looks: readonly Look[],
  notes: readonly FrameNote[],
  steps: readonly Step[],
  bounds: GeometryBounds,
): GeometryVerdict {
  const shown = looks.flatMap((look, index) => ('box' in look ? [index] : []))
  const shownNotes = shown.map((index) => notes[index]!)
  const fault =
    faultOfOrder(notes, steps, MAX_LATE) ?? faultOfAny(looks) ?? faultOfOrder(shownNotes, steps, shown.length)
  if (fault) return { keys: null, fault }
  const frames = shown.map((index) => new PosedFrame(looks[index] as FrameFace, notes[index]!))
  const judge = (asked: readonly Step[]) => new Series(frames, asked, bounds).judge()
  const verdict = judge(steps)
  // It stays a refusal: a challenge that took both directions would ask for half as much.
  if (verdict.fault?.guidance === 'wrong_direction' && judge(reversedTurns(steps)).keys)
    return refused('mirrored', 'mirrored')
  if (!verdict.keys) return verdict
  const { frontal, movements, last } = verdict.keys
  const at = (index: number) => shown[index]!
  return { keys: { frontal: at(frontal), movements: movements.map(at), last: at(last) }, fault: null }
}

/** Frames that may come later than the longest interval: a camera or a busy device now and then stops for a moment. */
const MAX_LATE = 1

/** @param maxLate number of gaps that may be longer than the longest interval; none may be longer than the longest gap */
function faultOfOrder(
  notes: readonly FrameNote[],
  steps: readonly Step[],
  maxLate: number,
): CaptureFault | null {
  let late = 0
  const outOfOrder: CaptureFault = { guidance: 'try_again', finding: 'out_of_order' }
  const [first] = notes
  if (first?.step !== 0 || notes.at(-1)!.step !== steps.length - 1) return outOfOrder
  for (const [index, { step, tMs }] of notes.entries()) {
    const before = notes[index - 1]
    if (!before) continue
    if (step < before.step || step > before.step + 1 || tMs <= before.tMs) return outOfOrder
    const gap = tMs - before.tMs
    if (gap > CAPTURE_LIMITS.max_interval_ms) late++
    if (gap < CAPTURE_LIMITS.min_interval_ms || gap > CAPTURE_LIMITS.max_gap_ms || late > maxLate)
      return { guidance: 'try_again' }
  }
  const duration = notes.at(-1)!.tMs - first.tMs
  return duration < CAPTURE_LIMITS.min_duration_ms || duration > CAPTURE_LIMITS.max_duration_ms
    ? { guidance: duration < CAPTURE_LIMITS.min_duration_ms ? 'slower' : 'try_again' }
    : null
}

/**
 * Frames that may show no face: detectors miss one now and then, most likely where it is turned furthest. A sender could as well have left
 * them out, so they count as not sent: the gaps that remain are bounded all the same.
 */
const MAX_FACELESS = 3

/** Every frame that shows a face must show exactly one, and all of it. */
function faultOfAny(looks: readonly Look[]): CaptureFault | null {
  const faceless = looks.filter((look) => 'code' in look && look.code === 'face_not_found')
  if (faceless.length > MAX_FACELESS) return { guidance: 'no_face' }
  for (const look of looks) {
    if (faceless.includes(look)) continue
    if ('code' in look) return { guidance: REFUSED[look.code] }
    const place = faultOfPlace(look)
    if (place) return { guidance: place }
  }
  return null
}

/** A frame with the head geometry that its landmarks show. */
class PosedFrame implements Pose {
  readonly yaw: number
  readonly pitch: number
  /** Distance between the eyes divided by the distance from eyes to mouth: it shrinks where something flat is turned. */
  readonly aspect: number
  /** Point between eyes and mouth, by the landmarks: the detector's box jumps by a quarter of its width. */
  readonly centre: Point
  /** Root of the squared distances between the eyes and from eyes to mouth: a turn shortens the first, a nod the second. */
  readonly size: number

  constructor(
    readonly face: FrameFace,
    readonly note: FrameNote,
  ) {
    const { yaw, pitch } = poseOf(face)
    this.yaw = yaw
    this.pitch = pitch
    const at = (index: number) => face.landmarks[index]!
    const [rightEye, leftEye] = [at(0), at(1)]
    const [eyes, mouth] = [middle(rightEye, leftEye), middle(at(3), at(4))]
    const [across, down] = [distance(rightEye, leftEye), distance(eyes, mouth)]
    this.aspect = across / Math.max(down, Number.EPSILON)
    this.centre = middle(eyes, mouth)
    this.size = Math.max(Math.hypot(across, down), Number.EPSILON)
  }
}

class Series {
  private readonly spec: ActiveLivenessSpec

  constructor(
    private readonly frames: readonly PosedFrame[],
    private readonly steps: readonly Step[],
    private readonly bounds: GeometryBounds,
  ) {
    this.spec = bounds.activeLiveness
  }

  judge(): GeometryVerdict {
    const frontal = this.bestFrontal()
    if (frontal === null) return refused('not_frontal')
    const { components } = this.frames[frontal]!.face.quality
    const quality = faultOfQuality(components, 'verify', this.bounds.quality)
    if (quality) return refused(quality)
    const crossings = this.crossings(this.frames[frontal]!)
    if ('guidance' in crossings) return { keys: null, fault: crossings }
    const last = this.lastLook(this.frames[frontal]!, crossings.at(-1) ?? frontal)
    if (last === null) return refused('not_frontal')
    if (!this.isContinuous()) return refused('slower', 'discontinuous')
    if (crossings.some((index) => this.isSqueezed(frontal, index))) return refused('try_again', 'flat')
    return { keys: { frontal, movements: crossings, last }, fault: null }
  }

  /** The frontal frame of the first step with the best quality. */
  private bestFrontal(): number | null {
    const ahead = this.framesOf(0).filter(
      (index) => Math.abs(this.frames[index]!.yaw) <= this.spec.frontalDegrees,
    )
    const quality = (index: number) => this.frames[index]!.face.quality.score
    return ahead.reduce<number | null>(
      (best, index) => (best === null || quality(index) > quality(best) ? index : best),
      null,
    )
  }

  /** The first frame of each movement past its target; between two movements the head must return to the middle. */
  private crossings(middle: PosedFrame): number[] | CaptureFault {
    const found: number[] = []
    for (const [number, step] of this.steps.entries()) {
      if (step === 'frontal') continue
      const crossing = this.crossing(middle, number, step)
      if (typeof crossing === 'object') return crossing
      const before = found.at(-1)
      if (before !== undefined && !this.returnsBetween(middle, before, crossing))
        return { guidance: 'not_frontal' }
      found.push(crossing)
    }
    return found
  }

  private crossing(middle: PosedFrame, number: number, step: Movement): number | CaptureFault {
    const target = modeOf(step) === 'turn' ? this.spec.turnDegrees : this.spec.nodDegrees
    const candidates = this.framesOf(number)
    for (const index of candidates) {
      const moved = movedBy(this.frames[index]!, middle, step)
      if (moved >= target) return index
      if (moved <= -target) return { guidance: 'wrong_direction' }
    }
    return { guidance: modeOf(step) === 'turn' ? 'turn_more' : 'nod_more' }
  }

  private returnsBetween(middle: PosedFrame, from: number, to: number): boolean {
    return this.frames.slice(from + 1, to).some((frame) => this.isBack(middle, frame))
  }

  /** The last frame of the last step that looks as frontal as at the beginning. */
  private lastLook(middle: PosedFrame, after: number): number | null {
    const ahead = this.framesOf(this.steps.length - 1).filter(
      (index) => index >= after && this.isBack(middle, this.frames[index]!),
    )
    return ahead.at(-1) ?? null
  }

  private isBack(middle: PosedFrame, frame: PosedFrame): boolean {
    const { returnDegrees } = this.spec
    return (
      Math.abs(frame.yaw - middle.yaw) <= returnDegrees &&
      Math.abs(frame.pitch - middle.pitch) <= returnDegrees
    )
  }

  /** Refuses jumps between frames: a head moves continuously, while a photo that replaces another one jumps. */
  private isContinuous(): boolean {
    const { yaw, pitch, centre, size } = this.spec.mostPerStride
    return this.frames.every((frame, index) => {
      const before = this.frames[index - 1]
      if (!before) return true
      // Time by the sender's clock, capped: a long gap allows little more movement than one stride.
      const strides = Math.min(frame.note.tMs - before.note.tMs, MAX_STRIDE_MS) / STRIDE_MS
      return (
        Math.abs(frame.yaw - before.yaw) <= yaw * strides &&
        Math.abs(frame.pitch - before.pitch) <= pitch * strides &&
        distance(frame.centre, before.centre) <= centre * strides * before.size &&
        Math.abs(frame.size / before.size - 1) <= size * strides
      )
    })
  }

  /** Refuses a face that narrows too much: paper that is turned far enough to show some yaw has lost most of its width. */
  private isSqueezed(frontal: number, crossing: number): boolean {
    return this.frames[crossing]!.aspect < this.spec.leastAspect * this.frames[frontal]!.aspect
  }

  private framesOf(step: number): number[] {
    return this.frames.flatMap(({ note }, index) => (note.step === step ? [index] : []))
  }
}

/** Time in milliseconds to which a pack's `mostPerStride` refers. */
const STRIDE_MS = 200
const MAX_STRIDE_MS = 250

function refused(guidance: Guidance, finding?: LivenessFinding): GeometryVerdict {
  return { keys: null, fault: { guidance, ...(finding ? { finding } : {}) } }
}

type Point = readonly [number, number]

function middle([ax, ay]: Point, [bx, by]: Point): Point {
  return [(ax + bx) / 2, (ay + by) / 2]
}

function distance([ax, ay]: Point, [bx, by]: Point): number {
  return Math.hypot(ax - bx, ay - by)
}
