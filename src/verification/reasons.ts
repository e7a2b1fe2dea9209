/** Reasons of a rejection. */
export const REASONS = [
  'no_match',
  'liveness_failed',
  'replayed_capture',
  'locked_out',
  'reference_disabled',
  'second_approval_required',
  'same_person',
  'review_required',
] as const
export type Reason = (typeof REASONS)[number]
