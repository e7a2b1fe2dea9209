/** Sessions of the hosted capture page, by their wire names: what is asked for, the link, and what came of it. */
import type { ErrorBody } from './errors.js'
import type { Action, ActionLike, EnrollResult, LivenessRequirement, VerifyResult } from './types.js'

/** The request for a session: whom its link is for, and what the capture must prove. */
export interface CaptureSessionFields<A extends ActionLike = Action> {
  user_id: string
  /** The call that the capture is for; default verify. */
  purpose?: 'verify' | 'enroll'
  /** As verify takes it; required unless the purpose is to enrol. */
  action?: A
  /** How the person can move the head; default both. */
  modes?: Array<'turn' | 'nod'>
  /** The checks that the capture must have passed, besides those that the installation requires. */
  require_liveness?: LivenessRequirement
  /** Only for an enrolment: as enroll takes it. */
  replace?: boolean
  /** Only for an enrolment that replaces: as enroll takes it. */
  verification_id?: string
  /**
   * `code`: the page first asks for `confirmation_code`, which you tell the person by another channel than the link. `none`: the link
   * is enough. Default `code` for an enrolment, `none` for a verify.
   */
  confirmation?: 'code' | 'none'
  /** Where the page leads when it is done, with `capture_session=<id>` in the query. The tenant must allow its origin. */
  return_url: string
  /** Language of the page; default: what the browser asks for. */
  locale?: 'en' | 'de' | 'fr' | 'es' | 'ja'
  /** Description of what the person confirms, in at most 200 characters: shown on the page. */
  description?: string
  /** The text that the person agrees to before the camera starts, instead of the tenant's. */
  consent?: { version: string; text: string }
}

/** A session that was just made. */
export interface CaptureSessionLink {
  /** Keep it with the person whom you send there: `verifyVerdict` takes it as `captureSessionId`. */
  session_id: string
  /** Where the person is sent. It opens in one browser, and is told only here. */
  url: string
  /** Six digits, told only here; null where none is asked for. */
  confirmation_code: string | null
  user_id: string
  purpose: 'verify' | 'enroll'
  /** Seconds in which the capture must be done. */
  expires_in: number
  expires_at: string
}

/**
 * - `open`: nobody has opened the link.
 * - `in_progress`: somebody has. A `result` is of a try that failed.
 * - `completed`: `result` is final: approved, enrolled, or the last refusal. Null where no capture was judged.
 * - `cancelled`: the person went back.
 * - `expired`: the time was over first.
 */
export type CaptureSessionStatus = 'open' | 'in_progress' | 'completed' | 'cancelled' | 'expired'

/** The answer that verify or enroll would have given to the capture; `status` tells the three apart. */
export type CaptureSessionResult =
  | { status: 200; body: VerifyResult }
  | { status: 201; body: EnrollResult }
  | { status: 403 | 404 | 409 | 422; body: ErrorBody }

export interface CaptureSession {
  session_id: string
  status: CaptureSessionStatus
  /** Captures that were judged or are being judged. */
  attempts: number
  /** The person's consent; null before. */
  consent: { version: string; at: string } | null
  /** The result of the last capture that was judged; null where none was. */
  result: CaptureSessionResult | null
  created_at: string
  expires_at: string
}
