/** Scores of many pairs of embeddings in single precision: a scan ranks, and scores that matter are computed again by `scoreOf`. */
import type { ModelPack } from '../../models/pack/model-pack.js'
import { kernels } from '../../src/biometrics/kernels/kernels.js'
import { dot, normalizeLength } from '../../src/biometrics/kernels/vector-math.js'

/** Rows that fit into a core's own cache are compared with many queries before the next ones are fetched. */
const BLOCK_BYTES = 128 * 1024

/** @param groupOf group of each row; rows of one group stand together. @returns for each row, where the next group begins */
export function groupEnds(groupOf: ArrayLike<number>): Uint32Array {
  const ends = new Uint32Array(groupOf.length)
  for (let i = groupOf.length - 1; i >= 0; i--) ends[i] = groupOf[i + 1] === groupOf[i] ? ends[i + 1]! : i + 1
  return ends
}

/**
 * Compares each row with some of the later ones. The copies of the embeddings are wiped at the end.
 * @param from the first row that each is compared with
 * @param to the row after the last of them
 * @param visit gets the scores of a row with a run of others that begins at `first`, until the next call
 */
export function scanRows(
  { manifest: { embedder } }: ModelPack,
  embeddings: readonly Float32Array[],
  from: ArrayLike<number>,
  to: ArrayLike<number>,
  visit: (row: number, first: number, scores: ArrayLike<number>) => void,
): void {
  const { dimensions, metric } = embedder
  const rows = new Float32Array(embeddings.length * dimensions)
  const row = (i: number, end = i + 1) => rows.subarray(i * dimensions, end * dimensions)
  for (const [i, embedding] of embeddings.entries()) {
    rows.set(embedding, i * dimensions)
    if (metric === 'cosine') normalizeLength(row(i))
  }
  const squares = Float64Array.from(embeddings, (_, i) => dot(row(i), row(i)))
  const block = Math.max(1, Math.floor(BLOCK_BYTES / (4 * dimensions)))
  const [products, distances] = [new Float32Array(block), new Float64Array(block)]
  for (let begin = 0; begin < embeddings.length; begin += block) {
    const end = Math.min(begin + block, embeddings.length)
    for (let i = 0; i < end; i++) {
      const [first, last] = [Math.max(begin, from[i]!), Math.min(end, to[i]!)]
      if (first >= last) continue
      const out = products.subarray(0, last - first)
      kernels.dotMany(row(i), row(first, last), out)
      if (metric === 'cosine') visit(i, first, out)
      else {
        for (const [k, product] of out.entries())
          distances[k] = 1 - Math.sqrt(Math.max(0, squares[i]! + squares[first + k]! - 2 * product)) / 2
        visit(i, first, distances.subarray(0, out.length))
      }
    }
  }
  rows.fill(0)
}
