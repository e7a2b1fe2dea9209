/** Decodes pictures: chooses where each is decoded, and which are refused before. */
import { BiometricError, cancelled } from '../../biometric-error.js'
import { type DecodedImage, decodePixels } from './decode-pixels.js'
import { DecoderProcess } from './decoder-process.js'
import { admitPicture } from './picture-admission.js'
import { reading } from './picture-readers.js'
import type { DecodingLimits } from './picture-size-limits.js'

/** Decoder process of this thread. */
const heavyDecoder = new DecoderProcess()

/**
 * Decodes one image: JPEG, PNG or WebP, its EXIF orientation applied, transparency on white. A light picture is
 * decoded on a thread of this process. Any other is decoded in a process whose memory is limited, and which is killed
 * when it takes too long. The bytes must not change until `whenUnread` has resolved for them.
 * @param imageIndex index among the caller's images, for refusals
 * @param signal aborted when no caller waits for the picture any more: a process that decodes it is killed
 * @throws BiometricError image_unreadable, also for a picture that takes too much work; image_too_large and
 * image_too_small, from the header only; cancelled
 */
export function decodeImage(
  bytes: Uint8Array,
  limits: DecodingLimits,
  imageIndex?: number,
  signal?: AbortSignal,
): Promise<DecodedImage> {
  return reading(bytes, () => decode(bytes, limits, imageIndex, signal))
}

async function decode(
  bytes: Uint8Array,
  limits: DecodingLimits,
  imageIndex: number | undefined,
  signal: AbortSignal | undefined,
): Promise<DecodedImage> {
  if (signal?.aborted) throw cancelled()
  const { isLight } = admitPicture(bytes, limits, imageIndex)
  if (isLight) return decodePixels(bytes, limits, imageIndex)
  return heavyDecoder.decode(bytes, limits, signal).catch((error) => {
    if (!(error instanceof BiometricError)) throw error
    throw new BiometricError(error.code, error.message, imageIndex, { cause: error })
  })
}
