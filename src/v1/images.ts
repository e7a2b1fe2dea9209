/** The images of a request: from base64 text to bytes, strictly. */

import { ApiError, type ErrorDetail } from '../api-error.js'
import { kernels } from '../biometrics/kernels/kernels.js'

/** Base64 as a string or, where the body was not turned into one, as the bytes of the text. */
type Base64 = string | Uint8Array

export interface ImageInput {
  image?: Base64
  images?: Base64[]
}

/** The field that holds the image of this index. */
export function imagePath({ image }: ImageInput, index: number): string {
  return image === undefined ? `images.${index}` : 'image'
}

/**
 * The image files, in the order given.
 * @throws ApiError invalid_request when neither or both fields are there, or the base64 is wrong
 */
export function decodeImages({ image, images }: ImageInput): Buffer[] {
  if ((image === undefined) === (images === undefined))
    throw invalid([{ path: 'image', issue: 'give either `image` or `images`' }])
  if (image !== undefined) return [decodeImage(image, 'image')]
  return images!.map((text, index) => decodeImage(text, `images.${index}`))
}

const DATA_PREFIX = Buffer.from('data:')
const PADDING = '='.charCodeAt(0)

function decodeImage(base64: Base64, path: string): Buffer {
  const text = typeof base64 === 'string' ? Buffer.from(base64) : base64
  if (DATA_PREFIX.equals(text.subarray(0, DATA_PREFIX.length)))
    throw invalid([{ path, issue: 'must be base64 alone, without a `data:` prefix' }])
  // A buffer of its own and of the exact size: it travels to a worker as it is, without its neighbours.
  const padding = text.at(-1) !== PADDING ? 0 : text.at(-2) !== PADDING ? 1 : 2
  const bytes = Buffer.allocUnsafeSlow(Math.ceil(text.length / 4) * 3 - padding)
  if (kernels.decodeBase64(text, bytes) !== bytes.length)
    throw invalid([
      { path, issue: 'must be base64 with padding and without line breaks (RFC 4648, section 4)' },
    ])
  return bytes
}

function invalid(details: ErrorDetail[]): ApiError {
  return new ApiError('invalid_request', { details })
}
