/** What an answer of verify or enroll means on the hosted page: done, another try, or not judged at all. */

import { GUIDANCE, type Guidance } from '../biometrics/challenge/frame-faults.js'
import type { ErrorCode } from '../lib/error-codes.js'
import type { CaptureEnding } from '../verification/capture-session-book.js'
import type { Reason } from '../verification/reasons.js'
import type { OwnAnswer } from './own-calls.js'

export const MAX_ATTEMPTS = 3

export interface CaptureOutcome {
  /** It counts as a try, and its answer is the backend's to have. */
  isJudged: boolean
  /** Another try could change nothing. */
  isFinal: boolean
  /** The page's last words to the person, where the answer is final and is no approval. */
  ending?: CaptureEnding
  /** What the person can do; never why they were refused. */
  advice: Guidance | 'again' | 'busy'
}

const NOT_JUDGED: CaptureOutcome = { isJudged: false, isFinal: false, advice: 'again' }
/** After these, no capture is looked at. */
const FINAL_REASONS = new Set<unknown>(['locked_out', 'reference_disabled'] satisfies Reason[])
/** Of the request and not of the person: a new challenge mends them, or waiting for the same request that is under way. */
const OF_REQUEST = new Set<unknown>([
  'challenge_not_found',
  'challenge_used',
  'challenge_expired',
  'challenge_mismatch',
  'idempotency_in_progress',
  'idempotency_key_reused',
] satisfies ErrorCode[])
const ADVICE_OF_CODE: Record<string, Guidance> = {
  face_not_found: 'no_face',
  multiple_faces: 'several_faces',
  different_people: 'several_faces',
  face_too_small: 'too_far',
}

export function outcomeOf({ status, body }: OwnAnswer): CaptureOutcome {
  if (status === 429 || status >= 500) return { ...NOT_JUDGED, advice: 'busy' }
  if (status === 200) {
    const { verdict, reason, liveness } = body as {
      verdict?: string
      reason?: string
      liveness?: { guidance?: unknown }
    }
    const guidance = GUIDANCE.find((known) => known === liveness?.guidance)
    return {
      isJudged: true,
      isFinal: verdict === 'approved' || FINAL_REASONS.has(reason),
      ...(FINAL_REASONS.has(reason) ? { ending: 'locked_out' } : {}),
      advice: guidance ?? 'again',
    }
  }
  if (status === 201) return { isJudged: true, isFinal: true, advice: 'again' }
  if (body.error === 'biometric_rejected')
    return { isJudged: true, isFinal: false, advice: ADVICE_OF_CODE[String(body.code)] ?? 'again' }
  // 400 and the like: what the browser sent is no capture. 499: it hung up.
  if (OF_REQUEST.has(body.code) || ![403, 404, 409, 422].includes(status)) return NOT_JUDGED
  const ending = body.code === 'locked_out' ? 'locked_out' : 'refused'
  return { isJudged: true, isFinal: true, ending, advice: 'again' }
}
