/** What the component tells the page. */
import type { CaptureErrorCode } from './capture-error.js'
import type { CaptureStep } from './capture-plan.js'
import type { CapturedFrame } from './challenge-capture.js'
import type { CaptureGuidance } from './guidance-codes.js'

/** Of `cs-ready`: the camera's picture is shown, with as many pixels. */
export interface ReadyDetail {
  width: number
  height: number
}

/** Of `cs-step`: a step of the challenge is shown. */
export interface StepDetail {
  step: number
  name: CaptureStep
  steps: number
}

/** Of `cs-consent`: what was agreed to, and when; as `enroll` takes it. */
export interface ConsentDetail {
  /** The `consent` attribute. */
  id: string
  /** RFC 3339. */
  at: string
}

/** Of `cs-guidance`: what the person is told while this step is shown. */
export interface GuidanceDetail {
  step: CaptureStep
  /** The most urgent first, empty where nothing is left to be done; null where nobody answered. */
  guidance: readonly CaptureGuidance[] | null
}

/** Of `cs-capture`: JPEGs, not mirrored; of a challenge each with its step and time. */
export type CaptureDetail =
  | { mode: 'photo'; images: Blob[]; source: 'camera' | 'file' }
  | { mode: 'challenge'; frames: CapturedFrame[] }

/** Of `cs-error`: whether another try can succeed. */
export interface ErrorDetail {
  code: CaptureErrorCode
  recoverable: boolean
}

/** The outcome of a capture, as the page's backend decided. */
export interface CaptureOutcome {
  ok: boolean
  /** Shown to the person; default: a sentence of the component's. */
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
