/** Photos in any of the forms that an application holds them in, as the API takes them. */
import type { ImageInput } from './types.js'

/** Arguments of one call are limited, and so is the stack that they lie on. */
const CHUNK_BYTES = 0x2000

/** Base64 with padding. */
export async function toBase64(image: ImageInput): Promise<string> {
  if (typeof image === 'string') return image.replace(/^data:[^,]*;base64,/, '')
  const bytes =
    image instanceof Uint8Array
      ? image
      : new Uint8Array(image instanceof ArrayBuffer ? image : await image.arrayBuffer())
  let binary = ''
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES)
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES))
  return btoa(binary)
}
