/** Chooses the main face of a picture, or refuses a picture without a clear one. */

import { BiometricError, type Box, type FacesInImage, type ImageLimits } from '../../types.js'
import type { Detection } from '../networks/detection.js'

/** Size of the picture in which faces were found. */
export interface Frame {
  /** Width and height in pixels of the detections. */
  width: number
  height: number
  /** Source pixels per pixel of the detections. */
  sourceScale: number
}

/**
 * Returns the largest face, if it is clearly the main one, or the face nearest the middle; it must be large enough. `faces` says
 * what else is in the picture.
 * @throws BiometricError face_not_found, multiple_faces, face_too_small
 */
export function chooseFace(
  found: readonly Detection[],
  frame: Frame,
  limits: Pick<ImageLimits, 'minFacePx' | 'secondFaceRatio' | 'face'>,
  imageIndex?: number,
): { face: Detection; faces: FacesInImage } {
  const [largest, second] = found.toSorted((a, b) => b.box.width - a.box.width)
  if (!largest) throw new BiometricError('face_not_found', 'No face was found in the image.', imageIndex)
  const [central] = found.toSorted((a, b) => fromMiddle(a.box, frame) - fromMiddle(b.box, frame))
  const isCentral = limits.face === 'centre'
  if (!isCentral && second && second.box.width >= limits.secondFaceRatio * largest.box.width) {
    throw new BiometricError(
      'multiple_faces',
      'More than one face of similar size is in the image.',
      imageIndex,
    )
  }
  const face = isCentral ? central! : largest
  const widthPx = outerWidth(face.box, frame.sourceScale)
  if (widthPx < limits.minFacePx) {
    const message = `The face is ${widthPx} px wide; at least ${limits.minFacePx} px are needed.`
    throw new BiometricError('face_too_small', message, imageIndex)
  }
  return { face, faces: { count: found.length, isLargestCentral: largest === central } }
}

/** Source pixels across a box between its outer edges: partly covered pixels count whole. */
export function outerWidth(box: Box, sourceScale: number): number {
  return Math.ceil((box.x + box.width) * sourceScale) - Math.floor(box.x * sourceScale)
}

function fromMiddle(box: Box, { width, height }: Frame): number {
  return Math.hypot(box.x + (box.width - width) / 2, box.y + (box.height - height) / 2)
}
