/** Faults of a single frame, as guidance codes for the person. Nothing here knows of a series. */

import type { Guidance } from '../../../../clients/capture/guidance-codes.js'
import type { QualitySpec } from '../../../../models/pack/quality-schema.js'
import type { FrameFace, FrameRefusal, QualityComponents } from '../../../biometrics/measurements.js'
import { BY_COMPONENT, isBelow } from '../../../biometrics/picture-guidance.js'
import { assessQuality, type Purpose } from '../../../biometrics/pipeline/judge/quality-bounds.js'

/** Largest width of the face, as a share of the frame's width. */
const MAX_FACE_SHARE = 0.8
/** Smallest share of the face's box that must lie in the frame. */
const MIN_SHARE_INSIDE = 0.9

export const REFUSED: Record<FrameRefusal['code'], Guidance> = {
  face_not_found: 'no_face',
  multiple_faces: 'several_faces',
  face_too_small: 'too_far',
  face_not_upright: 'not_upright',
}

/** Guidance if the face is not completely in the frame, or fills too much of it; otherwise null. */
export function faultOfPlace({ box, landmarks, width, height }: FrameFace): Guidance | null {
  if (box.width > MAX_FACE_SHARE * width) return 'too_close'
  const inside = (x: number, y: number) => x >= 0 && y >= 0 && x < width && y < height
  const across = Math.min(box.x + box.width, width) - Math.max(box.x, 0)
  const down = Math.min(box.y + box.height, height) - Math.max(box.y, 0)
  const isWhole = across * down >= MIN_SHARE_INSIDE * box.width * box.height
  return isWhole && landmarks.every(([x, y]) => inside(x, y)) ? null : 'cut_off'
}

/** Guidance on the first of light, focus and pose that is beyond the bounds of a pack, or null. */
export function faultOfQuality(
  components: QualityComponents,
  purpose: Purpose,
  spec: QualitySpec | undefined,
): Guidance | null {
  const failed = assessQuality(components, purpose, spec).filter(({ passed }) => !passed)
  if (failed.length === 0) return null
  for (const [name, low, high] of BY_COMPONENT) {
    const found = failed.find(({ component }) => component === name)
    if (found) return isBelow(found) ? low : high
  }
  return 'try_again'
}
