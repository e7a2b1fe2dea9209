/** Decodes the images of a request from base64, and refuses everything that is not strict base64. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DomainError, type ErrorDetail } from '../../lib/domain-error.js'
import { decodeBase64Text } from './base64-text.js'

/** Base64 as a string, or as the bytes between the quotes of a JSON string, escapes included, where the body was never a string. */
export type Base64 = string | Uint8Array

export interface ImageInput {
  image?: Base64
  images?: Base64[]
  challenge?: {
    challenge_id: string
    nonce: string
    frames: Array<{ step: number; t_ms: number; image: Base64 }>
  }
}

/** Path of the field that holds the image of this index. With a single `image` the second one can only be guidance's `frontal`. */
export function imagePath({ image, challenge }: ImageInput, index: number): string {
  if (challenge) return `challenge.frames.${index}.image`
  if (image === undefined) return `images.${index}`
  return index === 0 ? 'image' : 'frontal'
}

/** Number of images of a request. */
export function imageCount({ images, challenge }: ImageInput): number {
  return challenge?.frames.length ?? images?.length ?? 1
}

/**
 * Decodes the image files of a request, in their order.
 * @throws DomainError invalid_request when none or several of the fields are there, or the base64 is wrong
 */
export async function decodeImages(input: ImageInput): Promise<Buffer[]> {
  const { image, images, challenge } = input
  const given = [
    image === undefined ? undefined : [image],
    images,
    challenge?.frames.map((frame) => frame.image),
  ].filter(Boolean)
  if (given.length !== 1) throw invalid([{ path: 'image', issue: ONE_OF_THEM }])
  const decoded: Buffer[] = []
  for (const [index, text] of given[0]!.entries())
    decoded.push(await decodeImage(text, imagePath(input, index)))
  return decoded
}

export const ONE_OF_THEM = 'give one of `image`, `images` and `challenge`'

const DATA_PREFIX = 'data:'

/**
 * Decodes one image file.
 * @param path field that holds the image, for the error
 * @throws DomainError invalid_request when the base64 is wrong
 */
export async function decodeImage(text: Base64, path: string): Promise<Buffer> {
  if (Buffer.from(text.slice(0, DATA_PREFIX.length)).toString() === DATA_PREFIX)
    throw invalid([{ path, issue: 'must be only base64, without a `data:` prefix' }])
  const decoding = decodeBase64Text(text)
  let step = decoding.next()
  // Other work of the main thread has a turn before the next slice.
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

function invalid(details: ErrorDetail[]): DomainError {
  return new DomainError('invalid_request', { details })
}
