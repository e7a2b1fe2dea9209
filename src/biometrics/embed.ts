/** The embedding stage: an aligned chip becomes a vector that can be compared. */
import { kernels } from './kernels/kernels.js'
import { normalizeLength } from './kernels/vector-math.js'
import type { Network } from './network.js'
import type { EmbedderSpec } from './pack-schema.js'

export class FaceEmbedder {
  readonly #network: Network
  readonly #spec: EmbedderSpec
  /** [2, 3, height, width]: the chip and its mirror image. */
  readonly #pair: Float32Array

  constructor(network: Network, spec: EmbedderSpec) {
    this.#network = network
    this.#spec = spec
    this.#pair = new Float32Array(2 * 3 * spec.input.width * spec.input.height)
  }

  /**
   * @param chip [3, height, width] float32 as `FaceAligner` makes it
   * @returns [dimensions] float32, of length 1 when the pack says `normalize`; a new array
   */
  async embed(chip: Float32Array): Promise<Float32Array> {
    const { dimensions, flipAverage, normalize } = this.#spec
    const embedding = flipAverage
      ? averageOf(await this.#runBoth(chip), dimensions)
      : await this.#run(chip, 1)
    if (normalize) normalizeLength(embedding)
    if (!embedding.every(Number.isFinite))
      throw new Error('the embedder returned a number that is not finite')
    return embedding
  }

  /** @returns [2 × dimensions]: the chip's and its mirror image's */
  async #runBoth(chip: Float32Array): Promise<Float32Array> {
    const mirrored = this.#pair.subarray(chip.length)
    kernels.mirrorPlanar(chip, mirrored, this.#spec.input.width)
    // One run of two costs up to a seventh less than two runs of one, where the network allows it.
    if (this.#network.inputShape[0] === null) {
      this.#pair.set(chip)
      return this.#run(this.#pair, 2)
    }
    const both = new Float32Array(2 * this.#spec.dimensions)
    both.set(await this.#run(chip, 1))
    both.set(await this.#run(mirrored, 1), this.#spec.dimensions)
    return both
  }

  async #run(chips: Float32Array, count: number): Promise<Float32Array> {
    const { input, dimensions } = this.#spec
    const { data } = await this.#network.runSingle(chips, [count, 3, input.height, input.width])
    if (data.length !== count * dimensions) {
      throw new Error(`the embedder returned ${data.length / count} numbers, the pack says ${dimensions}`)
    }
    return data
  }
}

/** @param both [2 × dimensions] */
function averageOf(both: Float32Array, dimensions: number): Float32Array {
  return Float32Array.from({ length: dimensions }, (_, i) => (both[i]! + both[dimensions + i]!) / 2)
}
