/** Reads a photo from a file, and makes it upright and as large as one of the camera would be. */
import { CaptureError } from './capture-error.js'
import { encodeJpeg, type FrameOptions } from './frame-grabber.js'

/**
 * @throws CaptureError wrong_format when the browser cannot show the file and it is neither JPEG, PNG nor WebP: a HEIC photo outside
 * Safari, for example. `file_unreadable` when a file of these formats is damaged.
 */
export async function photoFromFile(file: Blob, options: FrameOptions): Promise<Blob> {
  const picture = await createImageBitmap(file, { imageOrientation: 'from-image' }).catch(async () => {
    throw new CaptureError((await isCommonFormat(file)) ? 'file_unreadable' : 'wrong_format')
  })
  try {
    const canvas = document.createElement('canvas')
    return await encodeJpeg(canvas, picture, picture, options)
  } finally {
    picture.close()
  }
}

/** First bytes of JPEG, of PNG, and of RIFF, the container of WebP. */
const COMMON_FORMATS = ['ffd8ff', '89504e47', '52494646']

async function isCommonFormat(file: Blob): Promise<boolean> {
  const bytes = new Uint8Array(await file.slice(0, 4).arrayBuffer())
  const start = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return COMMON_FORMATS.some((magic) => start.startsWith(magic))
}
