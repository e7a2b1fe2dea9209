/** Encodes pictures of the video as JPEG, as the camera sees them: never mirrored. */
import { CaptureError } from './capture-error.js'

export interface FrameOptions {
  /** Longest side in pixels; smaller pictures stay as they are. */
  maxSide: number
  /** Quality of the JPEG, 0 to 1. */
  quality: number
}

export class FrameGrabber {
  private readonly canvas = document.createElement('canvas')

  constructor(
    private readonly video: HTMLVideoElement,
    private readonly options: FrameOptions,
  ) {}

  /**
   * Waits for a frame that was not taken yet, since the service refuses the same frame twice.
   * @throws CaptureError too_slow when none comes
   */
  nextFrame(withinMs: number, signal: AbortSignal): Promise<void> {
    const { video } = this
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new CaptureError('too_slow')), withinMs)
      const fresh = () => {
        clearTimeout(late)
        resolve()
      }
      signal.addEventListener('abort', fresh, { once: true })
      // Firefox has this function since version 132. Without it, the next repaint may show the same frame again.
      if ('requestVideoFrameCallback' in video) video.requestVideoFrameCallback(fresh)
      else requestAnimationFrame(fresh)
    })
  }

  /** Whether the picture is higher than it is wide. */
  get isUpright(): boolean {
    return this.video.videoHeight > this.video.videoWidth
  }

  /** @throws CaptureError too_slow when the browser has no memory to encode with */
  grab(): Promise<Blob> {
    const { videoWidth: width, videoHeight: height } = this.video
    return encodeJpeg(this.canvas, this.video, { width, height }, this.options)
  }
}

/** @throws CaptureError too_slow when the browser has no memory to encode with */
export async function encodeJpeg(
  canvas: HTMLCanvasElement,
  picture: CanvasImageSource,
  { width, height }: { width: number; height: number },
  { maxSide, quality }: FrameOptions,
): Promise<Blob> {
  const scale = Math.min(1, maxSide / Math.max(width, height))
  canvas.width = Math.round(width * scale)
  canvas.height = Math.round(height * scale)
  canvas.getContext('2d')!.drawImage(picture, 0, 0, canvas.width, canvas.height)
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', quality))
  if (!blob) throw new CaptureError('too_slow')
  return blob
}
