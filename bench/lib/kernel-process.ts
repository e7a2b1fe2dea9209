/** The bare kernel loop in a process of its own: as many threads as the service has workers, and nothing else. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { configureDecoders } from '../../src/biometrics/pipeline/decode/decode-pixels.js'
import { serveOrders } from './helper-process.js'
import { type KernelOrder, type KernelResult, type KernelRound, monotonicMs } from './kernel-orders.js'
import type { LoopOrder } from './kernel-thread.js'

const threads: Worker[] = []
const stopFlag = new Int32Array(new SharedArrayBuffer(4))
/** Settles when no thread is inside ONNX Runtime: ending one there would abort the process. */
let busy: Promise<unknown> = Promise.resolve()

const NOTHING: KernelResult = { latenciesMs: [], doneAtMs: [], cpuMs: 0, wallMs: 0 }

async function perform(order: KernelOrder): Promise<KernelResult> {
  const work = order.type === 'load' ? load(order) : loop(order)
  busy = work.catch(() => {})
  return work
}

async function load({
  threads: count,
  ...setup
}: Extract<KernelOrder, { type: 'load' }>): Promise<KernelResult> {
  // The engine does the same before its first worker: otherwise libvips would take more threads than in the service.
  configureDecoders()
  // Threads load one after the other: sessions that load at once only take each other's cores.
  for (let thread = 0; thread < count; thread++) {
    const worker = new Worker(new URL('./kernel-thread.js', import.meta.url), {
      workerData: { ...setup, stopFlag, thread },
    })
    threads.push(worker)
    await once(worker, 'message')
  }
  return NOTHING
}

async function loop(order: Extract<KernelOrder, { type: 'loop' }>): Promise<KernelResult> {
  const countFromMs = monotonicMs() + order.warmUpSeconds * 1000
  const endMs = countFromMs + order.seconds * 1000
  const rounds = Promise.all(
    threads.slice(0, order.threads).map(async (thread) => {
      const answer = once(thread, 'message')
      const { picturesAtOnce } = order
      thread.postMessage({ picturesAtOnce, countFromMs, endMs } satisfies LoopOrder)
      const [round] = (await answer) as [KernelRound]
      return round
    }),
  )
  await Promise.race([rounds, sleep(countFromMs - monotonicMs())])
  const cpuAtStart = process.cpuUsage()
  const parts = await rounds
  const { user, system } = process.cpuUsage(cpuAtStart)
  return {
    latenciesMs: parts.flatMap(({ latenciesMs }) => latenciesMs),
    doneAtMs: parts.flatMap(({ doneAtMs }) => doneAtMs),
    cpuMs: (user + system) / 1000,
    wallMs: monotonicMs() - countFromMs,
  }
}

serveOrders(perform, async () => {
  Atomics.store(stopFlag, 0, 1)
  await busy
  await Promise.all(threads.map((thread) => thread.terminate()))
})
