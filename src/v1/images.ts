/** The images of a request: from base64 text to bytes, strictly. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ApiError, type ErrorDetail } from '../api-error.js'
import { decodeBase64Text } from './base64-text.js'

/** Base64 as a string or, where the body was not turned into one, as the bytes between the quotes, escapes included. */
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
export async function decodeImages({ image, images }: ImageInput): Promise<Buffer[]> {
  if ((image === undefined) === (images === undefined))
    throw invalid([{ path: 'image', issue: 'give either `image` or `images`' }])
  if (image !== undefined) return [await decodeImage(image, 'image')]
  const decoded: Buffer[] = []
  for (const [index, text] of images!.entries()) decoded.push(await decodeImage(text, `images.${index}`))
  return decoded
}

const DATA_PREFIX = 'data:'

async function decodeImage(text: Base64, path: string): Promise<Buffer> {
  if (Buffer.from(text.slice(0, DATA_PREFIX.length)).toString() === DATA_PREFIX)
    throw invalid([{ path, issue: 'must be base64 alone, without a `data:` prefix' }])
  const decoding = decodeBase64Text(text)
  let step = decoding.next()
  // Whoever waits has a turn before the next slice.
  while (!step.done) {
    await nextTurn()
    step = decoding.next()
  }
  if (!step.value)
    throw invalid([
      { path, issue: 'must be base64 with padding and without line breaks (RFC 4648, section 4)' },
    ])
  return step.value
}

function invalid(details: ErrorDetail[]): ApiError {
  return new ApiError('invalid_request', { details })
}
