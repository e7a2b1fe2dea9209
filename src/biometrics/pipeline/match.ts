/** Comparing embeddings, and joining several of one person into a reference. */

import type { ModelPack } from '../../../models/pack/model-pack.js'
import type { EmbedderSpec } from '../../../models/pack/pack-schema.js'
import { dot, euclideanDistance, normalizeLength } from '../kernels/vector-math.js'
import type { FaceSample } from '../types.js'

/**
 * Higher is more alike: the cosine (-1..1), or 1 - d/2 for packs measured by Euclidean distance d.
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

/** The quality-weighted mean of the samples' embeddings, brought to length 1 when the pack says so. */
export function fuseEmbeddings(
  samples: ReadonlyArray<Pick<FaceSample, 'embedding' | 'quality'>>,
  spec: Pick<EmbedderSpec, 'dimensions' | 'normalize'>,
): Float32Array {
  // A floor keeps a usable sample of quality 0 from vanishing, and the sum from being zero.
  const weights = samples.map(({ quality }) => Math.max(quality.score, 0.01))
  const total = weights.reduce((a, b) => a + b, 0)
  const mean = new Float64Array(spec.dimensions)
  samples.forEach(({ embedding }, s) => {
    for (let i = 0; i < mean.length; i++) mean[i]! += (embedding[i]! * weights[s]!) / total
  })
  const reference = Float32Array.from(mean)
  if (spec.normalize) normalizeLength(reference)
  return reference
}
