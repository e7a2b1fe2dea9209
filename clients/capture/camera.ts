/** The camera of a capture. It is opened once, and cannot be opened again after it was closed. */
import { CaptureError, type CaptureErrorCode, toCaptureError } from './capture-error.js'

export interface CameraRequest {
  /** `user` or `environment`. */
  facing: string
  /** `deviceId` of one camera, which takes precedence over `facing`. */
  cameraId: string | null
}

export interface CameraRun {
  /** Closes the camera, before or after it was opened. */
  signal: AbortSignal
  /** Called when the camera no longer delivers. */
  onLost(code: CaptureErrorCode): void
  /** Called where the browser shows the picture only after a click. Resolves with the click. */
  askForClick(): Promise<void>
}

const WIDTH = 1280
const HEIGHT = 720
/** Time in milliseconds for which a camera may deliver nothing: browsers mute the track, and often only for a moment. */
const MUTED_MS = 2000

export interface CameraChoice {
  id: string
  label: string
}

export class Camera {
  private constructor(
    private readonly stream: MediaStream,
    private readonly video: HTMLVideoElement,
    /** Whether the camera faces the person who looks at the screen, who then expects a mirror image. */
    readonly isMirrored: boolean,
  ) {}

  /**
   * Opens the camera, and shows its picture. Where the camera with the id is gone, any camera of the same side takes its place.
   * @throws CaptureError insecure_context, unsupported, permission, no_camera, camera_busy
   */
  static async open(video: HTMLVideoElement, request: CameraRequest, run: CameraRun): Promise<Camera> {
    if (!isSecureContext) throw new CaptureError('insecure_context')
    if (!navigator.mediaDevices?.getUserMedia) throw new CaptureError('unsupported')
    const { facing, cameraId } = request
    const stream = await ask(cameraId ? { deviceId: { exact: cameraId } } : { facingMode: facing })
      .catch((error) => {
        if (cameraId && toCaptureError(error).code === 'no_camera') return ask({ facingMode: facing })
        throw error
      })
      .catch((error) => {
        throw toCaptureError(error)
      })
    const { facingMode = facing } = stream.getVideoTracks()[0]!.getSettings()
    const camera = new Camera(stream, video, facingMode !== 'environment')
    run.signal.addEventListener('abort', () => camera.close())
    // The person gave up while the browser was asking.
    if (run.signal.aborted) camera.close()
    else {
      camera.watch(run)
      await camera.play(run)
    }
    return camera
  }

  /** Lists the cameras. Browsers give labels and ids only once the person has allowed a camera. */
  static async list(): Promise<CameraChoice[]> {
    const devices = (await navigator.mediaDevices?.enumerateDevices()) ?? []
    return devices
      .filter(({ kind, deviceId }) => kind === 'videoinput' && deviceId !== '')
      .map(({ deviceId, label }) => ({ id: deviceId, label }))
  }

  get id(): string | undefined {
    return this.track.getSettings().deviceId
  }

  private get track(): MediaStreamTrack {
    return this.stream.getVideoTracks()[0]!
  }

  private watch({ onLost }: CameraRun): void {
    const { track } = this
    const onMute = () => setTimeout(() => track.muted && onLost('no_picture'), MUTED_MS)
    // Browsers send no event when the component itself stops the track.
    track.addEventListener('ended', () => onLost('camera_lost'))
    track.addEventListener('mute', onMute)
    onMute()
  }

  /** Resolves once the picture moves and has a size, or the camera was closed. */
  private async play({ signal, askForClick }: CameraRun): Promise<void> {
    const { video } = this
    video.srcObject = this.stream
    while (!signal.aborted) {
      // The caller that closed a camera knows it, and the track's event reports one that was unplugged.
      const isRefused = await video.play().then(
        () => false,
        (error) => error.name === 'NotAllowedError',
      )
      if (!isRefused) break
      await askForClick()
    }
    while (!signal.aborted && video.videoWidth === 0)
      await new Promise((resolve) => {
        video.addEventListener('resize', resolve, { once: true })
        signal.addEventListener('abort', resolve)
      })
  }

  private close(): void {
    for (const track of this.stream.getTracks()) track.stop()
    if (this.video.srcObject === this.stream) this.video.srcObject = null
  }
}

function ask(which: MediaTrackConstraints): Promise<MediaStream> {
  const video = { ...which, width: { ideal: WIDTH }, height: { ideal: HEIGHT } }
  return navigator.mediaDevices.getUserMedia({ audio: false, video })
}
