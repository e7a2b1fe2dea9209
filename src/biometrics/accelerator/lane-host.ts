/** The lane's thread as its process sees it: started before the workers, ended after them, and watched meanwhile. */
import { createRequire } from 'node:module'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { ProviderStatus } from '../types.js'
import type { LaneAccess } from './lane-client.js'
import type { LaneEvent, LaneNetworkShape, LaneOrder, LaneSetup } from './lane-messages.js'

export interface LaneHostOptions extends Omit<LaneSetup, 'runs'> {
  /** Called when the accelerator is lost and the lane goes on with the processor. */
  onLost: (reason: string) => void
  /** Called when the lane can do no more runs: its thread has ended, or a run does not end. */
  onEnd: (end: { reason: string; isHung: boolean }) => void
}

/** Milliseconds between two looks at the run under way. */
const LOOK_EVERY_MS = 1_000
/**
 * Number of looks in a row that see the same run before it counts as hung. The first run of a shape may compile kernels
 * for seconds.
 */
const HUNG_LOOKS = 10
/** Maximum of the thread's JavaScript heap, in MiB; tensors lie outside of it. */
const HEAP_MIB = 256

export class LaneHost {
  readonly provider: ProviderStatus
  private readonly networks: LaneNetworkShape[]
  private isClosing = false

  private constructor(
    private readonly thread: Worker,
    { provider, networks }: Extract<LaneEvent, { kind: 'ready' }>,
    runs: SharedArrayBuffer,
    { onLost, onEnd }: LaneHostOptions,
  ) {
    this.provider = provider
    this.networks = networks
    const watch = watchRuns(runs, () =>
      onEnd({ reason: 'a run on the accelerator did not end', isHung: true }),
    )
    thread.on('message', (event: LaneEvent) => {
      if (event.kind === 'lost') onLost(event.reason)
    })
    let failure = 'the thread of the accelerator ended'
    thread.on('error', (error) => {
      failure = `the thread of the accelerator failed: ${error.message}`
    })
    thread.on('exit', () => {
      clearInterval(watch)
      if (!this.isClosing) onEnd({ reason: failure, isHung: false })
    })
  }

  /**
   * Starts the thread and waits until it has loaded and tried every network.
   * @returns the lane, or why none of the accelerators can serve
   * @throws Error when the thread ends before
   */
  static async start(options: LaneHostOptions): Promise<LaneHost | { unavailable: ProviderStatus }> {
    const { onLost: _, onEnd: __, ...setup } = options
    const runs = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
    const thread = new Worker(createRequire(import.meta.url).resolve('#accelerator-lane'), {
      workerData: { ...setup, runs } satisfies LaneSetup,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    })
    const event = await new Promise<LaneEvent>((resolve, reject) => {
      thread.once('message', resolve)
      thread.once('error', reject)
      thread.once('exit', () => reject(new Error('the thread of the accelerator ended while it loaded')))
    })
    if (event.kind !== 'ready')
      return { unavailable: (event as Extract<LaneEvent, { kind: 'none' }>).provider }
    return new LaneHost(thread, event, runs, options)
  }

  /** Gives a worker a port of its own, which must be transferred to its thread. */
  connect(): LaneAccess {
    const { port1, port2 } = new MessageChannel()
    this.order({ port: port1 })
    return { port: port2, provider: this.provider, networks: this.networks }
  }

  /** Ends the thread. No worker may have a run under way: ending a thread inside ONNX Runtime aborts the process. */
  async close(): Promise<void> {
    this.isClosing = true
    const ended = new Promise((resolve) => this.thread.once('exit', resolve))
    this.order({})
    await ended
  }

  private order(order: LaneOrder): void {
    this.thread.postMessage(order, order.port ? [order.port] : [])
  }
}

/** Calls `onHung` once when one run lasts for `HUNG_LOOKS` looks. */
function watchRuns(runs: SharedArrayBuffer, onHung: () => void): NodeJS.Timeout {
  const counter = new Int32Array(runs)
  let [seen, looks] = [0, 0]
  return setInterval(() => {
    const count = Atomics.load(counter, 0)
    const isSameRun = count % 2 === 1 && count === seen
    looks = isSameRun ? looks + 1 : 0
    seen = count
    if (looks === HUNG_LOOKS) onHung()
  }, LOOK_EVERY_MS).unref()
}
