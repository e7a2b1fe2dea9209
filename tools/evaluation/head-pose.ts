/** Estimates the yaw of a head from five points of the face. */

/**
 * How far the tip of the nose stands out of the plane through eyes and mouth, in distances between the eyes’ centres: 135 to 300
 * in the generic head that pose estimation by six points commonly takes.
 */
const NOSE_DEPTH = 135 / 300

/**
 * The angle to either side, in degrees: turned by it, the nose leaves the middle line of the face for the side and the eyes come
 * nearer to each other (orthographic projection). Rough, and saturating beyond some 60 degrees, where landmarks fail.
 * @param points right eye, left eye, nose tip, right and left mouth corner, in any scale
 */
export function yawOf(points: ReadonlyArray<readonly [number, number]>): number {
  const [rightEye, leftEye, nose, rightMouth, leftMouth] = points as [Point, Point, Point, Point, Point]
  const [eyes, mouth] = [middle(rightEye, leftEye), middle(rightMouth, leftMouth)]
  const down = [mouth[0] - eyes[0], mouth[1] - eyes[1]] as const
  const across = [leftEye[0] - rightEye[0], leftEye[1] - rightEye[1]] as const
  // The area of the parallelogram that eye line and middle line span makes a tilted head count as an upright one.
  const area = across[0] * down[1] - across[1] * down[0]
  const offset = ((nose[0] - eyes[0]) * down[1] - (nose[1] - eyes[1]) * down[0]) / area
  return (Math.atan(Math.abs(offset) / NOSE_DEPTH) * 180) / Math.PI
}

type Point = readonly [number, number]

function middle(a: Point, b: Point): Point {
  return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]
}
