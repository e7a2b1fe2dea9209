/** The outcomes of the service's sandbox, which the end of a `user_id` chooses. */
import type { LivenessFinding, LivenessGuidance, RejectionReason } from './types.js'

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
const OTHER_OUTCOMES = [
  '+match',
  '+rate_limited',
  '+unavailable',
  '+replayed',
  '+slow',
  '+expired',
  '+challenge_expired',
] as const

/** What the end of a `user_id` has the frames of a challenge fail for. */
export const CHALLENGE_FAULTS: Record<string, { guidance: LivenessGuidance; finding?: LivenessFinding }> = {
  '+no_face': { guidance: 'no_face' },
  '+multiple_faces': { guidance: 'several_faces' },
  '+too_far': { guidance: 'too_far' },
  '+too_close': { guidance: 'too_close' },
  '+cut_off': { guidance: 'cut_off' },
  '+too_dark': { guidance: 'too_dark' },
  '+too_bright': { guidance: 'too_bright' },
  '+blurred': { guidance: 'blurred' },
  '+not_frontal': { guidance: 'not_frontal' },
  '+wrong_direction': { guidance: 'wrong_direction' },
  '+turn_more': { guidance: 'turn_more' },
  '+nod_more': { guidance: 'nod_more' },
  '+slower': { guidance: 'slower' },
  '+flat': { guidance: 'try_again', finding: 'flat' },
  '+face_changed': { guidance: 'try_again', finding: 'face_changed' },
  '+discontinuous': { guidance: 'slower', finding: 'discontinuous' },
  '+out_of_order': { guidance: 'try_again', finding: 'out_of_order' },
  '+replayed': { guidance: 'try_again', finding: 'replayed' },
}

/** The ends of a `user_id` that choose an outcome: those of the service's sandbox. */
export const FAKE_OUTCOMES: readonly string[] = [
  ...new Set([
    '+low_quality',
    ...Object.keys(REFUSED),
    ...Object.keys(REJECTED),
    ...OTHER_OUTCOMES,
    ...Object.keys(CHALLENGE_FAULTS),
  ]),
]

export function outcomeOf(userId: string): string | null {
  return FAKE_OUTCOMES.find((outcome) => userId.endsWith(outcome)) ?? null
}
