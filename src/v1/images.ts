/** The images of a request: from base64 text to bytes, strictly. */
import { ApiError, type ErrorDetail } from '../errors.js'

export interface ImageInput {
  image?: string
  images?: string[]
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

function decodeImage(text: string, path: string): Buffer {
  if (text.startsWith('data:'))
    throw invalid([{ path, issue: 'must be base64 alone, without a `data:` prefix' }])
  const bytes = Buffer.from(text, 'base64')
  // Node skips what is not base64, so anything foreign shows as a missing byte; the URL alphabet it takes as well.
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const isUrlAlphabet = text.includes('-') || text.includes('_')
  if (
    isUrlAlphabet ||
    text.length % 4 !== 0 ||
    bytes.length !== (text.length / 4) * 3 - padding ||
    bytes.length === 0
  )
    throw invalid([
      { path, issue: 'must be base64 with padding and without line breaks (RFC 4648, section 4)' },
    ])
  return bytes
}

function invalid(details: ErrorDetail[]): ApiError {
  return new ApiError('invalid_request', { details })
}
