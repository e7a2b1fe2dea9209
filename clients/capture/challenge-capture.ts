/** Takes the frames of a challenge while its steps are shown one after the other. */
import { CaptureError } from './capture-error.js'
import type { CapturedFrame } from './capture-events.js'
import { type CaptureChallenge, type CapturePlan, stepAt } from './capture-plan.js'

/** The frames of a camera. */
export interface FrameSource {
  readonly isUpright: boolean
  /** Waits for a frame that was not taken yet. */
  nextFrame(signal: AbortSignal): Promise<void>
  take(): Promise<Blob>
}

export interface ChallengeCapture {
  challenge: CaptureChallenge
  plan: CapturePlan
  grabber: FrameSource
  /** Called before each frame with the step that is shown for it and the share of the time that has passed, 0 to 1. */
  onProgress(step: number, share: number): void
  signal: AbortSignal
}

/**
 * Returns the frames, or none when the person gave up.
 * @throws CaptureError too_slow when the camera or the device do not keep to the limits of the challenge; no_picture, rotated
 */
export async function captureChallenge(capture: ChallengeCapture): Promise<CapturedFrame[]> {
  const { challenge, plan, grabber, signal } = capture
  const { steps, capture: limits } = challenge
  const frames: CapturedFrame[] = []
  const { isUpright } = grabber
  let started: number | null = null
  let isGapUsed = false
  for (;;) {
    const elapsedMs = started === null ? 0 : performance.now() - started
    if (elapsedMs >= plan.durationMs || frames.length === limits.max_frames) break
    const step = stepAt(elapsedMs, steps.length, plan)
    capture.onProgress(step, elapsedMs / plan.durationMs)
    await grabber.nextFrame(signal)
    if (signal.aborted) return []
    // All frames must come from one camera in one orientation.
    if (grabber.isUpright !== isUpright) throw new CaptureError('rotated')
    started ??= performance.now()
    const tMs = Math.round(performance.now() - started)
    const sinceLastMs = tMs - (frames.at(-1)?.t_ms ?? tMs)
    if (sinceLastMs > limits.max_interval_ms) {
      if (isGapUsed || sinceLastMs > (limits.max_gap_ms ?? 0)) throw new CaptureError('too_slow')
      isGapUsed = true
    }
    frames.push({ step, t_ms: tMs, image: await grabber.take() })
    const spentMs = performance.now() - started - tMs
    // After a late frame the next one is due earlier. A timer may end a moment early.
    const lateMs = Math.max(sinceLastMs - plan.intervalMs, 0)
    await pause(Math.max(plan.intervalMs - lateMs, limits.min_interval_ms + 1) - spentMs, signal)
    if (signal.aborted) return []
  }
  const last = frames.at(-1)
  const isWhole =
    frames.length >= limits.min_frames &&
    last !== undefined &&
    last.step === steps.length - 1 &&
    last.t_ms >= limits.min_duration_ms
  if (!isWhole) throw new CaptureError('too_slow')
  return frames
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
