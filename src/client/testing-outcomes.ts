/** The outcomes of the service's sandbox, which the end of a `user_id` chooses. */
import type { RejectionReason } from './types.js'

/** What the end of a `user_id` has enrol and verify refused with. */
export const REFUSED = {
  '+no_face': 'face_not_found',
  '+multiple_faces': 'multiple_faces',
  '+different_people': 'different_people',
} as const
export const REJECTED: Record<string, RejectionReason> = {
  '+no_match': 'no_match',
  '+spoof': 'liveness_failed',
  '+locked_out': 'locked_out',
}
const OTHER_OUTCOMES = ['+match', '+rate_limited', '+unavailable', '+replayed', '+slow', '+expired'] as const

/** The ends of a `user_id` that choose an outcome: those of the service's sandbox. */
export const FAKE_OUTCOMES: readonly string[] = [
  '+low_quality',
  ...Object.keys(REFUSED),
  ...Object.keys(REJECTED),
  ...OTHER_OUTCOMES,
]

export function outcomeOf(userId: string): string | null {
  return FAKE_OUTCOMES.find((outcome) => userId.endsWith(outcome)) ?? null
}
