/** The baseline pack that this run has built: gives its sessions, runs them on planar images. */
import { join } from 'node:path'
import { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node'
import { inject } from 'vitest'
import type { Tensor } from './reference/nhwc.js'

export type Network = 'detector' | 'landmarks' | 'embedder'

export class BaselinePack {
  private readonly sessions = new Map<Network, InferenceSession>()

  readonly dir = join(inject('modelsDir'), 'baseline')

  async close(): Promise<void> {
    await Promise.all([...this.sessions.values()].map((session) => session.release()))
  }

  /** Runs one network on images of equal size, given as RGB bytes [height,width,3]. */
  async run(network: Network, images: Tensor[]): Promise<{ dims: readonly number[]; data: Float32Array }> {
    const session = await this.session(network)
    const { height, width } = images[0]!
    const planes = new Float32Array(images.length * 3 * height * width)
    let at = 0
    for (const image of images) {
      for (let c = 0; c < 3; c++) {
        for (let pixel = 0; pixel < height * width; pixel++) planes[at++] = image.data[pixel * 3 + c]!
      }
    }
    const outputs = await session.run({
      input: new OrtTensor('float32', planes, [images.length, 3, height, width]),
    })
    const output = outputs[session.outputNames[0]!]!
    return { dims: output.dims, data: output.data as Float32Array }
  }

  private async session(network: Network): Promise<InferenceSession> {
    const opened =
      this.sessions.get(network) ??
      (await InferenceSession.create(join(this.dir, `${network}.onnx`), {
        intraOpNumThreads: 1,
        interOpNumThreads: 1,
      }))
    this.sessions.set(network, opened)
    return opened
  }
}
