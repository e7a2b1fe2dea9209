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

interface Round {
  /** [dimensions] 1 or -1. */
  signs: Float64Array
  /** [dimensions] where each component goes. */
  order: Uint32Array
  /** First component of the Walsh–Hadamard block. */
  blockStart: number
}

export class TemplateTransform {
  private readonly rounds: Round[]
  private readonly block: number

  /** @param key 32 bytes that serve this transform alone */
  constructor(
    key: Buffer,
    readonly dimensions: number,
  ) {
    const random = keyStream(key, ROUNDS * 2 * dimensions)
    this.block = 2 ** Math.floor(Math.log2(dimensions))
    this.rounds = []
    for (let round = 0; round < ROUNDS; round++) {
      // A permutation takes one word less than it has components.
      const from = round * (2 * dimensions - 1)
      this.rounds.push({
        signs: signs(random, from, dimensions),
        order: permutation(random, from + dimensions, dimensions),
        blockStart: round % 2 === 0 ? 0 : dimensions - this.block,
      })
    }
  }

  /** @returns [dimensions] float64, so that the way back leads to the template within 1e-15 */
  apply(template: Float32Array): Float64Array {
    let values = new Float64Array(template)
    for (const { signs, order, blockStart } of this.rounds) {
      const moved = new Float64Array(values.length)
      for (let i = 0; i < values.length; i++) moved[order[i]!] = values[i]! * signs[i]!
      hadamard(moved, blockStart, this.block)
      values = moved
    }
    return values
  }

  /** @returns [dimensions] float32, the template that was transformed */
  invert(transformed: Float64Array): Float32Array {
    let values = transformed
    for (const { signs, order, blockStart } of this.rounds.toReversed()) {
      const moved = new Float64Array(values)
      // Orthogonal and symmetric: its own inverse.
      hadamard(moved, blockStart, this.block)
      values = new Float64Array(values.length)
      for (let i = 0; i < values.length; i++) values[i] = moved[order[i]!]! * signs[i]!
    }
    return new Float32Array(values)
  }
}

/** The normalised fast Walsh–Hadamard transform of `length` components from `start` on, in place. */
function hadamard(values: Float64Array, start: number, length: number): void {
  for (let half = 1; half < length; half *= 2)
    for (let block = start; block < start + length; block += 2 * half)
      for (let i = block; i < block + half; i++) {
        const a = values[i]!
        const b = values[i + half]!
        values[i] = a + b
        values[i + half] = a - b
      }
  const scale = 1 / Math.sqrt(length)
  for (let i = start; i < start + length; i++) values[i]! *= scale
}

/** One component's a word of the key stream: plain loops, since every verify makes two transforms. */
function signs(random: DataView, from: number, length: number): Float64Array {
  const values = new Float64Array(length)
  for (let i = 0; i < length; i++) values[i] = wordAt(random, from + i) < HALF ? -1 : 1
  return values
}

/** Fisher and Yates. */
function permutation(random: DataView, from: number, length: number): Uint32Array {
  const order = new Uint32Array(length)
  for (let i = 0; i < length; i++) order[i] = i
  let next = from
  for (let i = length - 1; i > 0; i--) {
    const j = Math.floor((wordAt(random, next++) / WORDS) * (i + 1))
    const kept = order[i]!
    order[i] = order[j]!
    order[j] = kept
  }
  return order
}

/** How many values a word of 32 bits has. */
const WORDS = 2 ** 32
const HALF = WORDS / 2

/** Little-endian, whatever this machine is. */
function wordAt(stream: DataView, index: number): number {
  return stream.getUint32(4 * index, true)
}

/** So many words of the key stream of AES-256-CTR. */
function keyStream(key: Buffer, words: number): DataView {
  const bytes = createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(4 * words))
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
