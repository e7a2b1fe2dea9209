/** Encodes pictures of the video as JPEG, as the camera sees them: never mirrored. */
import { CaptureError } from './capture-error.js'

export interface FrameOptions {
  /** Longest side in pixels; smaller pictures stay as they are. */
  maxSide: number
  /** Quality of the JPEG, 0 to 1. */
  quality: number
}

/** Time in milliseconds after which a camera without a new frame delivers none. */
const STALLED_MS = 3000
/** Side in pixels to which a picture is reduced, so that the noise of a covered camera averages out. */
const REDUCED_SIDE = 32
/** Levels of 255 between the darkest and the brightest place of a picture that shows nothing. */
const PLAIN_LEVELS = 10

export class FrameGrabber {
  private readonly canvas = document.createElement('canvas')
  /** Time of the frame that was taken last, in seconds on the axis of the video. */
  private taken: number | undefined

  constructor(
    private readonly video: HTMLVideoElement,
    private readonly options: FrameOptions,
  ) {}

  /**
   * Waits for a frame that was not taken yet, since the service refuses the same frame twice.
   * @throws CaptureError no_picture when none comes
   */
  nextFrame(signal: AbortSignal): Promise<void> {
    const { video } = this
    return new Promise((resolve, reject) => {
      setTimeout(() => reject(new CaptureError('no_picture')), STALLED_MS)
      signal.addEventListener('abort', () => resolve(), { once: true })
      // Firefox has this function since version 132. Without it, the next repaint may show the same frame again.
      const wait = () => {
        if ('requestVideoFrameCallback' in video)
          video.requestVideoFrameCallback((_, { mediaTime }) => look(mediaTime))
        else requestAnimationFrame(() => look((video as HTMLVideoElement).currentTime))
      }
      const look = (time: number) => {
        if (signal.aborted) return
        if (video.paused || time === this.taken) return wait()
        this.taken = time
        resolve()
      }
      wait()
    })
  }

  /** Whether the picture is higher than it is wide. */
  get isUpright(): boolean {
    return this.video.videoHeight > this.video.videoWidth
  }

  /** @throws CaptureError no_picture when the picture is of one colour, too_slow when the browser has no memory to encode with */
  take(): Promise<Blob> {
    if (this.isPlain()) throw new CaptureError('no_picture')
    return this.grab()
  }

  /** @throws CaptureError too_slow when the browser has no memory to encode with */
  grab(): Promise<Blob> {
    const { videoWidth: width, videoHeight: height } = this.video
    return encodeJpeg(this.canvas, this.video, { width, height }, this.options)
  }

  /** Whether the picture is of one colour, as that of a closed shutter or of a camera that another call holds. */
  private isPlain(): boolean {
    const reduced = document.createElement('canvas')
    const context = reduced.getContext('2d', { willReadFrequently: true })!
    context.imageSmoothingQuality = 'high'
    context.drawImage(this.video, 0, 0, REDUCED_SIDE, REDUCED_SIDE)
    const { data } = context.getImageData(0, 0, REDUCED_SIDE, REDUCED_SIDE)
    return [0, 1, 2].every((channel) => {
      const levels = data.filter((_, index) => index % 4 === channel)
      return Math.max(...levels) - Math.min(...levels) < PLAIN_LEVELS
    })
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
