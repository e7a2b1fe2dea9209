/** Compares embeddings, and fuses several of one person into a reference. */

import type { ModelPack } from '../../../../models/pack/model-pack.js'
import type { EmbedderSpec } from '../../../../models/pack/pack-schema.js'
import { dot, euclideanDistance, normalizeLength } from '../../kernels/vector-math.js'
import type { FaceSample, WeightedEmbedding } from '../../types.js'

export type { WeightedEmbedding }

/**
 * Similarity of two embeddings, higher is more alike: the cosine (-1..1), or 1 - d/2 for packs measured by Euclidean
 * distance d.
 * @param a,b [dimensions] float32, both made by `pack`
 */
export function scoreOf(pack: ModelPack, a: Float32Array, b: Float32Array): number {
  const { dimensions, metric } = pack.manifest.embedder
  if (a.length !== dimensions || b.length !== dimensions) {
    throw new TypeError('an embedding was not made with this pack')
  }
  if (metric === 'euclidean') return 1 - euclideanDistance(a, b) / 2
  const lengths = Math.sqrt(dot(a, a) * dot(b, b))
  return lengths > 0 ? dot(a, b) / lengths : 0
}

export function weightedEmbeddingOf({
  embedding,
  quality,
}: Pick<FaceSample, 'embedding' | 'quality'>): WeightedEmbedding {
  // A floor keeps a usable sample of quality 0 from vanishing, and the sum from being zero.
  return { embedding, weight: Math.max(quality.score, 0.01) }
}

/**
 * Returns the weighted mean of one person's embeddings, brought to length 1 if the pack says so. `weight` times
 * `embedding` is the sum from which it was made, so that fusing the result with further embeddings gives what fusing
 * all of them at once would.
 */
export function fuseEmbeddings(
  embeddings: readonly WeightedEmbedding[],
  spec: Pick<EmbedderSpec, 'dimensions' | 'normalize'>,
): WeightedEmbedding {
  const total = embeddings.reduce((sum, { weight }) => sum + weight, 0)
  const mean = new Float64Array(spec.dimensions)
  for (const { embedding, weight } of embeddings)
    for (let i = 0; i < mean.length; i++) mean[i]! += (embedding[i]! * weight) / total
  const fused = Float32Array.from(mean)
  if (!spec.normalize) return { embedding: fused, weight: total }
  const length = Math.sqrt(dot(fused, fused))
  normalizeLength(fused)
  return { embedding: fused, weight: total * length }
}

export interface OddOne {
  index: number
  /** Lowest score with any of the others. */
  lowest: number
}

/**
 * Finds the embedding that does not show the same person as the others: the one that the fewest others match. Null where each matches
 * each.
 * @param threshold lowest score of two embeddings of one person
 */
export function findOddOne(
  pack: ModelPack,
  embeddings: readonly Float32Array[],
  threshold: number,
): OddOne | null {
  let odd: (OddOne & { strangers: number; alikeness: number }) | null = null
  for (const [index, embedding] of embeddings.entries()) {
    const scores = embeddings.flatMap((other, i) => (i === index ? [] : [scoreOf(pack, embedding, other)]))
    const strangers = scores.filter((score) => score < threshold).length
    const alikeness = scores.reduce((a, b) => a + b, 0)
    // If two embeddings differ equally from each other, the later one is returned.
    const isOdder =
      !odd || strangers > odd.strangers || (strangers === odd.strangers && alikeness <= odd.alikeness)
    if (strangers > 0 && isOdder) odd = { index, lowest: Math.min(...scores), strangers, alikeness }
  }
  return odd && { index: odd.index, lowest: odd.lowest }
}
