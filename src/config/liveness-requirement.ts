/** The kinds of liveness that may be required of a capture. This file imports nothing, so that every room can use it. */
export const LIVENESS_REQUIREMENTS = ['none', 'passive', 'active', 'both'] as const
export type LivenessRequirement = (typeof LIVENESS_REQUIREMENTS)[number]
