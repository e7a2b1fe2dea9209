/**
 * Whether a linear map from one pack's embeddings to another's could stand in for templates: false non-matches of translated references
 * next to those of the pack that is left and of references enrolled afresh. People of the map and people of the trial are never the same.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { loadModelPack, type ModelPack } from '../../models/pack/model-pack.js'
import { scoreOf } from '../../src/biometrics/pipeline/judge/match.js'
import { percentileInterval } from '../../tools/evaluation/intervals.js'
import { seededRandom } from '../../tools/evaluation/random.js'
import { evaluationDataMissing, removeTemporaryDirs, writeEvaluationPack } from '../biometrics/fixtures.js'
import { embedded, MINUTE_MS, readLfw } from './lfw.js'

/** Folders of installed packs: the one that is left, instead of the baseline, and the one that comes. */
const { TEST_PACK, TEST_NEXT_PACK } = process.env
const FMR = 1e-4
const FOLDS = 10
/** Chosen from 0.1, 0.3, 1, 3 and 30: the one that did best on most packs. It favours the translation a little. */
const RIDGE = 0.3
const REPLICATES = 1000

interface Face {
  person: number
  old: Float32Array
  next: Float32Array
}

/** How two photos are compared: the reference may go through a map that was fitted on the photos of other people. */
interface Way {
  pack: ModelPack
  learn?: (known: Face[]) => LinearMap
  reference: (face: Face, map: LinearMap | undefined) => Float32Array
  probe: (face: Face) => Float32Array
}

/** An affine map: [next dimensions] of [old dimensions], and a constant. */
interface LinearMap {
  weights: Float64Array[]
  from: Float64Array
  to: Float64Array
}

describe.skipIf(evaluationDataMissing())('references of LFW that are translated to another pack', () => {
  let old: ModelPack
  let next: ModelPack
  let faces: Face[]

  beforeAll(async () => {
    old = await loadModelPack(TEST_PACK ?? join(inject('modelsDir'), 'baseline'))
    next = await loadModelPack(TEST_NEXT_PACK ?? writeEvaluationPack())
    const data = await readLfw()
    const [byOld, byNext] = [await embedded(data, old), await embedded(data, next)]
    faces = data.photos.flatMap(({ person }, i) => {
      const [before, after] = [byOld[i]!.embedding, byNext[i]!.embedding]
      return before && after ? [{ person, old: before, next: after }] : []
    })
  }, 30 * MINUTE_MS)
  afterAll(removeTemporaryDirs)

  it(
    'are missed more often than references enrolled afresh',
    () => {
      const people = shuffled([...new Set(faces.map(({ person }) => person))])
      console.log(`${old.modelId} to ${next.modelId}: ${people.length} people, ${faces.length} photos`)
      const stay = missed(people, { pack: old, reference: (face) => face.old, probe: (face) => face.old })
      const fresh = missed(people, { pack: next, reference: (face) => face.next, probe: (face) => face.next })
      // The best case: both packs have seen every photo of everybody else.
      const translated = missed(
        people,
        throughMap((known) => known.map((face) => [face, face])),
      )
      // A change leaves behind, of each person, one photo of the old pack and a later one of the new pack.
      const moved = missed(
        people,
        throughMap((known) =>
          known.flatMap((face, i) =>
            face.person !== known[i - 1]?.person && face.person === known[i + 1]?.person
              ? [[face, known[i + 1]!]]
              : [],
          ),
        ),
      )
      console.log(`false non-matches at ${FMR}, each person alike, 95 % by drawing people:`)
      for (const [way, rate] of Object.entries({ stay, fresh, translated, moved }))
        console.log(way, rate.text)
      expect(translated.rate).toBeGreaterThan(fresh.rate)
    },
    10 * MINUTE_MS,
  )

  function throughMap(pairsOf: (known: Face[]) => [Face, Face][]): Way {
    return {
      pack: next,
      learn: (known) => learn(pairsOf(known)),
      reference: (face, map) => translate(map!, face.old),
      probe: (face) => face.next,
    }
  }

  /** Rate of false non-matches over folds of people, at the threshold that FMR of the strangers' pairs of the same folds pass. */
  function missed(people: readonly number[], { pack, learn, reference, probe }: Way) {
    const strangers: number[] = []
    const genuine = new Map<number, number[]>(people.map((person) => [person, []]))
    for (let fold = 0; fold < FOLDS; fold++) {
      const tried = new Set(people.filter((_, i) => i % FOLDS === fold))
      const map = learn?.(faces.filter(({ person }) => !tried.has(person)))
      const present = faces.filter(({ person }) => tried.has(person))
      const references = present.map((face) => reference(face, map))
      for (const [i, face] of present.entries())
        for (const [j, other] of present.entries()) {
          if (i === j) continue
          const score = scoreOf(pack, references[i]!, probe(other))
          if (face.person === other.person) genuine.get(face.person)!.push(score)
          else strangers.push(score)
        }
    }
    const threshold = Float64Array.from(strangers).sort()[Math.floor((1 - FMR) * strangers.length)]!
    const rates = [...genuine.values()]
      .filter((scores) => scores.length > 0)
      .map((scores) => scores.filter((one) => one < threshold).length / scores.length)
    const random = seededRandom(7)
    const drawn = Float64Array.from({ length: REPLICATES }, () =>
      mean(rates.map(() => rates[Math.floor(random() * rates.length)]!)),
    )
    const [low, high] = percentileInterval(drawn)
    const percent = (value: number) => `${(100 * value).toFixed(1)} %`
    const text = `${percent(mean(rates))} (${percent(low)} to ${percent(high)}), ${rates.length} people, ${strangers.length} pairs of strangers`
    return { rate: mean(rates), text }
  }
})

/** Ridge regression of the new pack's embeddings on the old pack's, both without their means. */
function learn(pairs: readonly [Face, Face][]): LinearMap {
  const [from, to] = [meanOf(pairs.map(([face]) => face.old)), meanOf(pairs.map(([, face]) => face.next))]
  const size = from.length
  const products = Array.from({ length: size }, (_, row) => {
    const values = new Float64Array(size + to.length)
    values[row] = RIDGE
    return values
  })
  for (const [{ old }, { next }] of pairs)
    for (let row = 0; row < size; row++) {
      const [values, x] = [products[row]!, old[row]! - from[row]!]
      for (let i = 0; i < size; i++) values[i]! += x * (old[i]! - from[i]!)
      for (let i = 0; i < to.length; i++) values[size + i]! += x * (next[i]! - to[i]!)
    }
  // Gauss and Jordan without pivots: the matrix is positive definite.
  for (let pivot = 0; pivot < size; pivot++) {
    const values = products[pivot]!
    const scale = values[pivot]!
    for (let i = pivot; i < values.length; i++) values[i]! /= scale
    for (let row = 0; row < size; row++) {
      const [other, factor] = [products[row]!, products[row]![pivot]!]
      if (row !== pivot && factor !== 0)
        for (let i = pivot; i < values.length; i++) other[i]! -= factor * values[i]!
    }
  }
  return { weights: products.map((values) => values.subarray(size)), from, to }
}

function translate({ weights, from, to }: LinearMap, embedding: Float32Array): Float32Array {
  const result = Float64Array.from(to)
  for (const [row, line] of weights.entries()) {
    const x = embedding[row]! - from[row]!
    for (let i = 0; i < result.length; i++) result[i]! += x * line[i]!
  }
  return Float32Array.from(result)
}

function meanOf(vectors: readonly Float32Array[]): Float64Array {
  const sum = new Float64Array(vectors[0]!.length)
  for (const vector of vectors) for (let i = 0; i < sum.length; i++) sum[i]! += vector[i]! / vectors.length
  return sum
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function shuffled(values: readonly number[]): number[] {
  const random = seededRandom(3)
  return values
    .map((value) => ({ value, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value)
}
