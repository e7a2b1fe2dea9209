/** Carries out the outcomes of the sandbox that need the service's clock and errors; the rules stand in `contract/sandbox-rules.ts`. */
import { BiometricError } from '../../biometrics/biometric-error.js'
import {
  RETRY_AFTER_SECONDS,
  SANDBOX_OUTCOMES,
  type SandboxOutcome,
  SLOW_MS,
  sandboxOutcome,
  sandboxRule,
  scriptedGuidanceOf,
} from '../../contract/sandbox-rules.js'
import { type Clock, SECOND_MS } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'

const FRAMES_FAIL = 'where a challenge is sent: its frames fail for this, as `liveness` then says'

/** Effects of the endings that do more than to have frames fail. */
const OWN_EFFECTS: Readonly<Partial<Record<SandboxOutcome, string>>> = {
  '+match': 'verify approves',
  '+no_match': 'verify rejects with reason no_match',
  '+spoof': 'enroll gets liveness_failed, verify rejects with reason liveness_failed',
  '+low_quality': 'low_quality; guidance says blurred',
  '+no_face': 'face_not_found; guidance says no_face',
  '+multiple_faces': 'multiple_faces; guidance says several_faces',
  '+different_people': 'different_people, as if the last image showed somebody else',
  '+rate_limited': 'rate_limited, on every endpoint that takes a user',
  '+unavailable': 'overloaded, on every endpoint that takes a user',
  '+locked_out':
    'verify rejects with reason locked_out and a Retry-After of 60 s; challenges and capture sessions are refused with locked_out',
  '+replayed':
    'verify marks replay.suspected and rejects with reason replayed_capture, or approves where the installation only reports replays',
  '+slow': 'enroll and verify answer after 5 s',
  '+expired': 'verify approves with a JWT that has expired',
  '+challenge_expired': 'challenge_expired, where a challenge is sent',
}

/** Effect of each ending of a user id, as the API's documentation words it. */
export const SANDBOX_EFFECTS: Readonly<Record<string, string>> = Object.fromEntries(
  SANDBOX_OUTCOMES.map((ending) => {
    const isGuided = scriptedGuidanceOf(ending) !== undefined
    return [ending, OWN_EFFECTS[ending] ?? (isGuided ? `${FRAMES_FAIL}; guidance says it too` : FRAMES_FAIL)]
  }),
)

/**
 * Waits 5 s where the user id ends in `+slow`.
 * @throws BiometricError cancelled when the caller closes the connection
 */
export async function waitAsScripted(userId: string, clock: Clock, signal: AbortSignal): Promise<void> {
  if (sandboxOutcome(userId) !== '+slow') return
  await clock.sleep(SLOW_MS, signal).catch(() => {
    throw new BiometricError('cancelled', 'The caller hung up.')
  })
}

/**
 * Refuses a user whose id asks for it, before any image is looked at.
 * @throws DomainError rate_limited, overloaded
 */
export function refuseScripted(userId: string): void {
  const { busy } = sandboxRule(userId)
  if (busy) throw new DomainError(busy, { retryAfterMs: RETRY_AFTER_SECONDS * SECOND_MS })
}
