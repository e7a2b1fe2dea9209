/** Kinds of calls whose latencies are reported apart: a challenge of 40 frames takes many times as long as a photo. */
export const CALL_KINDS = ['verify', 'verify_challenge', 'enroll', 'enroll_challenge', 'other'] as const
export type CallKind = (typeof CALL_KINDS)[number]
