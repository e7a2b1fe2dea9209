/**
 * Measures the quality components of ISO/IEC 29794-5 that depend on light, pose and eyes; sharpness comes with the
 * overall quality. Luminance is measured in the aligned chip's face region, so that neither background nor size of
 * the photo counts; distances are in pixels of the source image.
 */
import type { QualityComponents } from '../../measurements.js'
import { Moments } from './quality.js'

/** Ranges of gray levels, each end included, as OFIQ (the reference implementation of ISO/IEC 29794-5) splits them. */
const UNDER_EXPOSED = 25
const OVER_EXPOSED = 247

/**
 * Proportions of a head that faces the camera, in distances between its eyes: means of 68 landmarks over 2,013
 * photographs of 573 people.
 */
const FRONTAL = {
  /** Distance from the eyes down to the mouth's corners. */
  eyesToMouth: 1.1,
  /** Distance from the eyes down to the tip of the nose. */
  eyesToNose: 0.6,
  /** Distance from the plane of eyes and mouth out to the tip of the nose. */
  noseDepth: 0.6,
} as const

/** A face's aligned chip. */
export interface GreyChip {
  /** [height, width] gray levels, 0..255. */
  grey: Float32Array
  width: number
  height: number
  /** [10] right eye, left eye, nose tip, right and left mouth corner (the subject's right), x and y in chip pixels. */
  points: Float64Array
}

/**
 * @param points [10] in pixels of the source image, in the order of the chip's
 * @param landmarks [136] 68 points of the same image if the pack finds them: without them the eyes' components are
 * missing
 */
export function measureComponents(
  chip: GreyChip,
  points: Float64Array,
  landmarks: Float64Array | null,
): Omit<QualityComponents, 'sharpness'> {
  const geometry = faceGeometry(points)
  const yaw = degrees(Math.atan(geometry.noseAside / (geometry.eyes * FRONTAL.noseDepth)))
  // This is a ratio of two heights, which turning to a side does not change.
  const noseHeight = (geometry.noseBelow / geometry.mouthBelow) * FRONTAL.eyesToMouth
  const pitch = degrees(Math.atan((FRONTAL.eyesToNose - noseHeight) / FRONTAL.noseDepth))
  return {
    inter_eye_distance: geometry.eyes / Math.cos((yaw * Math.PI) / 180),
    ...measureLight(chip),
    head_pose_yaw: yaw,
    head_pose_pitch: pitch,
    head_pose_roll: degrees(Math.atan2(geometry.across.y, geometry.across.x)),
    ...(landmarks ? { eyes_open: Math.min(openness(landmarks, 36), openness(landmarks, 42)) } : {}),
  }
}

/** Distances in the face's own axes: x along the eyes towards the subject's left, y towards the mouth. */
function faceGeometry(points: Float64Array) {
  const at = (i: number) => ({ x: points[2 * i]!, y: points[2 * i + 1]! })
  const [rightEye, leftEye, nose, rightMouth, leftMouth] = [at(0), at(1), at(2), at(3), at(4)]
  const eyes = Math.max(Math.hypot(leftEye.x - rightEye.x, leftEye.y - rightEye.y), Number.EPSILON)
  const across = { x: (leftEye.x - rightEye.x) / eyes, y: (leftEye.y - rightEye.y) / eyes }
  const between = middle(rightEye, leftEye)
  const inFrame = (point: Point) => ({
    x: (point.x - between.x) * across.x + (point.y - between.y) * across.y,
    y: (point.y - between.y) * across.x - (point.x - between.x) * across.y,
  })
  const mouth = inFrame(middle(rightMouth, leftMouth))
  const tip = inFrame(nose)
  const mouthBelow = Math.max(mouth.y, Number.EPSILON)
  return {
    eyes,
    across,
    noseBelow: tip.y,
    mouthBelow,
    /** Roll of the line between eyes and mouth, so that a tilted head counts as tilted and nothing else. */
    noseAside: tip.x - (mouth.x * tip.y) / mouthBelow,
  }
}

/**
 * Openness of an eye: the gap between its lids divided by its width. @param first index of its outer or inner corner
 */
function openness(landmarks: Float64Array, first: number): number {
  const distance = (a: number, b: number) =>
    Math.hypot(landmarks[2 * a]! - landmarks[2 * b]!, landmarks[2 * a + 1]! - landmarks[2 * b + 1]!)
  const gap = (distance(first + 1, first + 5) + distance(first + 2, first + 4)) / 2
  return gap / Math.max(distance(first, first + 3), Number.EPSILON)
}

function measureLight({ grey, width, height, points }: GreyChip): QualityComponents {
  const at = (i: number) => ({ x: points[2 * i]!, y: points[2 * i + 1]! })
  const eyes = middle(at(0), at(1))
  const mouth = middle(at(3), at(4))
  // The wider of the two distances says how large the face is: a turned head has its eyes nearer to each other, a
  // bowed one its mouth.
  const unit = Math.max(distance(at(0), at(1)), distance(eyes, mouth) / FRONTAL.eyesToMouth)
  const centre = { x: eyes.x + 0.46 * (mouth.x - eyes.x), y: eyes.y + 0.46 * (mouth.y - eyes.y) }
  const [radiusX, radiusY] = [1.02 * unit, 1.25 * unit]

  let [count, sum, squares] = [0, 0, 0]
  let [under, over] = [0, 0]
  const [firstRow, lastRow] = clip(centre.y - radiusY, centre.y + radiusY, height)
  for (let y = firstRow; y <= lastRow; y++) {
    const half = radiusX * Math.sqrt(Math.max(0, 1 - ((y - centre.y) / radiusY) ** 2))
    const [first, last] = clip(centre.x - half, centre.x + half, width)
    for (let i = y * width + first; i <= y * width + last; i++) {
      const level = grey[i]!
      sum += level
      squares += level * level
      if (level <= UNDER_EXPOSED) under++
      if (level >= OVER_EXPOSED) over++
    }
    count += last - first + 1
  }
  const luminance = new Moments(count, sum, squares)
  const cheek = (eye: Point, corner: Point) =>
    meanAround(grey, width, height, middle(eye, corner), 0.23 * unit)
  const [right, left] = [cheek(at(0), at(3)), cheek(at(1), at(4))]
  return {
    luminance_mean: luminance.mean,
    luminance_variance: luminance.variance,
    under_exposure_prevention: 1 - under / luminance.size,
    over_exposure_prevention: 1 - over / luminance.size,
    illumination_uniformity: Math.min(right, left) / Math.max(right, left, 1),
  }
}

/** Mean over a square; over its nearest pixels where it lies outside the chip. */
function meanAround(
  grey: Float32Array,
  width: number,
  height: number,
  { x, y }: Point,
  half: number,
): number {
  let sum = 0
  const [top, bottom] = clip(y - half, y + half, height)
  const [left, right] = clip(x - half, x + half, width)
  for (let row = top; row <= bottom; row++)
    for (let i = row * width + left; i <= row * width + right; i++) sum += grey[i]!
  return sum / ((bottom - top + 1) * (right - left + 1))
}

/** First and last whole pixel of a span within the chip; the span has at least one. */
function clip(from: number, to: number, size: number): [number, number] {
  const first = Math.min(Math.max(Math.ceil(from), 0), size - 1)
  return [first, Math.max(first, Math.min(Math.floor(to), size - 1))]
}

interface Point {
  x: number
  y: number
}

function middle(a: Point, b: Point): Point {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y)
}

function degrees(radians: number): number {
  return (radians * 180) / Math.PI
}
