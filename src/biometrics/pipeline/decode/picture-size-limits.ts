/** Limits of decoded pictures. */
import { BiometricError, type ImageLimits } from '../../types.js'

/** Refusal of a picture that moves. */
export const ANIMATED = 'The image is animated. Send one still picture.'

export type DecodingLimits = Pick<ImageLimits, 'maxPixels' | 'minSidePx' | 'decoding'>

/** @throws BiometricError image_too_large, image_too_small */
export function assertSize(
  { width, height }: { width: number; height: number },
  { maxPixels, minSidePx }: DecodingLimits,
  imageIndex?: number,
): void {
  if (width * height > maxPixels) {
    const message = `The image has ${width}×${height} pixels; at most ${maxPixels} are accepted. Send it smaller: 1280 pixels on the longer side are plenty.`
    throw new BiometricError('image_too_large', message, imageIndex)
  }
  if (Math.min(width, height) < minSidePx) {
    const message = `The image is ${width}×${height}; its shorter side must have ${minSidePx} px.`
    throw new BiometricError('image_too_small', message, imageIndex)
  }
}
