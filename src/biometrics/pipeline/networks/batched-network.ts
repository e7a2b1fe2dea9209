/** Runs one network over several crops of the same size: in one batch if its input allows that, else crop by crop. */

import type { Network } from './network.js'

export class BatchedNetwork {
  private readonly cropLength: number

  /**
   * @param name the network's role in the pack, for error messages
   * @param input size of a crop in pixels
   * @param outputLength numbers that the network returns for one crop
   */
  constructor(
    private readonly network: Network,
    private readonly name: string,
    private readonly input: { width: number; height: number },
    private readonly outputLength: number,
  ) {
    this.cropLength = 3 * input.width * input.height
  }

  /**
   * One batch takes a tenth less time than one crop after the other.
   * @param crops [count, 3, height, width] float32; may be reused once the promise is settled
   * @returns [count × outputLength] float32
   */
  async run(crops: Float32Array): Promise<Float32Array> {
    const count = crops.length / this.cropLength
    if (count > 0 && this.network.inputShape[0] === null) return this.runBatch(crops, count)
    const outputs = new Float32Array(count * this.outputLength)
    for (let i = 0; i < count; i++) {
      const crop = crops.subarray(i * this.cropLength, (i + 1) * this.cropLength)
      outputs.set(await this.runBatch(crop, 1), i * this.outputLength)
    }
    return outputs
  }

  private async runBatch(crops: Float32Array, count: number): Promise<Float32Array> {
    const { width, height } = this.input
    const { data } = await this.network.runSingle(crops, [count, 3, height, width])
    if (data.length !== count * this.outputLength)
      throw new Error(
        `the ${this.name} network returned ${data.length / count} numbers, the pack says ${this.outputLength}`,
      )
    return data
  }
}
