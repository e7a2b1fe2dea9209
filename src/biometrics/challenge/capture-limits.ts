/** Limits of a series of frames; the API sends them to callers. */
export const CAPTURE = {
  minFrames: 16,
  maxFrames: 40,
  minIntervalMs: 60,
  maxIntervalMs: 600,
  /**
   * Longest time of one gap that is longer than the interval, and between frames with a face: two frames without one in a row at five
   * a second, with some unevenness. The head may move no further in it than in a short one.
   */
  maxGapMs: 1_000,
  minDurationMs: 2_000,
  maxDurationMs: 20_000,
  /** Largest width of the face, as a share of the frame's width. */
  maxFaceShare: 0.8,
  /** Smallest share of the face's box that must lie in the frame. */
  minShareInside: 0.9,
} as const
