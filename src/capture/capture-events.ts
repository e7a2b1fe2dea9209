/** What the component tells the page. */
import type { CaptureErrorCode } from './capture-error.js'
import type { CaptureStep } from './capture-plan.js'
import type { CapturedFrame } from './challenge-capture.js'

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

/** Of `cs-capture`: JPEGs as the camera saw them, not mirrored; of a challenge each with its step and time. */
export type CaptureDetail = { mode: 'photo'; images: Blob[] } | { mode: 'challenge'; frames: CapturedFrame[] }

/** Of `cs-error`: whether another try can succeed. */
export interface ErrorDetail {
  code: CaptureErrorCode
  recoverable: boolean
}

export interface CaptureEvents {
  'cs-ready': CustomEvent<ReadyDetail>
  'cs-step': CustomEvent<StepDetail>
  'cs-capture': CustomEvent<CaptureDetail>
  'cs-cancel': CustomEvent<null>
  'cs-error': CustomEvent<ErrorDetail>
}
