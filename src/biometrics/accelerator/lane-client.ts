/** A worker's end of the lane: networks whose runs are done by the thread that owns the accelerator's sessions. */
import type { MessagePort } from 'node:worker_threads'
import { Network, type NetworkOpener, type NetworkOutput } from '../pipeline/networks/network.js'
import type { ProviderStatus } from '../types.js'
import type { LaneFault, LaneNetworkShape, LaneReply, LaneRequest } from './lane-messages.js'

export interface LaneAccess {
  port: MessagePort
  provider: ProviderStatus
  networks: LaneNetworkShape[]
}

interface Pending {
  resolve: (outputs: Map<string, NetworkOutput>) => void
  reject: (error: Error) => void
}

export class LaneClient {
  private readonly pending = new Map<number, Pending>()
  private lastId = 0

  constructor(private readonly access: LaneAccess) {
    // When the lane's thread ends, runs stay unanswered: the process ends as well, and its tasks are done once more.
    access.port.on('message', (reply: LaneReply) => this.settle(reply))
  }

  /** Opens a pipeline's networks in the lane. */
  readonly open: NetworkOpener = async (_pack, { sha256 }) => {
    const shape = this.access.networks.find((network) => network.sha256 === sha256)
    if (!shape) throw new Error('the lane has no such network')
    return new RemoteNetwork(shape.inputShape, (data, dims) => this.run(sha256, data, dims))
  }

  inject(fault: LaneFault): void {
    this.send({ fault })
  }

  close(): void {
    this.access.port.close()
  }

  private run(
    sha256: string,
    samples: Float32Array,
    dims: readonly number[],
  ): Promise<Map<string, NetworkOutput>> {
    const id = ++this.lastId
    // The stage uses its buffer again. The copy is moved to the lane, since a message that is not moved is copied twice.
    const data = samples.slice()
    const outputs = new Promise<Map<string, NetworkOutput>>((resolve, reject) =>
      this.pending.set(id, { resolve, reject }),
    )
    this.send({ id, sha256, data, dims }, [data.buffer])
    return outputs
  }

  private send(request: LaneRequest, transfer: ArrayBuffer[] = []): void {
    this.access.port.postMessage(request, transfer)
  }

  private settle(reply: LaneReply): void {
    const run = this.pending.get(reply.id)
    this.pending.delete(reply.id)
    if ('error' in reply) run?.reject(new Error(reply.error))
    else run?.resolve(reply.outputs)
  }
}

class RemoteNetwork extends Network {
  constructor(
    override readonly inputShape: LaneNetworkShape['inputShape'],
    override readonly run: Network['run'],
  ) {
    super()
  }

  /** Leaves the network loaded: the lane owns it. */
  override async release(): Promise<void> {}
}
