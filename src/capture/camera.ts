/** The camera of a capture. It is opened once, and cannot be opened again after it was closed. */
import { CaptureError, toCaptureError } from './capture-error.js'

export interface CameraRequest {
  /** `user` or `environment`. */
  facing: string
  /** `deviceId` of one camera, which takes precedence over `facing`. */
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
    /** Whether the camera faces the person who looks at the screen, who then expects a mirror image. */
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

  onLost(lost: () => void): void {
    // Browsers do not send this event when the component itself stops the track.
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
      // The camera was closed or unplugged meanwhile: the caller that closed it knows, and the event of the track reports the rest.
    }
  }

  private close(): void {
    for (const track of this.stream.getTracks()) track.stop()
    if (this.video.srcObject === this.stream) this.video.srcObject = null
  }
}
