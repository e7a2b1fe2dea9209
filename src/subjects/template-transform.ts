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
    const random = uniformNumbers(key, ROUNDS * 2 * dimensions)
    this.block = 2 ** Math.floor(Math.log2(dimensions))
    this.rounds = Array.from({ length: ROUNDS }, (_, round) => ({
      signs: new Float64Array(dimensions).map(() => (random() < 0.5 ? -1 : 1)),
      order: permutation(dimensions, random),
      blockStart: round % 2 === 0 ? 0 : dimensions - this.block,
    }))
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

/** Fisher and Yates. */
function permutation(length: number, random: () => number): Uint32Array {
  const order = new Uint32Array(length).map((_, i) => i)
  for (let i = length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const kept = order[i]!
    order[i] = order[j]!
    order[j] = kept
  }
  return order
}

/** At most `count` numbers in [0, 1), from the key stream of AES-256-CTR. */
function uniformNumbers(key: Buffer, count: number): () => number {
  const bytes = createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(4 * count))
  const stream = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let next = 0
  return () => stream.getUint32(4 * next++, true) / 2 ** 32
}
