/** The camera of a capture: opened once, closed for good. */
import { CaptureError, toCaptureError } from './capture-error.js'

export interface CameraRequest {
  /** `user` or `environment`. */
  facing: string
  /** `deviceId` of one camera; it goes before `facing`. */
  cameraId: string | null
}

const WIDTH = 1280
const HEIGHT = 720

export interface CameraChoice {
  id: string
  label: string
}

export class Camera {
  private constructor(
    private readonly stream: MediaStream,
    private readonly video: HTMLVideoElement,
    /** Whether it looks at the person who sees the screen, who then expects a mirror. */
    readonly isMirrored: boolean,
  ) {}

  /**
   * @param signal closes the camera, before or after it was opened
   * @throws CaptureError insecure_context, unsupported, permission, no_camera, camera_busy
   */
  static async open(video: HTMLVideoElement, request: CameraRequest, signal: AbortSignal): Promise<Camera> {
    if (!isSecureContext) throw new CaptureError('insecure_context')
    if (!navigator.mediaDevices?.getUserMedia) throw new CaptureError('unsupported')
    const { facing, cameraId } = request
    const stream = await navigator.mediaDevices
      .getUserMedia({
        audio: false,
        video: {
          ...(cameraId ? { deviceId: { exact: cameraId } } : { facingMode: facing }),
          width: { ideal: WIDTH },
          height: { ideal: HEIGHT },
        },
      })
      .catch((error) => {
        throw toCaptureError(error)
      })
    const { facingMode = facing } = stream.getVideoTracks()[0]!.getSettings()
    const camera = new Camera(stream, video, facingMode !== 'environment')
    signal.addEventListener('abort', () => camera.close())
    // The person gave up while the browser was asking.
    if (signal.aborted) camera.close()
    else await camera.play()
    return camera
  }

  /** The cameras there are. Browsers tell labels and ids only once a camera was allowed. */
  static async list(): Promise<CameraChoice[]> {
    const devices = (await navigator.mediaDevices?.enumerateDevices()) ?? []
    return devices
      .filter(({ kind, deviceId }) => kind === 'videoinput' && deviceId !== '')
      .map(({ deviceId, label }) => ({ id: deviceId, label }))
  }

  get id(): string | undefined {
    return this.track.getSettings().deviceId
  }

  onLost(lost: () => void): void {
    // Not sent where we stop the track ourselves.
    this.track.addEventListener('ended', lost)
  }

  private get track(): MediaStreamTrack {
    return this.stream.getVideoTracks()[0]!
  }

  private async play(): Promise<void> {
    this.video.srcObject = this.stream
    try {
      await this.video.play()
    } catch {
      // Closed meanwhile, or taken away: both are told by whoever closes and by the track.
    }
  }

  private close(): void {
    for (const track of this.stream.getTracks()) track.stop()
    if (this.video.srcObject === this.stream) this.video.srcObject = null
  }
}
