/** Liveness of a series of frames: chooses the frames that the liveness network judges and combines its scores. */
import type { Liveness } from '../../../biometrics/measurements.js'
import { LIVENESS_UNCHECKED } from '../../../biometrics/pipeline/judge/liveness-room.js'
import type { FrameNote } from './active-geometry.js'
import type { Step } from './steps.js'

/** Number of frontal frames that the liveness network judges: each costs as much again as measuring a frame. */
const MAX_LIVENESS_FRAMES = 3

/** Indices of frames spread over the frontal steps at the beginning and at the end: what the camera sees may change in between. */
export function livenessFrames(notes: readonly FrameNote[], steps: readonly Step[]): Set<number> {
  const ahead = notes.flatMap(({ step }, index) => (step === 0 || step === steps.length - 1 ? [index] : []))
  const count = Math.min(MAX_LIVENESS_FRAMES, ahead.length)
  const places = Array.from({ length: count }, (_, i) =>
    Math.round((i * (ahead.length - 1)) / Math.max(count - 1, 1)),
  )
  return new Set(places.map((place) => ahead[place]!))
}

/**
 * The mean score over the frames that could be judged. If none could, the first one with a reason represents the series.
 * @param seen one result a frame, including the frames that the network did not judge
 * @param threshold of the pack's liveness role, 0 to 1
 */
export function meanLiveness(seen: readonly Liveness[], threshold: number): Liveness {
  const scores = seen.flatMap(({ score }) => (score === null ? [] : [score]))
  if (scores.length === 0) return seen.find(({ checked }) => checked) ?? LIVENESS_UNCHECKED
  const score = scores.reduce((sum, one) => sum + one, 0) / scores.length
  return { checked: true, score, passed: score >= threshold }
}
