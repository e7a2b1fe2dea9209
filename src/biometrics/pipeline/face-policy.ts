/** Which of the faces found is meant, and when there is no saying. */

import { BiometricError, type Box, type ImageLimits } from '../types.js'
import type { Detection } from './detection.js'

/**
 * The largest face, if it is large enough and clearly the main one.
 * @param sourceScale source pixels per pixel of the detections
 * @throws BiometricError face_not_found, multiple_faces, face_too_small
 */
export function chooseFace(
  faces: readonly Detection[],
  sourceScale: number,
  limits: Pick<ImageLimits, 'minFacePx' | 'secondFaceRatio'>,
  imageIndex?: number,
): Detection {
  const [largest, second] = faces.toSorted((a, b) => b.box.width - a.box.width)
  if (!largest) throw new BiometricError('face_not_found', 'No face was found in the image.', imageIndex)
  if (second && second.box.width >= limits.secondFaceRatio * largest.box.width) {
    throw new BiometricError(
      'multiple_faces',
      'More than one face of similar size is in the image.',
      imageIndex,
    )
  }
  const widthPx = outerWidth(largest.box, sourceScale)
  if (widthPx < limits.minFacePx) {
    const message = `The face is ${widthPx} px wide; at least ${limits.minFacePx} px are needed.`
    throw new BiometricError('face_too_small', message, imageIndex)
  }
  return largest
}

/** Source pixels across a box between its outer edges: pixels that it covers in part count whole. */
export function outerWidth(box: Box, sourceScale: number): number {
  return Math.ceil((box.x + box.width) * sourceScale) - Math.floor(box.x * sourceScale)
}
