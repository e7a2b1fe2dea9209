/** Decides about samples by one pack: whether they show one person, and how alike two are. Makes references of them. */
import { type ModelPack, samePersonThreshold } from '../../../models/pack/model-pack.js'
import {
  findOddOne,
  fuseEmbeddings,
  type OddOne,
  scoreOf,
  weightedEmbeddingOf,
} from '../pipeline/judge/match.js'
import { BiometricError, type FaceSample, type WeightedEmbedding } from '../types.js'

/** The part of a sample that a reference is made of. */
export type FusedSample = Pick<FaceSample, 'imageIndex' | 'embedding' | 'others' | 'quality'>

export class Decider {
  /** Lowest score of two photos of one person. It is computed once from the whole calibration, which takes 0.05 ms. */
  private readonly samePersonThreshold: number

  constructor(readonly pack: ModelPack) {
    this.samePersonThreshold = samePersonThreshold(pack)
  }

  scoreOf(a: Float32Array, b: Float32Array): number {
    return scoreOf(this.pack, a, b)
  }

  /** @throws BiometricError different_people */
  assertOnePerson(samples: readonly FaceSample[]): void {
    const odd = this.findOddOne(samples.map(({ embedding }) => embedding))
    if (odd === null) return
    // The scores are of images that the caller has sent, and say nothing of any reference.
    throw new BiometricError(
      'different_people',
      `The image is not alike enough to the others: ${odd.lowest.toFixed(2)} of ${this.samePersonThreshold.toFixed(2)}.`,
      samples[odd.index]!.imageIndex,
    )
  }

  /** @throws TypeError when the reference was not made with this pack */
  assertOwn(reference: Float32Array): void {
    if (reference.length !== this.pack.manifest.embedder.dimensions)
      throw new TypeError('the reference was not made with this pack')
  }

  fuse(samples: ReadonlyArray<Pick<FaceSample, 'embedding' | 'quality'>>): WeightedEmbedding {
    return fuseEmbeddings(samples.map(weightedEmbeddingOf), this.pack.manifest.embedder)
  }

  /**
   * Makes this pack's reference of samples about which another pack decided. Null where this pack has no embedding of one
   * of them, or takes them for different people.
   */
  fuseFollowed(samples: readonly FusedSample[]): WeightedEmbedding | null {
    const own = samples.flatMap(({ others, quality }) => {
      const embedding = others?.[this.pack.modelId]
      return embedding ? [{ embedding, quality }] : []
    })
    const isWhole = own.length === samples.length
    return isWhole && this.findOddOne(own.map(({ embedding }) => embedding)) === null ? this.fuse(own) : null
  }

  private findOddOne(embeddings: readonly Float32Array[]): OddOne | null {
    return findOddOne(this.pack, embeddings, this.samePersonThreshold)
  }
}
