/** Pictures of the video as JPEG, as the camera sees it: never mirrored. */
import { CaptureError } from './capture-error.js'

export interface FrameOptions {
  /** Longest side in pixels; smaller pictures stay as they are. */
  maxSide: number
  /** Of the JPEG, 0 to 1. */
  quality: number
}

export class FrameGrabber {
  private readonly canvas = document.createElement('canvas')

  constructor(
    private readonly video: HTMLVideoElement,
    private readonly options: FrameOptions,
  ) {}

  /**
   * Waits for a frame that was not taken yet: the service refuses to see one twice.
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
      // Firefox has it since version 132; before it, what is painted next may be the same frame.
      if ('requestVideoFrameCallback' in video) video.requestVideoFrameCallback(fresh)
      else requestAnimationFrame(fresh)
    })
  }

  /** @throws CaptureError too_slow when the browser has no memory to encode with */
  async grab(): Promise<Blob> {
    const { video, canvas } = this
    const { maxSide, quality } = this.options
    const scale = Math.min(1, maxSide / Math.max(video.videoWidth, video.videoHeight))
    canvas.width = Math.round(video.videoWidth * scale)
    canvas.height = Math.round(video.videoHeight * scale)
    canvas.getContext('2d')!.drawImage(video, 0, 0, canvas.width, canvas.height)
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', quality))
    if (!blob) throw new CaptureError('too_slow')
    return blob
  }
}
