/** Liveness of a series of frames: which of them the liveness network judges, and what it said of them together. */
import type { Liveness } from '../measurements.js'
import { LIVENESS_UNCHECKED } from '../pipeline/liveness.js'
import type { FrameNote } from './active-geometry.js'
import type { Step } from './steps.js'

/** Looks straight ahead that the liveness network judges: each costs as much again as looking at a frame. */
const MAX_LIVENESS_FRAMES = 3

/** Frames spread over the looks straight ahead at the beginning and at the end: what is held up may change meanwhile. */
export function livenessFrames(notes: readonly FrameNote[], steps: readonly Step[]): Set<number> {
  const ahead = notes.flatMap(({ step }, index) => (step === 0 || step === steps.length - 1 ? [index] : []))
  const count = Math.min(MAX_LIVENESS_FRAMES, ahead.length)
  const places = Array.from({ length: count }, (_, i) =>
    Math.round((i * (ahead.length - 1)) / Math.max(count - 1, 1)),
  )
  return new Set(places.map((place) => ahead[place]!))
}

/**
 * The mean over the frames that could be judged: one of them says less than all. Where none could, the first frame that says why
 * speaks for the series.
 * @param seen one a frame, those that were not to be judged included
 * @param threshold of the pack's liveness role
 */
export function meanLiveness(seen: readonly Liveness[], threshold: number): Liveness {
  const scores = seen.flatMap(({ score }) => (score === null ? [] : [score]))
  if (scores.length === 0) return seen.find(({ checked }) => checked) ?? LIVENESS_UNCHECKED
  const score = scores.reduce((sum, one) => sum + one, 0) / scores.length
  return { checked: true, score, passed: score >= threshold }
}
