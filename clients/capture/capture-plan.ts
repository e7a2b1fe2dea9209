/** Plans a challenge: when each step is shown and when frames are taken. */

/** `left` and `right` are the person's own. */
export type CaptureStep = 'frontal' | 'turn_left' | 'turn_right' | 'nod_up' | 'nod_down'

/** The part of the answer of `POST /v1/challenges` that the component needs. The nonce can stay in the backend. */
export interface CaptureChallenge {
  steps: CaptureStep[]
  capture: {
    min_frames: number
    max_frames: number
    min_interval_ms: number
    max_interval_ms: number
    /** One gap may be as long as this. Services of earlier versions allow none. */
    max_gap_ms?: number
    min_duration_ms: number
    max_duration_ms: number
  }
  /** Seconds, counted from the moment at which the component is given the challenge. */
  expires_in: number
}

export interface CapturePlan {
  intervalMs: number
  durationMs: number
}

/** Extra frames in the plan: as many may be lost in a slow moment before the series is too short. */
const SPARE_FRAMES = 4

/**
 * A longer interval gives more time for each step where the number of frames is the limit.
 * @param wanted milliseconds between two frames, and for which a step is shown
 */
export function planCapture(
  { steps, capture }: Pick<CaptureChallenge, 'steps' | 'capture'>,
  wanted: { intervalMs: number; stepMs: number },
): CapturePlan {
  const shortest = Math.max(wanted.intervalMs, capture.min_interval_ms)
  const leastFrames = Math.min(capture.min_frames + SPARE_FRAMES, capture.max_frames)
  const durationMs = Math.min(
    // The last frame comes an interval before the end.
    Math.max(steps.length * wanted.stepMs, leastFrames * shortest, capture.min_duration_ms + shortest),
    capture.max_duration_ms,
    capture.max_frames * capture.max_interval_ms,
  )
  // The interval cannot be shorter than the greatest number of frames allows.
  const intervalMs = Math.min(
    Math.max(shortest, Math.ceil(durationMs / capture.max_frames)),
    capture.max_interval_ms,
  )
  return { intervalMs, durationMs }
}

/** Index of the step that is shown at a time of the capture. */
export function stepAt(elapsedMs: number, steps: number, { durationMs }: CapturePlan): number {
  return Math.min(Math.floor((elapsedMs * steps) / durationMs), steps - 1)
}
