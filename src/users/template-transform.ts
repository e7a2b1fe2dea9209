/**
 * A keyed rotation of templates. Each key has a space of its own: templates in one space compare as they did before, since a rotation
 * keeps lengths and angles; templates of two spaces cannot be compared. It protects templates that leaked out of their sealed boxes
 * without the key.
 *
 * The rotation is three rounds of random signs, a random permutation and a Walsh–Hadamard transform. The transform takes the largest
 * power of two of the components, by turns from the first one on and up to the last one. The product is orthogonal for every key,
 * and every component of the result depends on all components of the template.
 */
import { createCipheriv } from 'node:crypto'

const ROUNDS = 3

export class TemplateTransform {
  /** [ROUNDS × dimensions] signs, 1 or -1. */
  private readonly signs: Float64Array
  /** [ROUNDS × dimensions] target index of each component. */
  private readonly order: Uint32Array
  /** Components that a Walsh–Hadamard transform takes: the largest power of two that fits. */
  private readonly block: number

  /** @param key 32 bytes that serve no other purpose */
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

  /** @returns [dimensions] float64, so that `invert` restores the template within 1e-15 */
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

  /** @returns [dimensions] float32: the template that `apply` transformed */
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

  /** Index of the first component that a round's Walsh–Hadamard transform takes. */
  private blockStart(round: number): number {
    return round % 2 === 0 ? 0 : this.dimensions - this.block
  }
}

let scratch = new Float64Array(0)

/** Scratch memory for one step of a transform. It is reused, because allocating it would cost as much as the step. */
function scratchOf(length: number): Float64Array {
  if (scratch.length !== length) scratch = new Float64Array(length)
  return scratch
}

/** Normalized fast Walsh–Hadamard transform in place. @param length number of components from `start` on, a power of two */
function hadamard(values: Float64Array, start: number, length: number): void {
  const end = start + length
  let half = 1
  // Does two butterfly steps in one pass, which halves the reading and writing; the sums are the same.
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

/** Takes one word of the key stream for each sign. Loops are plain, because every verify makes two transforms. */
function makeSigns(signs: Float64Array, base: number, length: number, random: DataView, from: number): void {
  // The first bit of a word is its sign: a branch would be mispredicted half of the time.
  for (let i = 0; i < length; i++) signs[base + i] = 2 * (wordAt(random, from + i) >>> 31) - 1
}

/** Shuffles by Fisher and Yates. */
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

/** Number of values of a 32-bit word. */
const WORDS = 2 ** 32

/** Reads a word as little-endian on every machine. */
function wordAt(stream: DataView, index: number): number {
  return stream.getUint32(4 * index, true)
}

const FIRST_BLOCK = Buffer.alloc(16)
/** Zeros to encrypt, as many as the last key stream had bytes: kept, because most key streams have the same length. */
let zeros = Buffer.alloc(0)

/** The first words of the key stream of AES-256-CTR. @param words number of 32-bit words */
function keyStream(key: Buffer, words: number): DataView {
  if (zeros.length !== 4 * words) zeros = Buffer.alloc(4 * words)
  const bytes = createCipheriv('aes-256-ctr', key, FIRST_BLOCK).update(zeros)
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
