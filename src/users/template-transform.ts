/**
 * A keyed rotation of templates: what is stored of one user's face lies in another space than what is stored of any other's,
 * or of the same face under another key. Within one space nothing changes, since a rotation keeps lengths and angles; between
 * two, nothing can be compared. It protects templates that got out of their sealed boxes without the key.
 *
 * Three rounds of random signs, a random permutation and a Walsh–Hadamard transform of a power of two of the components, from
 * the first on and from the last on in turns: orthogonal whatever comes from the key, and every component depends on all.
 */
import { createCipheriv } from 'node:crypto'

const ROUNDS = 3

export class TemplateTransform {
  /** [ROUNDS × dimensions] 1 or -1. */
  private readonly signs: Float64Array
  /** [ROUNDS × dimensions] where each component goes. */
  private readonly order: Uint32Array
  private readonly block: number

  /** @param key 32 bytes that serve this transform alone */
  constructor(
    key: Buffer,
    readonly dimensions: number,
  ) {
    const random = keyStream(key, ROUNDS * 2 * dimensions)
    this.block = 2 ** Math.floor(Math.log2(dimensions))
    this.signs = new Float64Array(ROUNDS * dimensions)
    this.order = new Uint32Array(ROUNDS * dimensions)
    for (let round = 0; round < ROUNDS; round++) {
      // A permutation takes one word less than it has components.
      const from = round * (2 * dimensions - 1)
      const base = round * dimensions
      makeSigns(this.signs, base, dimensions, random, from)
      makePermutation(this.order, base, dimensions, random, from + dimensions)
    }
  }

  /** @returns [dimensions] float64, so that the way back leads to the template within 1e-15 */
  apply(template: Float32Array): Float64Array {
    const { signs, order, dimensions } = this
    const values = new Float64Array(template)
    const moved = scratchOf(dimensions)
    for (let round = 0; round < ROUNDS; round++) {
      const base = round * dimensions
      for (let i = 0; i < dimensions; i++) moved[order[base + i]!] = values[i]! * signs[base + i]!
      values.set(moved)
      hadamard(values, this.blockStart(round), this.block)
    }
    return values
  }

  /** @returns [dimensions] float32, the template that was transformed */
  invert(transformed: Float64Array): Float32Array {
    const { signs, order, dimensions } = this
    const values = new Float64Array(transformed)
    const moved = scratchOf(dimensions)
    for (let round = ROUNDS - 1; round >= 0; round--) {
      const base = round * dimensions
      // Orthogonal and symmetric: its own inverse.
      hadamard(values, this.blockStart(round), this.block)
      moved.set(values)
      for (let i = 0; i < dimensions; i++) values[i] = moved[order[base + i]!]! * signs[base + i]!
    }
    return new Float32Array(values)
  }

  /** First component of a round's Walsh–Hadamard block. */
  private blockStart(round: number): number {
    return round % 2 === 0 ? 0 : this.dimensions - this.block
  }
}

let scratch = new Float64Array(0)

/** What one step of a transform needs while it lasts: memory of its own would cost as much as the step. */
function scratchOf(length: number): Float64Array {
  if (scratch.length !== length) scratch = new Float64Array(length)
  return scratch
}

/** The normalised fast Walsh–Hadamard transform of `length` components, a power of two, from `start` on, in place. */
function hadamard(values: Float64Array, start: number, length: number): void {
  const end = start + length
  let half = 1
  // Two steps at a time: half the reading and writing, and the same sums.
  for (; 4 * half <= length; half *= 4)
    for (let block = start; block < end; block += 4 * half)
      for (let i = block; i < block + half; i++) {
        const a = values[i]!
        const b = values[i + half]!
        const c = values[i + 2 * half]!
        const d = values[i + 3 * half]!
        values[i] = a + b + (c + d)
        values[i + half] = a - b + (c - d)
        values[i + 2 * half] = a + b - (c + d)
        values[i + 3 * half] = a - b - (c - d)
      }
  if (half < length)
    for (let i = start; i < start + half; i++) {
      const a = values[i]!
      const b = values[i + half]!
      values[i] = a + b
      values[i + half] = a - b
    }
  const scale = 1 / Math.sqrt(length)
  for (let i = start; i < end; i++) values[i]! *= scale
}

/** One component's a word of the key stream: plain loops, since every verify makes two transforms. */
function makeSigns(signs: Float64Array, base: number, length: number, random: DataView, from: number): void {
  for (let i = 0; i < length; i++) signs[base + i] = wordAt(random, from + i) < HALF ? -1 : 1
}

/** Fisher and Yates. */
function makePermutation(
  order: Uint32Array,
  base: number,
  length: number,
  random: DataView,
  from: number,
): void {
  for (let i = 0; i < length; i++) order[base + i] = i
  let next = from
  for (let i = length - 1; i > 0; i--) {
    const j = ((wordAt(random, next++) / WORDS) * (i + 1)) | 0
    const kept = order[base + i]!
    order[base + i] = order[base + j]!
    order[base + j] = kept
  }
}

/** How many values a word of 32 bits has. */
const WORDS = 2 ** 32
const HALF = WORDS / 2

/** Little-endian, whatever this machine is. */
function wordAt(stream: DataView, index: number): number {
  return stream.getUint32(4 * index, true)
}

const FIRST_BLOCK = Buffer.alloc(16)
/** As many as were last asked for. */
let zeros = Buffer.alloc(0)

/** So many words of the key stream of AES-256-CTR. */
function keyStream(key: Buffer, words: number): DataView {
  if (zeros.length !== 4 * words) zeros = Buffer.alloc(4 * words)
  const bytes = createCipheriv('aes-256-ctr', key, FIRST_BLOCK).update(zeros)
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
