/** Result of detectors, and the reduction of overlapping detections to one a face. */
import type { Box } from '../../types.js'

/** Box in pixels of the decoded image. */
export interface Detection {
  box: Box
  /** Confidence, 0..1. */
  score: number
  /** [10] right eye, left eye, nose tip, right and left mouth corner (the subject's right), x and y; null if not found. */
  points: Float64Array | null
}

export function scaledBox({ x, y, width, height }: Box, factor: number): Box {
  return { x: x * factor, y: y * factor, width: width * factor, height: height * factor }
}

export function intersectionOverUnion(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
  if (width <= 0 || height <= 0) return 0
  const intersection = width * height
  return intersection / (a.width * a.height + b.width * b.height - intersection)
}

/** Greedy non-maximum suppression: best first; one that overlaps a kept one by more than `maxIou` is dropped. */
export function suppressOverlaps(detections: readonly Detection[], maxIou: number): Detection[] {
  const kept: Detection[] = []
  for (const candidate of detections.toSorted((a, b) => b.score - a.score)) {
    if (kept.every((other) => intersectionOverUnion(candidate.box, other.box) <= maxIou)) kept.push(candidate)
  }
  return kept
}
