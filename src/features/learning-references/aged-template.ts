/** Moves a template towards a later capture of the same person, within bounds. */
import { type AgeingBounds, distanceOfScore } from '../../../models/pack/ageing-bounds.js'
import type { ModelPack } from '../../../models/pack/model-pack.js'
import { scoreOf } from '../../biometrics/pipeline/judge/match.js'

/** Embeddings of one pack, [dimensions] float32 each. */
export interface Ageing {
  /** The template of the enrollment. */
  first: Float32Array
  /** The template that is to move: the first one, or what it has become. */
  present: Float32Array
  capture: Float32Array
}

/**
 * Moves the present template by one step towards the capture, and back towards the first template where it would be too far from it.
 * @returns a new embedding; of length 1 for a pack that compares by the cosine
 */
export function agedTemplate(
  pack: ModelPack,
  bounds: AgeingBounds,
  { first, present, capture }: Ageing,
): Float32Array {
  const moved = towards(pack, present, capture, bounds.step)
  return towards(pack, first, moved, bounds.fromFirst)
}

/** The point at most `distance` from `from` on the shortest way to `to`, in the pack's measure of distance. */
function towards(pack: ModelPack, from: Float32Array, to: Float32Array, distance: number): Float32Array {
  const whole = distanceOfScore(pack, scoreOf(pack, from, to))
  const isCosine = pack.manifest.embedder.metric !== 'euclidean'
  const [start, end] = isCosine ? [unit(from), unit(to)] : [from, to]
  if (whole <= distance) return end
  const share = distance / whole
  // On the sphere equal shares of the arc are equal angles.
  const [a, b] = isCosine
    ? [Math.sin((1 - share) * whole) / Math.sin(whole), Math.sin(share * whole) / Math.sin(whole)]
    : [1 - share, share]
  return start.map((value, i) => a * value + b * end[i]!)
}

function unit(embedding: Float32Array): Float32Array {
  const length = Math.hypot(...embedding)
  return embedding.map((value) => value / length)
}
