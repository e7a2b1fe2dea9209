/** What must have been checked of a capture's liveness. A leaf. */
export const LIVENESS_REQUIREMENTS = ['none', 'passive', 'active', 'both'] as const
export type LivenessRequirement = (typeof LIVENESS_REQUIREMENTS)[number]
