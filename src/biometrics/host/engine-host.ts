/**
 * Entry of the engine process: a Piscina pool of fixed size, in which every thread serves the service over a socket
 * of its own. A crash of a native library ends only this process, not the service.
 */
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Piscina } from 'piscina'
import { LaneHost } from '../accelerator/lane-host.js'
import type { HostSetup, WorkerEnd, WorkerSetup } from '../channel/engine-protocol.js'
import { FrameReader, writeFrame } from '../channel/frames.js'
import type { WorkerIncident } from '../channel/worker-messages.js'
import { kernels } from '../kernels/kernels.js'
import { configureDecoders } from '../pipeline/decode/decode-pixels.js'
import { acceleratorsOf } from '../pipeline/networks/accelerators.js'
import type { ProviderStatus } from '../types.js'
import type { ThreadSetup } from '../worker/worker.js'
import { giveWay } from './give-way.js'

/**
 * Limit of a worker's JavaScript heap, in MiB. Pictures and networks lie outside of it, so a full heap is a fault,
 * and ends only that worker.
 */
const HEAP_MIB = 256

/**
 * Pauses in milliseconds before a worker that could not load its networks tries again; each pause doubles the one
 * before.
 */
const RETRY_MS = { first: 1_000, longest: 30_000 } as const

/**
 * Milliseconds between two releases of free memory. Pictures are allocated on one thread and freed on another, which
 * fragments every arena. With releases the memory was measured to stay constant; without them it grows by some 13 MB
 * an hour.
 */
const RELEASE_EVERY_MS = 60_000

/** Maximum size of the setup in bytes; it holds the pack's description and little more. */
const MAX_SETUP_BYTES = 1024 * 1024

/** When memory runs out, Linux should kill this process, which is replaced, and not the service. */
const OOM_SCORE = 500

/** Number of workers that could not load their networks and wait before they try again. */
let waiting = 0

/** Aborted when the service hangs up or has died. */
const closing = new AbortController()

// This comes before the first thread. The service ends this process by hanging up.
giveWay(constants.priority.PRIORITY_BELOW_NORMAL, OOM_SCORE)
const setups = new FrameReader<HostSetup>(MAX_SETUP_BYTES, ({ message }) => void run(message))
process.stdin.on('data', (chunk) => setups.push(chunk)).once('close', () => closing.abort())

async function run({ workers, worker }: HostSetup): Promise<void> {
  // The setting is process-wide, so it precedes the first thread: between blocking all parsers and allowing three, no
  // thread could decode.
  configureDecoders()
  const { lane, provider } = await openLane(workers, worker)
  const pool = new Piscina<ThreadSetup, WorkerEnd>({
    filename: createRequire(import.meta.url).resolve('#engine-worker'),
    minThreads: workers,
    maxThreads: workers,
    concurrentTasksPerWorker: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    // Otherwise an idle worker sleeps in Atomics.wait, and its socket is not served.
    atomics: 'disabled',
  })
  // A thread that fails outside of a task could not import its modules, and each thread after it would fail as well.
  pool.on('error', (error) => void end(report(worker, { kind: 'worker_lost', reason: describe(error) })))
  // The timer must not keep the process alive.
  setInterval(() => kernels.releaseFreePages(), RELEASE_EVERY_MS).unref()
  await Promise.all(Array.from({ length: workers }, () => keepServing(pool, worker, provider, lane)))
  // This must come last: ending a thread that may be inside ONNX Runtime aborts the process.
  await pool.destroy()
  await lane?.close()
}

/**
 * Opens the lane to the first accelerator that works. On the processor each worker has sessions of its own, and there
 * is no lane.
 */
async function openLane(
  workers: number,
  setup: WorkerSetup,
): Promise<{ lane?: LaneHost; provider: ProviderStatus }> {
  const { executionProviders, limits, pack, otherPacks } = setup
  const providers = acceleratorsOf(executionProviders)
  if (providers.length === 0) return { provider: { active: 'cpu', fallbacks: [] } }
  const lane = await LaneHost.start({
    packs: [pack, ...otherPacks],
    providers,
    limits,
    processorThreads: workers,
    onLost: (reason) => void report(setup, { kind: 'accelerator_lost', reason }),
    onEnd: ({ reason, isHung }) => {
      // The service replaces a process that hangs. A process without its lane ends: its tasks are done once more in
      // the next one.
      if (isHung) void report(setup, { kind: 'accelerator_hung', reason })
      else void end(report(setup, { kind: 'worker_lost', reason }))
    },
  })
  return 'unavailable' in lane ? { provider: lane.unavailable } : { lane, provider: lane.provider }
}

/** Keeps one thread of the pool serving: a Piscina task that lasts until the service hangs up, run again whenever its thread dies. */
async function keepServing(
  pool: Piscina<ThreadSetup, WorkerEnd>,
  setup: WorkerSetup,
  provider: ProviderStatus,
  lane: LaneHost | undefined,
): Promise<void> {
  let delayMs: number = RETRY_MS.first
  while (!closing.signal.aborted) {
    try {
      const access = lane?.connect()
      const done = await pool.run(
        { ...setup, provider, ...(access ? { lane: access } : {}) },
        access ? { transferList: [access.port] } : {},
      )
      if (done.loaded) delayMs = RETRY_MS.first
      else {
        const reported = report(setup, {
          kind: 'worker_load_failed',
          reason: done.reason,
          ...(done.code ? { code: done.code } : {}),
        })
        if (++waiting === pool.options.maxThreads) await end(reported)
        await sleep(delayMs, undefined, { signal: closing.signal }).catch(() => {})
        waiting--
        delayMs = Math.min(2 * delayMs, RETRY_MS.longest)
      }
    } catch (error) {
      void report(setup, { kind: 'worker_lost', reason: describe(error) })
    }
  }
}

/**
 * Ends this process where no worker can serve, so that the service starts another one: Node keeps a failed import for as long as a process
 * lives, also when the missing file is there again.
 */
async function end(reported: Promise<void>): Promise<never> {
  await reported
  process.exit(1)
}

/** Resolves when the service has the report, or has died. */
function report({ socketPath }: WorkerSetup, incident: WorkerIncident): Promise<void> {
  // If the service has died, nobody reads the report.
  const socket = connect(socketPath).on('error', () => {})
  writeFrame(socket, incident)
  socket.end()
  return new Promise((resolve) => socket.once('close', () => resolve()))
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
