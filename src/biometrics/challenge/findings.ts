/** Findings go only to the backend and the audit log: they would help an attacker. The person is shown only `mirrored`, which the camera has to end. */
export const FINDINGS = [
  'flat',
  'face_changed',
  'discontinuous',
  'replayed',
  'out_of_order',
  /** Every turn went the other way and all else is right, as it is with a camera that exchanges left and right. */
  'mirrored',
] as const
export type ChallengeFinding = (typeof FINDINGS)[number]
