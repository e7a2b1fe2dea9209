/** The errors of a capture, by code. */

/** Whether another try in the same page can succeed without anything being changed in the page or its address. */
const RECOVERABLE = {
  /** The page came over plain HTTP: browsers give no camera. */
  insecure_context: false,
  /** The browser has no access to cameras, or none in this kind of view. */
  unsupported: false,
  /** The person, the browser's settings or the page's permissions policy refuse the camera. */
  permission: true,
  /** The person has not answered the browser's question for the camera yet. The capture goes on after the answer. */
  prompt_ignored: true,
  no_camera: true,
  /** Another program has the camera. */
  camera_busy: true,
  /** The camera is open and delivers nothing, or pictures of one colour: a closed shutter, or a call that holds it. */
  no_picture: true,
  /** The camera was unplugged, or taken away. */
  camera_lost: true,
  /** The device was turned while the frames of a challenge were taken. */
  rotated: true,
  /** The page was left for another tab or program. */
  hidden: true,
  /** The camera or the device could not deliver the frames of a challenge in time. */
  too_slow: true,
  /** No capture was made within the time limit. */
  timeout: true,
  /** The file that was chosen instead of the camera is damaged. */
  file_unreadable: true,
  /** The chosen file is of a format that neither the browser nor the service reads, such as HEIC. */
  wrong_format: true,
} as const

export type CaptureErrorCode = keyof typeof RECOVERABLE

export class CaptureError extends Error {
  override readonly name = 'CaptureError'
  readonly recoverable: boolean

  constructor(readonly code: CaptureErrorCode) {
    super(code)
    this.recoverable = RECOVERABLE[code]
  }
}

/** Names of the exceptions of `getUserMedia` (W3C Media Capture and Streams, section 10.2). */
const BY_EXCEPTION: Record<string, CaptureErrorCode> = {
  NotAllowedError: 'permission',
  SecurityError: 'permission',
  NotFoundError: 'no_camera',
  OverconstrainedError: 'no_camera',
  NotReadableError: 'camera_busy',
  AbortError: 'camera_busy',
}

export function toCaptureError(error: unknown): CaptureError {
  if (error instanceof CaptureError) return error
  return new CaptureError(BY_EXCEPTION[(error as Error | undefined)?.name ?? ''] ?? 'unsupported')
}
