/** Decides from a picture's bytes whether a decoder may see it, and which. */
import { BiometricError } from '../../types.js'
import { foreseeWork } from './decoding-work.js'
import { unknownFormat } from './foreign-format.js'
import { sniffImageFormat } from './image-format.js'
import { ANIMATED, assertSize, type DecodingLimits } from './picture-size-limits.js'
import { pngShape } from './png-shape.js'

/**
 * `isLight` is false for a picture that only a process that can be killed may decode.
 * @throws BiometricError image_unreadable, also for a picture that takes too much work; image_too_large, image_too_small
 */
export function admitPicture(bytes: Uint8Array, limits: DecodingLimits, imageIndex?: number) {
  const format = sniffImageFormat(bytes)
  if (!format) throw unknownFormat(bytes, imageIndex)
  const { size, isLight, excess } = foreseeWork(format, bytes, limits.decoding)
  if (size) assertSize(size, limits, imageIndex)
  if (excess !== null) {
    const message = `The image takes too much work to decode (${excess}); save it again as an ordinary JPEG.`
    throw new BiometricError('image_unreadable', message, imageIndex)
  }
  const fault = format === 'png' ? pngFault(bytes) : null
  if (fault !== null) throw new BiometricError('image_unreadable', fault, imageIndex)
  return { format, isLight }
}

/** Transfer functions of HDR (ITU-T H.273, table 3): no decoder here applies them. */
const HDR_TRANSFERS: Record<number, string> = { 16: 'PQ', 18: 'HLG' }

/** Reason for which a PNG cannot be judged as it is shown; null for none. */
function pngFault(bytes: Uint8Array): string | null {
  const shape = pngShape(bytes)
  if (shape?.isAnimated) return ANIMATED
  const hdr = HDR_TRANSFERS[shape?.transfer ?? 0]
  return hdr
    ? `The image is a PNG in HDR (${hdr}), which is not read. Save it without HDR, or as JPEG.`
    : null
}
