/** The events that the component sends to the page, and the outcome that the page hands back. */
import type { CaptureErrorCode } from './capture-error.js'
import type { CaptureStep } from './capture-plan.js'
import type { CaptureGuidance } from './guidance-codes.js'

export interface CapturedFrame {
  /** Index of the challenge's step that was shown. */
  step: number
  /** Whole milliseconds since the first frame. */
  t_ms: number
  image: Blob
}

/** Returns the codes of guidance for a frame, the most urgent first; none when there is nothing to do better. */
export type CaptureDetector = (
  frame: Blob,
  step: CaptureStep,
  /** Aborted when the answer would come too late. */
  signal: AbortSignal,
) => readonly CaptureGuidance[] | Promise<readonly CaptureGuidance[]>

/** Detail of `cs-ready`: the size of the camera's picture in pixels, once it is shown. */
export interface ReadyDetail {
  width: number
  height: number
}

/** Detail of `cs-step`: the step of the challenge that is shown. */
export interface StepDetail {
  step: number
  name: CaptureStep
  steps: number
}

/** Detail of `cs-consent`: the consent and its time, in the form that `enroll` takes. */
export interface ConsentDetail {
  /** The value of the attribute `consent`. */
  id: string
  /** When the person agreed (RFC 3339). */
  agreed_at: string
}

/** Detail of `cs-guidance`: the advice that the person gets while this step is shown. */
export interface GuidanceDetail {
  step: CaptureStep
  /** Codes, the most urgent first: empty when there is nothing to do better, null when no answer came. */
  guidance: readonly CaptureGuidance[] | null
}

/** Detail of `cs-capture`: JPEGs, not mirrored. Each frame of a challenge has its step and time. */
export type CaptureDetail =
  | { mode: 'photo'; images: Blob[]; source: 'camera' | 'file' }
  | { mode: 'challenge'; frames: CapturedFrame[] }

/** Detail of `cs-error`: the error, and whether another try can succeed. */
export interface ErrorDetail {
  code: CaptureErrorCode
  recoverable: boolean
}

/** The outcome of a capture, as the page's backend decided. */
export interface CaptureOutcome {
  ok: boolean
  /** Sentence that is shown to the person. The default is a sentence of the component's. */
  message?: string
  /** Whether another try is offered after a refusal; default true. */
  retry?: boolean
}

export interface CaptureEvents {
  'cs-ready': CustomEvent<ReadyDetail>
  'cs-consent': CustomEvent<ConsentDetail>
  'cs-step': CustomEvent<StepDetail>
  'cs-guidance': CustomEvent<GuidanceDetail>
  'cs-capture': CustomEvent<CaptureDetail>
  'cs-cancel': CustomEvent<null>
  'cs-error': CustomEvent<ErrorDetail>
}

export type Emit = <Name extends keyof CaptureEvents>(
  name: Name,
  detail: CaptureEvents[Name]['detail'],
) => void
