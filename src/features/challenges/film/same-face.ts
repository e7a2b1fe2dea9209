/** Checks whether the key frames of a series show one person's face. */
import {
  type ModelPack,
  movedFaceThreshold,
  samePersonThreshold,
} from '../../../../models/pack/model-pack.js'
import { scoreOf } from '../../../biometrics/pipeline/judge/match.js'
import type { KeyFrames } from './active-geometry.js'

/**
 * Compares each key frame only with the frontal one at the beginning, since faces turned to opposite sides are the least similar.
 * @param embeddingOf returns the embedding of the key frame with this index
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
