/** Translates an answer of verify or enroll for the hosted page: done, another try, or not judged at all. */

import { GUIDANCE, type Guidance } from '../../../../clients/capture/guidance-codes.js'
import type { ErrorCode } from '../../../contract/error-codes.js'
import type { Reason } from '../../../contract/verdict.js'
import type { InternalAnswer } from '../../../http/internal-api.js'
import { CHALLENGE_ERRORS } from '../../challenges/exports.js'
import type { CaptureEnding, CaptureSuccessor } from '../capture-session-book.js'

export const MAX_ATTEMPTS = 3

export interface CaptureOutcome {
  /** Whether the capture counts as a try and its result is reported to the backend. */
  isJudged: boolean
  /** Whether another try is pointless. */
  isFinal: boolean
  /** The ending that the page shows to the person. Only for a final answer that is no approval. */
  ending?: Exclude<CaptureEnding, 'disowned' | 'number'>
  /** The person who has to act now that this one has done everything that was asked. */
  waitsFor?: CaptureSuccessor
  /** Advice to the person, which never says why the capture was refused. */
  advice: Guidance | 'busy'
}

const NOT_JUDGED: CaptureOutcome = { isJudged: false, isFinal: false, advice: 'try_again' }
/** After a rejection for one of these reasons, another capture would change nothing. */
const END_OF_REASON: Partial<Record<Reason, Pick<CaptureOutcome, 'ending' | 'waitsFor'>>> = {
  locked_out: { ending: 'locked_out' },
  reference_disabled: { ending: 'locked_out' },
  second_approval_required: { waitsFor: 'second_person' },
  // Another capture of the same person changes nothing.
  same_person: {},
  // The page says no more than after a success: otherwise it would tell an attacker that the capture was noticed.
  review_required: {},
}
/**
 * Errors of the request, which the person cannot help: a new challenge solves them, or waiting for the same request that is still being
 * processed.
 */
const REQUEST_ERRORS = new Set<unknown>([
  ...CHALLENGE_ERRORS,
  'idempotency_in_progress',
  'idempotency_key_reused',
] satisfies ErrorCode[])
const ADVICE_OF_CODE: Record<string, Guidance> = {
  face_not_found: 'no_face',
  multiple_faces: 'several_faces',
  different_people: 'several_faces',
  face_too_small: 'too_far',
  face_not_upright: 'not_upright',
}

/** @param isDiscreet whether the page must not show whether the user exists: then these answers look like a face that did not match */
export function outcomeOf(answer: InternalAnswer, isDiscreet = false): CaptureOutcome {
  const outcome = outcomeByAnswer(answer)
  return isDiscreet && tellsOfUser(answer) ? withoutUser(answer, outcome) : outcome
}

/** Whether the answer shows that the user does not exist, or is locked out. */
function tellsOfUser({ status, body }: InternalAnswer): boolean {
  const { code, reason } = body
  if (status === 200) return reason === 'locked_out' || reason === 'reference_disabled'
  return code === 'reference_not_found' || code === 'reference_model_mismatch' || code === 'locked_out'
}

/** A rejection that can be tried again, with the advice on the capture. */
function withoutUser({ body }: InternalAnswer, { advice }: CaptureOutcome): CaptureOutcome {
  const [detail] = (body.details ?? []) as Array<{ guidance?: string }>
  return { isJudged: true, isFinal: false, advice: adviceOf(detail?.guidance) ?? advice }
}

/** The code, where it is meant for the person. */
function adviceOf(code: string | undefined): Guidance | undefined {
  return GUIDANCE.find((known) => known === code)
}

function outcomeByAnswer({ status, body }: InternalAnswer): CaptureOutcome {
  if (status === 429 || status >= 500) return { ...NOT_JUDGED, advice: 'busy' }
  if (status === 200) {
    const { verdict, reason, liveness } = body as {
      verdict?: string
      reason?: Reason | null
      liveness?: { guidance?: string[] } | null
    }
    const end = reason ? END_OF_REASON[reason] : undefined
    return {
      isJudged: true,
      isFinal: verdict === 'approved' || end !== undefined,
      ...end,
      advice: adviceOf(liveness?.guidance?.[0]) ?? 'try_again',
    }
  }
  if (status === 201) return { isJudged: true, isFinal: true, advice: 'try_again' }
  if (body.error === 'biometric_rejected')
    return { isJudged: true, isFinal: false, advice: ADVICE_OF_CODE[String(body.code)] ?? 'try_again' }
  // A status such as 400 says that the browser sent no capture. 499 says that the browser closed the connection.
  if (REQUEST_ERRORS.has(body.code) || ![403, 404, 409, 422].includes(status)) return NOT_JUDGED
  const ending = body.code === 'locked_out' ? 'locked_out' : 'refused'
  return { isJudged: true, isFinal: true, ending, advice: 'try_again' }
}
