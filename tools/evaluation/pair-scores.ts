/** Scores of all pairs from existing embeddings: every pair within a person, and pairs between people. */
import type { ModelPack } from '../../models/pack/model-pack.js'
import { scoreOf } from '../../src/biometrics/pipeline/judge/match.js'
import type { DataSet, ListedPair } from './data-set.js'
import { groupEnds, scanRows } from './scan-rows.js'

/** `one`: everybody's first usable photo, each against each. `all`: every usable photo against those of all others. */
export type ImpostorProtocol = 'one' | 'all'

/** The engine's result for a photo: indices as in the data set; the embedding is null if it could not be used. */
export type Embeddings = ReadonlyArray<Float32Array | null>

export interface GenuinePairs {
  /** Indices of the two photos. */
  a: Uint32Array
  b: Uint32Array
  /** Score; `-Infinity` if one of the two could not be used. */
  scores: Float64Array
}

export interface ImpostorPairs {
  /** Scores in the order of `each`, without pairs of an unusable photo. */
  scores: Float64Array
  /** Number of pairs that could not be compared. */
  notCompared: number
  /** @param visit photos, and where the pair stands in `scores` */
  each(visit: (a: number, b: number, index: number) => void): void
  /** Number of pairs when person p counts `weights[p]` times: each pair counts as often as the product. */
  countWith(weights: ArrayLike<number>): number
  /** Number of pairs of people among `members`, however many photos of them were compared. */
  peoplePairs(members: ArrayLike<number>): number
}

/** Every photo of a person against every other. */
export function genuinePairs(data: DataSet, embeddings: Embeddings, pack: ModelPack): GenuinePairs {
  const pairs = data.pairs?.filter(({ genuine }) => genuine) ?? withinPeople(data)
  const a = Uint32Array.from(pairs, (pair) => pair.a)
  const b = Uint32Array.from(pairs, (pair) => pair.b)
  return { a, b, scores: Float64Array.from(a, (first, i) => exactScore(embeddings, pack, first, b[i]!)) }
}

export function impostorPairs(
  data: DataSet,
  embeddings: Embeddings,
  pack: ModelPack,
  protocol: ImpostorProtocol,
): ImpostorPairs {
  return data.pairs
    ? listedImpostors(data, embeddings, pack)
    : eachAgainstEach(data, embeddings, pack, protocol)
}

/** Score in double precision, as a verification computes it. */
export function exactScore(embeddings: Embeddings, pack: ModelPack, a: number, b: number): number {
  const [first, second] = [embeddings[a], embeddings[b]]
  return first && second ? scoreOf(pack, first, second) : Number.NEGATIVE_INFINITY
}

function withinPeople({ photos }: DataSet): Array<Pick<ListedPair, 'a' | 'b'>> {
  // Photos of one person stand together.
  return photos.flatMap(({ person }, a) => {
    const pairs: Array<Pick<ListedPair, 'a' | 'b'>> = []
    for (let b = a + 1; photos[b]?.person === person; b++) pairs.push({ a, b })
    return pairs
  })
}

function listedImpostors(data: DataSet, embeddings: Embeddings, pack: ModelPack): ImpostorPairs {
  const listed = data.pairs!.filter(({ genuine }) => !genuine)
  const compared = listed.filter(({ a, b }) => embeddings[a] && embeddings[b])
  const counts = new Map<number, number>()
  for (const { a, b } of compared) {
    const [p, q] = [data.photos[a]!.person, data.photos[b]!.person]
    const key = Math.min(p, q) * data.people.length + Math.max(p, q)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const between = Array.from(counts, ([key, count]) => ({
    p: Math.floor(key / data.people.length),
    q: key % data.people.length,
    count,
  }))
  return {
    scores: Float64Array.from(compared, ({ a, b }) => exactScore(embeddings, pack, a, b)),
    notCompared: listed.length - compared.length,
    each(visit) {
      for (const [index, { a, b }] of compared.entries()) visit(a, b, index)
    },
    countWith: (weights) =>
      between.reduce((sum, { p, q, count }) => sum + count * weights[p]! * weights[q]!, 0),
    peoplePairs: (members) => between.filter(({ p, q }) => members[p] && members[q]).length,
  }
}

/** Visits scores in single precision: a scan ranks, and scores near a threshold are computed again by `exactScore`. */
function eachAgainstEach(
  data: DataSet,
  embeddings: Embeddings,
  pack: ModelPack,
  protocol: ImpostorProtocol,
): ImpostorPairs {
  const { photos, people } = data
  const rows = photos.flatMap(({ person }, photo) => (embeddings[photo] ? [{ photo, person }] : []))
  const taken = protocol === 'all' ? rows : rows.filter(({ person }, i) => rows[i - 1]?.person !== person)
  const photoOf = Uint32Array.from(taken, ({ photo }) => photo)
  const photosOf = new Uint32Array(people.length)
  for (const { person } of taken) photosOf[person]!++
  const nextPerson = groupEnds(Uint32Array.from(taken, ({ person }) => person))
  const count = nextPerson.reduce((sum, next) => sum + taken.length - next, 0)
  const unusable = people.length - photosOf.reduce((sum, n) => sum + Math.min(n, 1), 0)
  return {
    scores: scan(photoOf, nextPerson, count, embeddings, pack),
    notCompared: protocol === 'one' ? (unusable * (2 * people.length - unusable - 1)) / 2 : lost(data, count),
    each(visit) {
      for (let i = 0, index = 0; i < photoOf.length; i++)
        for (let j = nextPerson[i]!; j < photoOf.length; j++) visit(photoOf[i]!, photoOf[j]!, index++)
    },
    countWith(weights) {
      let [sum, squares] = [0, 0]
      for (const [person, own] of photosOf.entries()) {
        const weight = own * weights[person]!
        sum += weight
        squares += weight ** 2
      }
      return (sum ** 2 - squares) / 2
    },
    peoplePairs(members) {
      const present = photosOf.reduce((sum, n, person) => sum + (n > 0 && members[person] ? 1 : 0), 0)
      return (present * (present - 1)) / 2
    },
  }
}

/** Number of pairs of photos of two people that are not among the compared ones. */
function lost({ photos, people }: DataSet, compared: number): number {
  const counts = new Float64Array(people.length)
  for (const { person } of photos) counts[person]!++
  const squares = counts.reduce((sum, n) => sum + n ** 2, 0)
  return (photos.length ** 2 - squares) / 2 - compared
}

/** The scores of rows with those of later people, row by row. */
function scan(
  photoOf: Uint32Array,
  nextPerson: Uint32Array,
  count: number,
  embeddings: Embeddings,
  pack: ModelPack,
): Float64Array {
  const starts = new Float64Array(photoOf.length)
  for (let i = 1; i < starts.length; i++) starts[i] = starts[i - 1]! + photoOf.length - nextPerson[i - 1]!
  const scores = new Float64Array(count)
  scanRows(
    pack,
    Array.from(photoOf, (photo) => embeddings[photo]!),
    nextPerson,
    new Uint32Array(photoOf.length).fill(photoOf.length),
    (row, first, found) => scores.set(found, starts[row]! + first - nextPerson[row]!),
  )
  return scores
}
