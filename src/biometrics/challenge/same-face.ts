/** Whether the frames that speak for a series show one person's face. */
import { type ModelPack, movedFaceThreshold, samePersonThreshold } from '../../../models/pack/model-pack.js'
import { scoreOf } from '../pipeline/match.js'
import type { KeyFrames } from './active-geometry.js'

/**
 * Each is compared with the look straight ahead at the beginning alone, since faces turned to opposite sides are least alike,
 * and those of a movement by a threshold of their own.
 * @param embeddingOf the key frame of this index
 */
export function showsOneFace(
  pack: ModelPack,
  { frontal, movements, last }: KeyFrames,
  embeddingOf: (index: number) => Float32Array,
): boolean {
  const ahead = embeddingOf(frontal)
  const alikeness = (index: number) => scoreOf(pack, ahead, embeddingOf(index))
  return (
    (last === frontal || alikeness(last) >= samePersonThreshold(pack)) &&
    movements.every((index) => alikeness(index) >= movedFaceThreshold(pack))
  )
}
