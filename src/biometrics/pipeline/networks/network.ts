/** One loaded ONNX network: float32 tensor in, named tensors out. Input and output names come from the file. */
import { type InferenceSession, Tensor } from 'onnxruntime-node'
import type { ModelPack } from '../../../../models/pack/model-pack.js'
import { fileForProvider, readNetwork } from '../../../../models/pack/network-files.js'
import type { NetworkFile } from '../../../../models/pack/pack-schema.js'
import { createSession } from './execution-provider.js'

/** A float32 output and its shape. */
export interface NetworkOutput {
  data: Float32Array
  dims: readonly number[]
}

/** A network that a stage runs: in a session of the calling thread, or in the lane of an accelerator. */
export abstract class Network {
  /** Declared input shape; a symbolic dimension is `null`. */
  abstract get inputShape(): ReadonlyArray<number | null>

  /** @param data may be reused once the promise is settled */
  abstract run(data: Float32Array, dims: readonly number[]): Promise<Map<string, NetworkOutput>>

  abstract release(): Promise<void>

  /** Runs a network with a single output. */
  async runSingle(data: Float32Array, dims: readonly number[]): Promise<NetworkOutput> {
    const [output] = (await this.run(data, dims)).values()
    if (!output) throw new Error('the network has no output')
    return output
  }
}

/** Gives a pipeline one of its pack's networks. */
export type NetworkOpener = (pack: ModelPack, network: NetworkFile) => Promise<Network>

/**
 * Loads the graph of a network that suits the provider, into a session of the calling thread.
 * @param threads number of threads that compute one run on the processor. Default 1.
 * @throws ModelPackError pack_file_missing, pack_file_mismatch; ONNX Runtime's error when the provider cannot serve
 */
export async function loadNetwork(
  pack: ModelPack,
  network: NetworkFile,
  provider: string,
  threads = 1,
): Promise<Network> {
  const bytes = await readNetwork(pack, fileForProvider(network, provider))
  return new SessionNetwork(await createSession(bytes, provider, threads))
}

/** A network in a session of the calling thread, which every run blocks: ONNX Runtime computes synchronously. */
class SessionNetwork extends Network {
  constructor(private readonly session: InferenceSession) {
    super()
  }

  override get inputShape(): ReadonlyArray<number | null> {
    const metadata = this.session.inputMetadata[0]
    if (!metadata?.isTensor) return []
    return metadata.shape.map((side) => (typeof side === 'number' && side > 0 ? side : null))
  }

  override async run(data: Float32Array, dims: readonly number[]): Promise<Map<string, NetworkOutput>> {
    const feeds = { [this.session.inputNames[0]!]: new Tensor('float32', data, dims) }
    const results = await this.session.run(feeds, { logSeverityLevel: 4 })
    const outputs = new Map<string, NetworkOutput>()
    for (const name of this.session.outputNames) {
      const tensor = results[name] as Tensor
      outputs.set(name, { data: tensor.data as Float32Array, dims: tensor.dims })
    }
    return outputs
  }

  override release(): Promise<void> {
    return this.session.release()
  }
}
