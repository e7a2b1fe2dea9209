/**
 * Collects signs that the pictures of a capture do not come from a camera of this device. Each is a hint and none is proof: anyone
 * who controls the browser controls all of them.
 */

import { type CaptureSignal, isMismatch, isTimingEven, isVirtualCamera } from './signal-rules.js'

const MAX_TIMES = 600

/** Observes the pictures of one camera, from the first that is shown. */
export class CaptureWatch {
  /** Times of the pictures that were shown, in seconds on the axis of the camera's stream. */
  private readonly times: number[] = []
  private readonly track: MediaStreamTrack
  /** Read while the camera is on: a track that has ended states nothing. */
  private readonly settings: MediaTrackSettings
  private readonly cameras: Promise<MediaDeviceInfo[]>
  private readonly size: [number, number]

  /** @param video shows the picture of a camera */
  constructor(video: HTMLVideoElement) {
    this.track = (video.srcObject as MediaStream).getVideoTracks()[0]!
    this.settings = this.track.getSettings()
    this.cameras = navigator.mediaDevices.enumerateDevices().catch(() => [])
    this.size = [video.videoWidth, video.videoHeight]
    // Browsers that lack this function give no times, and so no signal about them.
    if ('requestVideoFrameCallback' in video) this.observe(video)
  }

  /** Returns the signals of the pictures that were shown until now. It may be called after the camera was turned off. */
  async signals(): Promise<CaptureSignal[]> {
    const { track, settings, times } = this
    const found: Array<[CaptureSignal, boolean]> = [
      ['virtual_camera', isVirtualCamera(track.label)],
      ['replaced_function', isReplaced()],
      // A canvas and a generator give tracks of classes of their own.
      ['synthetic_track', Object.getPrototypeOf(track) !== MediaStreamTrack.prototype],
      ['unlisted_camera', !(await this.cameras).some(({ deviceId }) => deviceId === settings.deviceId)],
      ['settings_mismatch', isMismatch(settings, this.size, times)],
      ['frame_timing', isTimingEven(times)],
    ]
    return found.flatMap(([code, isFound]) => (isFound ? [code] : []))
  }

  private observe(video: HTMLVideoElement): void {
    const stream = video.srcObject
    const next: VideoFrameRequestCallback = (_now, { mediaTime }) => {
      // The camera is off, or another one is on.
      if (video.srcObject !== stream || this.times.length === MAX_TIMES) return
      this.times.push(mediaTime)
      video.requestVideoFrameCallback(next)
    }
    video.requestVideoFrameCallback(next)
  }
}

/** Whether a function through which the component gets its pictures is not the browser's own. */
function isReplaced(): boolean {
  const devices = navigator.mediaDevices
  const functions: Array<[object, string]> = [
    [MediaDevices.prototype, 'getUserMedia'],
    [MediaDevices.prototype, 'enumerateDevices'],
    [MediaStreamTrack.prototype, 'getSettings'],
    [CanvasRenderingContext2D.prototype, 'drawImage'],
    [Function.prototype, 'toString'],
  ]
  return (
    Object.getPrototypeOf(devices) !== MediaDevices.prototype ||
    Object.getOwnPropertyNames(devices).length > 0 ||
    functions.some(([owner, name]) => !isNative((owner as Record<string, unknown>)[name], name))
  )
}

/** Browsers print their own functions with their name. Functions that are bound or behind a `Proxy` print as native without it. */
function isNative(value: unknown, name: string): boolean {
  return (
    typeof value === 'function' &&
    new RegExp(`^function ${name}\\(\\)\\s*\\{\\s*\\[native code\\]\\s*\\}$`).test(
      Function.prototype.toString.call(value).trim(),
    )
  )
}
