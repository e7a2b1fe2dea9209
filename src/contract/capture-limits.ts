/** Limits of a series of frames: what a challenge says to its caller, and what its frames are held to. */
export const CAPTURE_LIMITS = {
  min_frames: 16,
  max_frames: 40,
  min_interval_ms: 60,
  max_interval_ms: 600,
  /**
   * Longest time of one gap that is longer than the interval, and between frames with a face: two frames without one in a row at five
   * a second, with some unevenness. The head may move no further in it than in a short one.
   */
  max_gap_ms: 1_000,
  min_duration_ms: 2_000,
  max_duration_ms: 20_000,
} as const
