/** The reason for which the frames of a capture fail. */
import type { LivenessGuidance } from './wire-types.js'

/** Findings about a capture that failed. They go only to the backend and the audit log: they would help an attacker. The person is shown only `mirrored`, which the camera has to end. */
export const FINDINGS = [
  'flat',
  'face_changed',
  'discontinuous',
  'replayed',
  'out_of_order',
  /** Every turn went the other way and all else is right, as it is with a camera that exchanges left and right. */
  'mirrored',
] as const

export interface CaptureFault {
  /** Advice to the person. */
  readonly guidance: LivenessGuidance
  /** The suspicion for the backend; absent for an honest mistake of the person. */
  readonly finding?: (typeof FINDINGS)[number]
}
