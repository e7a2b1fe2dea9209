/** People whose embeddings are drawn from a known distribution, a pack with nothing but their dimensions, and evaluations of both. */
import type { ModelPack } from '../../models/pack/model-pack.js'
import type { DataSet } from '../../tools/evaluation/data-set.js'
import type { PhotoFace, PhotoResult } from '../../tools/evaluation/embedding-cache.js'
import { type EvaluationInput, evaluate, type Measured } from '../../tools/evaluation/evaluation.js'
import { genuinePairs, type ImpostorProtocol, impostorPairs } from '../../tools/evaluation/pair-scores.js'
import { seededRandom } from '../../tools/evaluation/random.js'
import { ScoreCurve } from '../../tools/evaluation/score-curve.js'

export const DIMENSIONS = 16

/** Normally distributed, by Box and Muller. */
export function normals(seed: number): () => number {
  const random = seededRandom(seed)
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

export interface Population {
  /** One person's face: the mean of his or her photos. */
  face(): Float32Array
  /** One photo of it. */
  photo(face: Float32Array): Float32Array
}

export function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

/** @param family share of people who resemble each other, each to a different degree up to the weight */
export function population(seed: number, family: { share: number; weight: number }): Population {
  const normal = normals(seed)
  const random = seededRandom(seed + 1)
  return {
    face() {
      const vector = Float32Array.from({ length: DIMENSIONS }, normal)
      if (random() < family.share) vector[0]! += family.weight * random()
      return unit(vector)
    },
    photo: (face) => unit(face.map((value) => value + 0.12 * normal())),
  }
}

export function cosinePack(dimensions = DIMENSIONS, metric: 'cosine' | 'euclidean' = 'cosine'): ModelPack {
  const manifest = {
    id: 'synthetic',
    version: '1',
    embedder: { dimensions, metric },
    calibration: { source: '', points: [{ fmr: 0.01, threshold: 0.6 }] },
  }
  return { dir: '', modelId: 'synthetic@1', manifest: manifest as unknown as ModelPack['manifest'] }
}

/** The people of a folder data set, without files. */
export function dataSetOf(photosOf: readonly number[]): DataSet {
  return {
    name: 'synthetic',
    folder: '',
    people: photosOf.map((_, person) => `p${person}`),
    photos: photosOf.flatMap((photos, person) =>
      Array.from({ length: photos }, (_, i) => ({ path: `p${person}/${i}.jpg`, person, takenAt: null })),
    ),
    pairs: null,
  }
}

export function sampleCurve(
  { face, photo }: Population,
  people: number,
  threshold: number,
  protocol: ImpostorProtocol = 'one',
): ScoreCurve {
  const data = dataSetOf(new Array<number>(people).fill(2))
  const embeddings = data.people.flatMap(() => {
    const own = face()
    return [photo(own), photo(own)]
  })
  return curveOf(data, embeddings, threshold, protocol)
}

export function curveOf(
  data: DataSet,
  embeddings: Array<Float32Array | null>,
  threshold: number,
  protocol: ImpostorProtocol = 'one',
  pack = cosinePack(embeddings.find(Boolean)!.length),
): ScoreCurve {
  return new ScoreCurve(
    data,
    embeddings,
    pack,
    genuinePairs(data, embeddings, pack),
    impostorPairs(data, embeddings, pack, protocol),
    threshold,
  )
}

export function usedPhoto(
  embedding: Float32Array,
  face: Partial<PhotoFace> = {},
  quality = 0.9,
): PhotoResult {
  const whole = { yawDegrees: 5, isAmbiguous: false, components: {}, ...face }
  return { embedding, quality, face: whole, provider: 'cpu', refusal: null }
}

export function refusedPhoto(refusal = 'face_not_found'): PhotoResult {
  return { embedding: null, quality: null, face: null, provider: 'cpu', refusal }
}

/** @param photos results of the photos of each person */
export function evaluated(photos: readonly PhotoResult[][], change: Partial<EvaluationInput> = {}): Measured {
  return evaluate({
    data: dataSetOf(photos.map(({ length }) => length)),
    results: photos.flat(),
    pack: cosinePack(),
    fmr: 0.01,
    protocol: 'one',
    groups: [],
    seed: 1,
    now: 0,
    ...change,
  })
}
