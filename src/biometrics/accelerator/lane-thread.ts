/**
 * Entry of the thread that owns an accelerator's sessions: loads the networks on the first accelerator that works, and
 * on the processor as a standby, then serves the ports of the workers.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { ModelPack } from '../../../models/pack/model-pack.js'
import type { NetworkFile } from '../../../models/pack/pack-schema.js'
import { FacePipeline } from '../pipeline/face-pipeline.js'
import { STAND_IN_PROVIDER } from '../pipeline/networks/accelerators.js'
import { withFirstWorkingProvider } from '../pipeline/networks/execution-provider.js'
import { loadNetwork } from '../pipeline/networks/network.js'
import { takesBatches } from './batch-trial.js'
import { Lane, type LaneNetwork } from './lane.js'
import type { LaneEvent, LaneFault, LaneOrder, LaneReply, LaneRequest, LaneSetup } from './lane-messages.js'

const setup = workerData as LaneSetup
const service = parentPort!
const runs = new Int32Array(setup.runs)

/** Faults that tests inject: the next run on the accelerator does this instead. */
const FAULTS: Record<LaneFault, () => void> = {
  lose() {
    throw new Error('device lost (an injected fault)')
  },
  exit: () => process.exit(1),
  hang() {
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  },
}

async function main(): Promise<void> {
  const { value: networks, status: provider } = await withFirstWorkingProvider(setup.providers, (name) =>
    name === 'cpu' ? Promise.resolve(null) : loadAll(name),
  )
  if (!networks) {
    send({ kind: 'none', provider })
    return
  }
  const lane = new Lane({
    networks,
    onLost: (reason) => send({ kind: 'lost', reason }),
    onRun: () => void Atomics.add(runs, 0, 1),
  })
  service.on('message', ({ port }: LaneOrder) => {
    if (port) serve(port, lane)
    else service.close()
  })
  const shapes = [...networks].map(([sha256, { accelerated }]) => ({
    sha256,
    inputShape: accelerated.inputShape,
  }))
  send({ kind: 'ready', provider, networks: shapes })
}

function send(event: LaneEvent): void {
  service.postMessage(event)
}

/** @throws ModelPackError pack_file_missing, pack_file_mismatch; ONNX Runtime's error when the provider cannot serve */
async function loadAll(provider: string): Promise<Map<string, LaneNetwork>> {
  const networks = new Map<string, LaneNetwork>()
  const open = async (pack: ModelPack, file: NetworkFile) => {
    const known = networks.get(file.sha256)
    if (known) return known.accelerated
    const accelerated = await loadNetwork(pack, file, provider, setup.processorThreads)
    // The file is the one that the accelerator has: in its 8-bit form the scores would be other ones.
    const { quantised: _, ...plain } = file
    const standby = await loadNetwork(pack, plain, 'cpu', setup.processorThreads)
    networks.set(file.sha256, { accelerated, standby, isBatchable: false })
    return accelerated
  }
  try {
    // Each pipeline runs each of its networks once.
    for (const pack of setup.packs) await FacePipeline.load(pack, { provider, limits: setup.limits, open })
    // The processor compiles nothing for a shape.
    const mostRows = provider === STAND_IN_PROVIDER ? 2 : undefined
    for (const network of networks.values())
      network.isBatchable = await takesBatches(network.accelerated, mostRows)
    return networks
  } catch (error) {
    for (const { accelerated, standby } of networks.values()) {
      await accelerated.release()
      await standby.release()
    }
    throw error
  }
}

function serve(port: MessagePort, lane: Lane): void {
  const reply = (message: LaneReply, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer)
  port.on('message', (request: LaneRequest) => {
    if ('fault' in request) {
      lane.inject(FAULTS[request.fault])
      return
    }
    const { id, ...run } = request
    lane.submit({
      ...run,
      resolve: (outputs) => {
        const buffers = [...outputs.values()].map(({ data }) => data.buffer as ArrayBuffer)
        reply({ id, outputs }, [...new Set(buffers)])
      },
      reject: ({ message }) => reply({ id, error: message }),
    })
  })
  // Only the port to the engine process keeps the thread alive.
  port.unref()
}

await main()
