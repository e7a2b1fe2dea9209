/**
 * Entry of the thread that owns an accelerator's sessions: loads the networks on the first accelerator that works, and
 * on the processor as a standby, then serves the ports of the workers.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { ModelPack } from '../../../models/pack/model-pack.js'
import type { NetworkFile } from '../../../models/pack/pack-schema.js'
import { withFirstWorkingProvider } from '../pipeline/execution-provider.js'
import { FacePipeline } from '../pipeline/face-pipeline.js'
import { loadNetwork, type Network } from '../pipeline/network.js'
import { MAX_ROWS } from './batch-queue.js'
import { Lane, type LaneNetwork } from './lane.js'
import type { LaneEvent, LaneFault, LaneOrder, LaneReply, LaneRequest, LaneSetup } from './lane-messages.js'

const setup = workerData as LaneSetup
const service = parentPort!
const runs = new Int32Array(setup.runs)

/** Side in pixels of the example for a network that takes pictures of any size; a multiple of every stride. */
const EXAMPLE_SIDE = 320

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
    for (const network of networks.values()) network.isBatchable = await takesBatches(network.accelerated)
    return networks
  } catch (error) {
    for (const { accelerated, standby } of networks.values()) {
      await accelerated.release()
      await standby.release()
    }
    throw error
  }
}

/**
 * Returns whether a network does several rows in one run, and runs it once with each number of rows that a batch can
 * have: accelerators choose and compile their kernels for each shape, which takes up to seconds.
 */
async function takesBatches(network: Network): Promise<boolean> {
  const [rows, ...row] = network.inputShape
  if (rows !== null) return false
  // The shape of a detector's input depends on the picture, so only one example of it is tried.
  const shape = row.map((side, i) => side ?? (i === 0 ? 3 : EXAMPLE_SIDE))
  const length = shape.reduce((product, side) => product * side, 1)
  for (let count = 1; count <= MAX_ROWS; count *= 2) {
    const outputs = await network.run(new Float32Array(count * length), [count, ...shape])
    // A graph may flatten its rows into one although its input has a free number of them.
    for (const { dims } of outputs.values()) if (dims[0] !== count) return false
  }
  return true
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
