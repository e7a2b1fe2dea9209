/** The sandbox's script: the outcomes that the caller chooses by the end of the user id. */

import { BiometricError } from '../biometrics/biometric-error.js'
import { type ChallengeFault, FINDINGS } from '../biometrics/challenge/active-geometry.js'
import { FRAME_GUIDANCE, type FrameGuidance, GUIDANCE } from '../biometrics/challenge/frame-faults.js'
import { modeOf, type Step } from '../biometrics/challenge/steps.js'
import { type Clock, SECOND_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { VerifyScript } from './biometric-provider.js'

const OF_CHALLENGE = 'where a challenge is sent: its frames fail for this, as `liveness` then says'
const OF_FRAME = `${OF_CHALLENGE}; guidance says it too`

/** What a `user_id` may end in, and what it brings about. */
export const SANDBOX_OUTCOMES = {
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
  '+too_far': OF_FRAME,
  '+too_close': OF_FRAME,
  '+cut_off': OF_FRAME,
  '+too_dark': OF_FRAME,
  '+too_bright': OF_FRAME,
  '+blurred': OF_FRAME,
  '+not_frontal': OF_FRAME,
  '+wrong_direction': OF_FRAME,
  '+turn_more': OF_FRAME,
  '+nod_more': OF_FRAME,
  '+slower': OF_CHALLENGE,
  '+flat': OF_CHALLENGE,
  '+face_changed': OF_CHALLENGE,
  '+discontinuous': OF_CHALLENGE,
  '+out_of_order': OF_CHALLENGE,
} as const

type Suffix = keyof typeof SANDBOX_OUTCOMES

export function sandboxSuffix(userId: string): Suffix | null {
  const suffixes = Object.keys(SANDBOX_OUTCOMES) as Suffix[]
  return suffixes.find((suffix) => userId.endsWith(suffix)) ?? null
}

/** What a challenge's frames fail for, whatever they show; undefined for frames that pass. */
export function scriptedFault(userId: string): ChallengeFault | undefined {
  const suffix = sandboxSuffix(userId)
  if (suffix === null) return undefined
  if (suffix === '+multiple_faces') return { guidance: 'several_faces' }
  if (suffix === '+replayed') return { guidance: 'try_again', finding: 'replayed' }
  const name = suffix.slice(1)
  const guidance = GUIDANCE.find((known) => known === name)
  if (guidance) return { guidance }
  const finding = FINDINGS.find((known) => known === name)
  return finding && { guidance: finding === 'discontinuous' ? 'slower' : 'try_again', finding }
}

/** What a frame is told, whatever it shows: while the person looks ahead nothing of a movement, and the other way round. */
export function scriptedGuidance(userId: string, step: Step): FrameGuidance[] {
  const name = sandboxSuffix(userId) === '+low_quality' ? 'blurred' : scriptedFault(userId)?.guidance
  const guidance = FRAME_GUIDANCE.find((known) => known === name)
  return guidance && suits(guidance, step) ? [guidance] : []
}

function suits(guidance: FrameGuidance, step: Step): boolean {
  switch (guidance) {
    case 'blurred':
    case 'not_frontal':
      return step === 'frontal'
    case 'wrong_direction':
      return step !== 'frontal'
    case 'turn_more':
    case 'nod_more':
      return step !== 'frontal' && guidance === `${modeOf(step)}_more`
    default:
      return true
  }
}

const LOCKED_OUT_MS = 60_000
const SLOW_MS = 5_000

/** What the script says of a verify, besides what the comparison shows. */
export function sandboxScript(userId: string): VerifyScript {
  const suffix = sandboxSuffix(userId)
  return {
    ...(suffix === '+locked_out' ? { lockedOutForMs: LOCKED_OUT_MS } : {}),
    replayed: suffix === '+replayed',
    expired: suffix === '+expired',
    isScripted: suffix !== null,
  }
}

/** @throws BiometricError cancelled when the caller hangs up */
export async function waitAsScripted(userId: string, clock: Clock, signal: AbortSignal): Promise<void> {
  if (sandboxSuffix(userId) !== '+slow') return
  await clock.sleep(SLOW_MS, signal).catch(() => {
    throw new BiometricError('cancelled', 'The caller hung up.')
  })
}

/** The outcomes that do not depend on an image. @throws DomainError rate_limited, overloaded */
export function refuseScripted(userId: string): void {
  const suffix = sandboxSuffix(userId)
  if (suffix === '+rate_limited') throw new DomainError('rate_limited', { retryAfterMs: SECOND_MS })
  if (suffix === '+unavailable') throw new DomainError('overloaded', { retryAfterMs: SECOND_MS })
}
