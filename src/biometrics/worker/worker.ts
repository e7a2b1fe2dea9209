/**
 * Entry of a worker thread: loads the pack, connects to the service, sends `ready`, then serves tasks until the
 * service hangs up.
 */
import { connect, type NetConnectOpts, type OnReadOpts, type Socket } from 'node:net'
import { ModelPackError } from '../../../models/pack/model-pack-error.js'
import { type LaneAccess, LaneClient } from '../accelerator/lane-client.js'
import type { LaneFault } from '../accelerator/lane-messages.js'
import type {
  Breakage,
  CancelMessage,
  InjectedFault,
  PingMessage,
  TaskMessage,
  WorkerEnd,
  WorkerSetup,
  WorkerTask,
} from '../channel/engine-protocol.js'
import { type Frame, FrameReader, MAX_TASK_BYTES, writeFrame } from '../channel/frames.js'
import type { WorkerMessage, WorkerReply } from '../channel/worker-messages.js'
import { kernels } from '../kernels/kernels.js'
import { whenUnread } from '../pipeline/decode/picture-readers.js'
import { FacePipeline } from '../pipeline/face-pipeline.js'
import type { ProviderStatus } from '../types.js'
import { runTask } from './worker-tasks.js'

/** Size of the read buffer, in bytes: larger than most pictures, so that one read brings a whole one. */
const READ_BYTES = 256 * 1024

/** The setup of one thread. */
export interface ThreadSetup extends WorkerSetup {
  /** Access to the accelerator's lane. Without it the thread has sessions of its own, on the processor. */
  lane?: LaneAccess
  /** The provider that serves. */
  provider: ProviderStatus
}

let loaded: { pipeline: FacePipeline; provider: ProviderStatus; lane?: LaneClient } | undefined

/** The Piscina task: lasts until the service hangs up. */
export default async function serve(setup: ThreadSetup): Promise<WorkerEnd> {
  try {
    // A thread that serves again keeps the access that it has.
    if (loaded) setup.lane?.port.close()
    loaded ??= await load(setup)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { loaded: false, reason, ...(error instanceof ModelPackError ? { code: error.code } : {}) }
  }
  await serveTasks(loaded.pipeline, loaded.provider, setup)
  return { loaded: true }
}

async function load(setup: ThreadSetup): Promise<NonNullable<typeof loaded>> {
  const { limits, pack, otherPacks, provider } = setup
  const options = { limits, otherPacks }
  if (!setup.lane)
    return { pipeline: await FacePipeline.load(pack, { ...options, provider: 'cpu' }), provider }
  const lane = new LaneClient(setup.lane)
  const pipeline = await FacePipeline.load(pack, { ...options, provider: provider.active, open: lane.open })
  return { pipeline, provider, lane }
}

/** Resolves when the service has hung up and no task runs any more. */
async function serveTasks(
  pipeline: FacePipeline,
  provider: ProviderStatus,
  setup: WorkerSetup,
): Promise<void> {
  const underWay = new Set<Promise<void>>()
  const wanted = new Map<number, AbortController>()
  const perform = async ({ message: { id, task }, images }: Frame<TaskMessage>) => {
    const whole = (images.length > 0 ? { ...task, images } : task) as WorkerTask
    const controller = new AbortController()
    wanted.set(id, controller)
    const reply = await answer(whole, pipeline, setup, controller.signal)
    wanted.delete(id)
    send(socket, { kind: 'reply', id, reply })
    // The reply may precede the end of decoding: one bad picture is enough to refuse a task.
    await Promise.all(images.map((image) => whenUnread(image).then(() => kernels.releaseMemory(image))))
  }
  const reader = new FrameReader<TaskMessage | CancelMessage | PingMessage>(MAX_TASK_BYTES, (frame) => {
    const { message, images } = frame
    if ('ping' in message) {
      send(socket, { kind: 'pong' })
      return
    }
    if ('cancelled' in message) {
      wanted.get(message.cancelled)?.abort()
      return
    }
    const done = perform({ message, images }).finally(() => underWay.delete(done))
    underWay.add(done)
  })
  // One buffer is reused for every chunk of every picture.
  const onread: OnReadOpts = {
    buffer: Buffer.allocUnsafeSlow(READ_BYTES),
    callback: (length, buffer) => {
      reader.push(buffer.subarray(0, length))
      return true
    },
  }
  const socket = connect({ path: setup.socketPath, onread } as NetConnectOpts)
  await new Promise<void>((resolve) => {
    socket.on('connect', () => send(socket, { kind: 'ready', provider }))
    // When the service has died the connection fails; the `close` event follows and ends the serving.
    socket.on('error', () => {})
    socket.on('close', () => resolve())
  })
  await Promise.all(underWay)
}

function send(socket: Socket, message: WorkerMessage): void {
  if (!socket.destroyed) writeFrame(socket, message)
}

async function answer(
  task: WorkerTask,
  pipeline: FacePipeline,
  setup: WorkerSetup,
  signal: AbortSignal,
): Promise<WorkerReply> {
  if (doomed) doomed()
  if (task.type === 'fault') return suffer(task.fault, setup)
  return runTask(task, pipeline, signal)
}

/** Breaks the worker when the next task arrives; undefined unless a test asked for it. */
let doomed: (() => never) | undefined

const BREAKAGES: Record<Breakage, () => never> = {
  exit: () => process.exit(1),
  throw: () => {
    throw new Error('an injected fault')
  },
  exhaust() {
    const hoard: unknown[] = []
    // The pieces are large: with small ones, V8 would collect garbage for seconds and then abort the whole process
    // instead of the worker.
    for (;;) hoard.push(new Array(100_000).fill(0))
  },
  /** JavaScript cannot crash natively, so this sends the signal that the processor would. */
  crash() {
    process.kill(process.pid, 'SIGSEGV')
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  },
}

async function suffer(fault: InjectedFault, { faultInjection }: WorkerSetup): Promise<WorkerReply<'fault'>> {
  if (!faultInjection) return { ok: false, code: 'engine_unavailable', message: 'Fault injection is off.' }
  switch (fault.kind) {
    case 'accelerator-lose':
    case 'accelerator-exit':
    case 'accelerator-hang':
      if (!loaded?.lane) return { ok: false, code: 'engine_unavailable', message: 'There is no lane.' }
      loaded.lane.inject(fault.kind.replace('accelerator-', '') as LaneFault)
      break
    case 'throw-afterwards':
      setTimeout(BREAKAGES.throw, 20)
      break
    case 'stall':
      await new Promise((resolve) => setTimeout(resolve, fault.durationMs))
      break
    default: {
      const breakage = BREAKAGES[fault.kind.replace('-on-next-task', '') as Breakage]
      if (fault.kind in BREAKAGES) return breakage()
      doomed = breakage
    }
  }
  return { ok: true, value: {}, timingsMs: {} }
}
