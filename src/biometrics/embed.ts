/** The embedding stage: an aligned chip becomes a vector that can be compared. */
import { mirrorPlanar } from './kernels/planar-mirror.js'
import { normalizeLength } from './kernels/vector-math.js'
import type { Network } from './network.js'
import type { EmbedderSpec } from './pack-schema.js'

export class FaceEmbedder {
  readonly #network: Network
  readonly #spec: EmbedderSpec
  readonly #mirrored: Float32Array

  constructor(network: Network, spec: EmbedderSpec) {
    this.#network = network
    this.#spec = spec
    this.#mirrored = new Float32Array(3 * spec.input.width * spec.input.height)
  }

  /**
   * @param chip [3, height, width] float32 as `FaceAligner` makes it
   * @returns [dimensions] float32, of length 1 when the pack says `normalize`; a new array
   */
  async embed(chip: Float32Array): Promise<Float32Array> {
    const embedding = Float32Array.from(await this.#run(chip))
    if (this.#spec.flipAverage) {
      mirrorPlanar(chip, this.#mirrored, this.#spec.input.width)
      const other = await this.#run(this.#mirrored)
      for (let i = 0; i < embedding.length; i++) embedding[i] = (embedding[i]! + other[i]!) / 2
    }
    if (this.#spec.normalize) normalizeLength(embedding)
    if (!embedding.every(Number.isFinite))
      throw new Error('the embedder returned a number that is not finite')
    return embedding
  }

  async #run(chip: Float32Array): Promise<Float32Array> {
    const { width, height } = this.#spec.input
    const { data } = await this.#network.runSingle(chip, [1, 3, height, width])
    if (data.length !== this.#spec.dimensions) {
      throw new Error(`the embedder returned ${data.length} numbers, the pack says ${this.#spec.dimensions}`)
    }
    return data
  }
}
