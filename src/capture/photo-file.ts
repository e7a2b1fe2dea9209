/** A photo from a file, upright and as large as one of the camera would be. */
import { CaptureError } from './capture-error.js'
import { encodeJpeg, type FrameOptions } from './frame-grabber.js'

/** @throws CaptureError file_unreadable where the browser cannot show the file as a picture */
export async function photoFromFile(file: Blob, options: FrameOptions): Promise<Blob> {
  const picture = await createImageBitmap(file, { imageOrientation: 'from-image' }).catch(() => {
    throw new CaptureError('file_unreadable')
  })
  try {
    const canvas = document.createElement('canvas')
    return await encodeJpeg(canvas, picture, picture, options)
  } finally {
    picture.close()
  }
}
