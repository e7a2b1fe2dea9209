/** Encodes photos, in any form that an application holds them in, as the API takes them. */
import { bytesOf, kindOf } from './bytes.js'
import { ApiError } from './errors.js'
import type { ChallengeAnswer, ImageInput, Photos } from './types.js'

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
/** Bytes of one call of String.fromCharCode: its arguments lie on the stack, which is limited. */
const CHUNK_BYTES = 0x2000
/** A file's name by its ending. Base64 has no full stop, so no photo is taken for one. */
const FILE_NAME = /\.(jpe?g|png|webp|heic|heif|avif|gif|bmp|tiff?|pdf)$/i

/** The service's own sentence for this code: a test compares them. */
const HINT = 'This file cannot be read as a photo. Please choose another one.'

/**
 * A browser may send anything instead of a photo. That is the person's to mend, and no fault of the program: it is refused as the service would.
 * @returns ApiError image_unreadable
 */
function unreadable(path: string, issue: string): ApiError {
  return new ApiError(
    {
      error: 'biometric_rejected',
      code: 'image_unreadable',
      message: 'The image could not be read.',
      remedy: 'Ask for a new photo, and pass its bytes or its base64.',
      request_id: '',
      details: [{ path, issue, guidance: 'file_unreadable', hint: HINT }],
    },
    { status: 422, verified: false },
  )
}

/** @throws ApiError image_unreadable that names what is no photo @throws TypeError where more than one form of photos is given */
export async function encodePhotos({ image, images, challenge }: Photos): Promise<Photos<string>> {
  if (challenge !== undefined) {
    if (image !== undefined || images !== undefined)
      throw new TypeError('image, images or challenge: give one of them')
    return { challenge: await encodeFrames(challenge) }
  }
  if (images === undefined) return { image: await encodePhoto(image, 'image') }
  if (image !== undefined) throw new TypeError('image or images: give one of them')
  if (!Array.isArray(images) || images.length === 0) throw unreadable('images', 'must be an array of photos')
  return { images: await Promise.all(images.map((one, index) => encodePhoto(one, `images.${index}`))) }
}

async function encodeFrames({
  challenge_id,
  nonce,
  frames,
}: ChallengeAnswer): Promise<ChallengeAnswer<string>> {
  if (!Array.isArray(frames) || frames.length === 0)
    throw unreadable('challenge.frames', 'must be an array of frames')
  const encoded = frames.map(async (frame, index) => ({
    step: frame?.step,
    t_ms: frame?.t_ms,
    image: await encodePhoto(frame?.image, `challenge.frames.${index}.image`),
  }))
  return { challenge_id, nonce, frames: await Promise.all(encoded) }
}

/** @throws ApiError image_unreadable that names the photo where it is missing, empty or none */
export async function encodePhoto(photo: ImageInput | null | undefined, path: string): Promise<string> {
  if (photo === undefined || photo === null) throw unreadable(path, 'is required: a photo')
  if (typeof photo !== 'string' && bytesOf(photo) === null && !isBlob(photo))
    throw unreadable(path, 'must be a Blob, an ArrayBuffer, a Uint8Array or base64')
  if (typeof photo === 'string' && FILE_NAME.test(photo))
    throw unreadable(path, "looks like a file's name: pass its bytes")
  const base64 = await toBase64(photo)
  if (!base64) throw unreadable(path, 'is empty')
  if (typeof photo === 'string' && !BASE64.test(base64)) throw unreadable(path, 'is text that is not base64')
  return base64
}

/** Looks at what it has, not at its class: a Blob of another realm has another class. */
function isBlob(photo: unknown): photo is Blob {
  return typeof (photo as Partial<Blob>).arrayBuffer === 'function' || isBareBlob(photo)
}

/** A Blob without methods that read it, as those of jsdom are. */
function isBareBlob(photo: unknown): boolean {
  return 'FileReader' in globalThis && /^(Blob|File)$/.test(kindOf(photo))
}

/** The part of the Web's class that is used here: the types of Node lack it. */
interface Reader {
  result: unknown
  error: unknown
  onload: () => void
  onerror: () => void
  readAsArrayBuffer(blob: Blob): void
}

function readBlob(blob: Blob): Promise<unknown> {
  if (typeof blob.arrayBuffer === 'function') return blob.arrayBuffer()
  const { FileReader } = globalThis as unknown as { FileReader: new () => Reader }
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result)
    reader.onerror = () => reject(reader.error)
    reader.readAsArrayBuffer(blob)
  })
}

/** @returns base64 with padding; a text without its `data:` prefix */
export async function toBase64(image: ImageInput): Promise<string> {
  if (typeof image === 'string') return image.replace(/^data:[^,]*;base64,/, '')
  const bytes = bytesOf(image) ?? new Uint8Array((await readBlob(image as Blob)) as ArrayBuffer)
  let binary = ''
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES)
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES))
  return btoa(binary)
}
