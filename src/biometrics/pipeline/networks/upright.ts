/**
 * Recognizes a face that lies on its side or stands on its head. Landmarks cannot: they stand upright in a face that
 * stands on its head. Embeddings can, since the chips of turned faces, on which no embedder was trained, are all alike.
 */
import type { ModelPack } from '../../../../models/pack/model-pack.js'
import { dot } from '../../kernels/vector-math.js'
import { BiometricError } from '../../types.js'
import { vectorFrom } from '../judge/vector-text.js'

/** A pack's rule: a face whose embedding lies at least so far along the axis is not upright. */
export interface UprightRule {
  /** [dimensions] float32 of length 1. */
  axis: Float32Array
  /** Cosine, -1 to 1. */
  bound: number
}

/** The pack's rule, or null where its calibration has none. */
export function uprightRuleOf({ calibration }: ModelPack): UprightRule | null {
  if (!calibration?.upright) return null
  const { axis, bound } = calibration.upright
  return { axis: vectorFrom(axis), bound }
}

/** Cosine, -1 to 1, of an embedding with the axis of a rule. */
export function likenessToTurned(axis: Float32Array, embedding: Float32Array): number {
  const length = Math.sqrt(dot(embedding, embedding))
  return length > 0 ? dot(axis, embedding) / length : 0
}

export function notUpright(imageIndex: number): BiometricError {
  return new BiometricError(
    'face_not_upright',
    'The face lies on its side or stands on its head in the image: turn the picture.',
    imageIndex,
  )
}
