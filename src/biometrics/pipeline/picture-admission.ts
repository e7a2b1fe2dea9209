/** Decides from a picture's bytes whether a decoder may see it, and which. */
import { BiometricError, type InspectedImage } from '../types.js'
import { foreseeWork } from './decoding-work.js'
import { unknownFormat } from './foreign-format.js'
import { sniffImageFormat } from './image-format.js'
import { assertSize, type DecodingLimits } from './picture-size-limits.js'

export interface AdmittedPicture {
  format: InspectedImage['format']
  /** False for a picture that only a process that can be killed may decode. */
  isLight: boolean
}

/** @throws BiometricError image_unreadable, also for a picture that takes too much work; image_too_large, image_too_small */
export function admitPicture(
  bytes: Uint8Array,
  limits: DecodingLimits,
  imageIndex?: number,
): AdmittedPicture {
  const format = sniffImageFormat(bytes)
  if (!format) throw unknownFormat(bytes, imageIndex)
  const { size, isLight, excess } = foreseeWork(format, bytes, limits.decoding)
  if (size) assertSize(size, limits, imageIndex)
  if (excess !== null) {
    const message = `The image takes too much work to decode (${excess}); save it again as an ordinary JPEG.`
    throw new BiometricError('image_unreadable', message, imageIndex)
  }
  return { format, isLight }
}
