/**
 * Rules of the sandbox: the outcome that the ending of a user id chooses. The service's sandbox and `countersign/client/testing`
 * both decide by them. The module is pure and imports nothing but types, so that both sides can hold it.
 */
import type { ErrorCode } from './error-codes.js'
import type {
  ChallengeStep,
  FrameGuidance,
  Liveness,
  LivenessFinding,
  LivenessGuidance,
  RejectionReason,
} from './types.js'

/** The reason for which the frames of a challenge fail. */
export interface ChallengeFault {
  /** Advice to the person. */
  readonly guidance: LivenessGuidance
  /** The suspicion that the backend is told; absent for an honest mistake of the person. */
  readonly finding?: LivenessFinding
}

interface SandboxRule {
  /** The effect, as the API's documentation words it. */
  readonly effect: string
  /** Code with which enroll and verify refuse photos. */
  readonly refusal?: 'face_not_found' | 'multiple_faces' | 'different_people'
  /** Reason with which verify rejects. */
  readonly rejection?: RejectionReason
  readonly fault?: ChallengeFault
}

const FRAMES_FAIL = 'where a challenge is sent: its frames fail for this, as `liveness` then says'

/** A fault that the guidance for single frames names too. */
function frameFault(guidance: FrameGuidance): SandboxRule {
  return { effect: `${FRAMES_FAIL}; guidance says it too`, fault: { guidance } }
}

/** A fault that only a series of frames can have. */
function seriesFault(guidance: 'slower' | 'try_again', finding?: LivenessFinding): SandboxRule {
  return { effect: FRAMES_FAIL, fault: { guidance, ...(finding && { finding }) } }
}

const RULES = {
  '+match': { effect: 'verify approves' },
  '+no_match': { effect: 'verify rejects with reason no_match', rejection: 'no_match' },
  '+spoof': {
    effect: 'enroll gets liveness_failed, verify rejects with reason liveness_failed',
    rejection: 'liveness_failed',
  },
  '+low_quality': { effect: 'low_quality; guidance says blurred' },
  '+no_face': {
    effect: 'face_not_found; guidance says no_face',
    refusal: 'face_not_found',
    fault: { guidance: 'no_face' },
  },
  '+multiple_faces': {
    effect: 'multiple_faces; guidance says several_faces',
    refusal: 'multiple_faces',
    fault: { guidance: 'several_faces' },
  },
  '+different_people': {
    effect: 'different_people, as if the last image showed somebody else',
    refusal: 'different_people',
  },
  '+rate_limited': { effect: 'rate_limited, on every endpoint that takes a user' },
  '+unavailable': { effect: 'overloaded, on every endpoint that takes a user' },
  '+locked_out': {
    effect:
      'verify rejects with reason locked_out and a Retry-After of 60 s; challenges and capture sessions are refused with locked_out',
    rejection: 'locked_out',
  },
  '+replayed': {
    effect:
      'verify marks replay.suspected and rejects with reason replayed_capture, or approves where the installation only reports replays',
    fault: { guidance: 'try_again', finding: 'replayed' },
  },
  '+slow': { effect: 'enroll and verify answer after 5 s' },
  '+expired': { effect: 'verify approves with a JWT that has expired' },
  '+challenge_expired': { effect: 'challenge_expired, where a challenge is sent' },
  '+too_far': frameFault('too_far'),
  '+too_close': frameFault('too_close'),
  '+cut_off': frameFault('cut_off'),
  '+too_dark': frameFault('too_dark'),
  '+too_bright': frameFault('too_bright'),
  '+blurred': frameFault('blurred'),
  '+not_frontal': frameFault('not_frontal'),
  '+wrong_direction': frameFault('wrong_direction'),
  '+turn_more': frameFault('turn_more'),
  '+nod_more': frameFault('nod_more'),
  '+slower': seriesFault('slower'),
  '+flat': seriesFault('try_again', 'flat'),
  '+face_changed': seriesFault('try_again', 'face_changed'),
  '+discontinuous': seriesFault('slower', 'discontinuous'),
  '+out_of_order': seriesFault('try_again', 'out_of_order'),
} as const satisfies Record<string, SandboxRule>

/** An ending of a user id that chooses an outcome, such as `+no_match`. */
export type SandboxOutcome = keyof typeof RULES

/** The endings that choose an outcome, each with its effect as the API's documentation words it. */
export const SANDBOX_OUTCOMES = Object.fromEntries(
  Object.entries(RULES).map(([ending, { effect }]) => [ending, effect]),
) as Record<SandboxOutcome, string>

/** Model id of references and verdicts in the sandbox. References outlive a change of the model pack. */
export const SANDBOX_MODEL = 'sandbox@1'
/** How long a user with the ending `+locked_out` stays locked out, in seconds. */
export const LOCKED_OUT_SECONDS = 60
/** How long enroll and verify wait for a user with the ending `+slow`, in milliseconds. */
export const SLOW_MS = 5_000
/** `Retry-After` of `+rate_limited` and `+unavailable`, in seconds. */
export const RETRY_AFTER_SECONDS = 1
/** Photos in a reference that was made from a challenge: one straight ahead at its beginning, one at its end. */
export const CHALLENGE_PHOTOS = 2
/** Sharpness of the first photo of a user with the ending `+low_quality`: below the bounds of enroll and verify. */
export const POOR_SHARPNESS = 1.5

/** @returns the ending of the user id that chooses an outcome, or null where none does */
export function sandboxOutcome(userId: string): SandboxOutcome | null {
  const endings = Object.keys(RULES) as SandboxOutcome[]
  return endings.find((ending) => userId.endsWith(ending)) ?? null
}

function ruleOf(userId: string): SandboxRule | undefined {
  const outcome = sandboxOutcome(userId)
  return outcome === null ? undefined : RULES[outcome]
}

/** @returns the code with which every endpoint that takes a user refuses this one, or null */
export function busyRefusal(userId: string): 'rate_limited' | 'overloaded' | null {
  const outcome = sandboxOutcome(userId)
  return outcome === '+rate_limited' ? 'rate_limited' : outcome === '+unavailable' ? 'overloaded' : null
}

/** @returns the code with which enroll and verify refuse photos of this user, or null */
export function photoRefusal(userId: string): SandboxRule['refusal'] | null {
  return ruleOf(userId)?.refusal ?? null
}

/** @returns index of the photo that a refusal names: the last of photos of different people, else the first */
export function refusedPhoto(code: ErrorCode, photos: number): number {
  return code === 'different_people' ? photos - 1 : 0
}

/** @returns true where the first photo of this user is too poor to enroll or verify with */
export function isFirstPhotoPoor(userId: string): boolean {
  return sandboxOutcome(userId) === '+low_quality'
}

/** @returns the reason for which verify rejects this user before replays are looked at, or null */
export function scriptedRejection(userId: string): RejectionReason | null {
  return ruleOf(userId)?.rejection ?? null
}

/** @returns the fault of the frames of a challenge, or undefined for frames that pass */
export function scriptedFault(userId: string): ChallengeFault | undefined {
  return ruleOf(userId)?.fault
}

/**
 * @param checksLiveness whether the model pack of the installation checks liveness; an attack that `+spoof` asks for is reported
 *   in any case
 */
export function scriptedLiveness(
  userId: string,
  checksLiveness: boolean,
): Pick<Liveness, 'checked' | 'score' | 'passed'> {
  if (sandboxOutcome(userId) === '+spoof') return { checked: true, score: 0.02, passed: false }
  return checksLiveness
    ? { checked: true, score: 0.99, passed: true }
    : { checked: false, score: null, passed: null }
}

/** Advice on one frame: nothing about a movement while the person looks ahead, and only that during a movement. */
export function scriptedGuidance(userId: string, step: ChallengeStep): FrameGuidance[] {
  const guidance = isFirstPhotoPoor(userId) ? 'blurred' : scriptedFault(userId)?.guidance
  return guidance !== undefined && isForFrames(guidance) && suits(guidance, step) ? [guidance] : []
}

function isForFrames(guidance: LivenessGuidance): guidance is FrameGuidance {
  return guidance !== 'slower' && guidance !== 'try_again'
}

function suits(guidance: FrameGuidance, step: ChallengeStep): boolean {
  switch (guidance) {
    case 'blurred':
    case 'not_frontal':
      return step === 'frontal'
    case 'wrong_direction':
      return step !== 'frontal'
    case 'turn_more':
      return step.startsWith('turn_')
    case 'nod_more':
      return step.startsWith('nod_')
    default:
      return true
  }
}

/** Outcomes of a verify that do not depend on the comparison. */
export interface SandboxScript {
  /** Time for which the user counts as locked out, in milliseconds; absent for a user who is not. */
  lockedOutForMs?: number
  /** Whether the capture counts as seen before. */
  replayed: boolean
  /** Whether the JWT of the verdict has expired already. */
  expired: boolean
  /** Whether the user id names an outcome, so that no enrollment is needed. */
  isScripted: boolean
}

export function sandboxScript(userId: string): SandboxScript {
  const outcome = sandboxOutcome(userId)
  return {
    ...(outcome === '+locked_out' ? { lockedOutForMs: 1000 * LOCKED_OUT_SECONDS } : {}),
    replayed: outcome === '+replayed',
    expired: outcome === '+expired',
    isScripted: outcome !== null,
  }
}
