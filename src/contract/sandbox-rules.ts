/** Rules of the sandbox, and of the SDK's service in memory: the outcome that the ending of a user id chooses. */
import type { CaptureFault } from './capture-fault.js'
import type { ErrorCode } from './error-codes.js'
import type {
  ChallengeStep,
  FrameGuidance,
  Liveness,
  LivenessFinding,
  LivenessGuidance,
  RejectionReason,
} from './wire-types.js'

interface SandboxRule {
  /** Code with which every endpoint that takes a user refuses this one. */
  readonly busy?: 'rate_limited' | 'overloaded'
  /** Code with which enroll and verify refuse photos. */
  readonly refusal?: 'face_not_found' | 'multiple_faces' | 'different_people'
  /** Reason with which verify rejects before replays are looked at. */
  readonly rejection?: RejectionReason
  /** Fault of the frames of a challenge; absent for frames that pass. */
  readonly fault?: CaptureFault
}

function fault(guidance: LivenessGuidance, finding?: LivenessFinding): SandboxRule {
  return { fault: { guidance, ...(finding && { finding }) } }
}

const RULES = {
  '+match': {},
  '+no_match': { rejection: 'no_match' },
  '+spoof': { rejection: 'liveness_failed' },
  '+low_quality': {},
  '+no_face': { refusal: 'face_not_found', ...fault('no_face') },
  '+multiple_faces': { refusal: 'multiple_faces', ...fault('several_faces') },
  '+different_people': { refusal: 'different_people' },
  '+rate_limited': { busy: 'rate_limited' },
  '+unavailable': { busy: 'overloaded' },
  '+locked_out': { rejection: 'locked_out' },
  '+replayed': fault('try_again', 'replayed'),
  '+slow': {},
  '+expired': {},
  '+challenge_expired': {},
  '+too_far': fault('too_far'),
  '+too_close': fault('too_close'),
  '+cut_off': fault('cut_off'),
  '+too_dark': fault('too_dark'),
  '+too_bright': fault('too_bright'),
  '+blurred': fault('blurred'),
  '+not_frontal': fault('not_frontal'),
  '+not_upright': fault('not_upright'),
  '+wrong_direction': fault('wrong_direction'),
  '+mirrored': fault('mirrored', 'mirrored'),
  '+turn_more': fault('turn_more'),
  '+nod_more': fault('nod_more'),
  '+slower': fault('slower'),
  '+flat': fault('try_again', 'flat'),
  '+face_changed': fault('try_again', 'face_changed'),
  '+discontinuous': fault('slower', 'discontinuous'),
  '+out_of_order': fault('try_again', 'out_of_order'),
} as const satisfies Record<string, SandboxRule>

/** An ending of a user id that chooses an outcome, such as `+no_match`. */
export type SandboxOutcome = keyof typeof RULES

/** Every ending that chooses an outcome. */
export const SANDBOX_OUTCOMES = Object.keys(RULES) as SandboxOutcome[]

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
  return SANDBOX_OUTCOMES.find((ending) => userId.endsWith(ending)) ?? null
}

/** @returns what the ending of the user id asks for; an empty rule where it chooses no outcome */
export function sandboxRule(userId: string): SandboxRule {
  const outcome = sandboxOutcome(userId)
  return outcome === null ? {} : RULES[outcome]
}

/** @returns index of the photo that a refusal names: the last of photos of different people, else the first */
export function refusedPhoto(code: ErrorCode, photos: number): number {
  return code === 'different_people' ? photos - 1 : 0
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
  const guidance = scriptedGuidanceOf(userId)
  return guidance !== undefined && suits(guidance, step) ? [guidance] : []
}

/** The advice that this user gets on a frame of a step that it fits; undefined for none. */
export function scriptedGuidanceOf(userId: string): FrameGuidance | undefined {
  const guidance = sandboxOutcome(userId) === '+low_quality' ? 'blurred' : sandboxRule(userId).fault?.guidance
  return guidance === 'mirrored' || guidance === 'slower' || guidance === 'try_again' ? undefined : guidance
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
