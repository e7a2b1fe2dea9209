/** The texts of the component, by name. */
import type { CaptureErrorCode } from './capture-error.js'
import type { CaptureStep } from './capture-plan.js'
import type { CaptureGuidance, PhotoGuidance } from './guidance-codes.js'

export type CaptureMessages = Record<
  | 'intro_photo'
  | 'intro_challenge'
  | 'agree'
  | 'start'
  | 'choose_file'
  | 'opening'
  | 'ready_photo'
  | 'ready_challenge'
  | 'take_photo'
  | 'begin'
  | 'cancel'
  | 'retry'
  | 'done'
  | 'done_file'
  | 'checking'
  | 'accepted'
  | 'unanswered'
  | 'camera'
  | 'progress'
  | 'good_photo'
  | 'good_challenge'
  | 'hold_still'
  | 'reached'
  | CaptureStep
  | CaptureGuidance
  | CaptureErrorCode
  | PhotoGuidance,
  string
>
