/** What a series of frames must keep to, as a caller is told it. */
export const CAPTURE = {
  minFrames: 16,
  maxFrames: 40,
  minIntervalMs: 60,
  maxIntervalMs: 600,
  minDurationMs: 2_000,
  maxDurationMs: 20_000,
  /** Largest width of the face, as a share of the frame's. */
  maxFaceShare: 0.8,
  /** How much of the face's box must lie in the frame. */
  minShareInside: 0.9,
} as const
