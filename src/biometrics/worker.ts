/** The worker thread's entry: loads the pack, says so, then serves tasks. */
import { parentPort, threadId, workerData } from 'node:worker_threads'
import { enterLoadGate, leaveLoadGate } from './load-gate.js'
import type { Fault, WorkerNotice, WorkerReply, WorkerSetup, WorkerTask } from './worker-protocol.js'

type TaskHandler = (task: WorkerTask) => Promise<WorkerReply<WorkerTask['type']>>

const setup = workerData as WorkerSetup

const retryDelayMs = { first: 1_000, longest: 30_000 } as const

/**
 * Piscina awaits this promise and sends no task before it resolves, so that a worker whose networks cannot be loaded
 * never counts as ready: it tries again, ever more slowly, until they can or the pool closes.
 */
export default serve()

async function serve(): Promise<TaskHandler> {
  for (let delayMs: number = retryDelayMs.first; ; delayMs = Math.min(2 * delayMs, retryDelayMs.longest)) {
    if (enterLoadGate(setup.gate)) {
      try {
        return await load()
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        notify({ kind: 'worker-load-failed', threadId, reason })
      } finally {
        leaveLoadGate(setup.gate)
      }
    }
    await new Promise((resolve) => setTimeout(resolve, delayMs))
  }
}

async function load(): Promise<TaskHandler> {
  // Not at the top: the native libraries may only be touched inside the gate.
  const { withFirstWorkingProvider } = await import('./execution-provider.js')
  const { FacePipeline } = await import('./face-pipeline.js')
  const { runTask } = await import('./worker-tasks.js')
  const { value: pipeline, status } = await withFirstWorkingProvider(setup.executionProviders, (provider) =>
    FacePipeline.load(setup.pack, provider),
  )
  notify({ kind: 'worker-ready', threadId, provider: status })
  return async (task) => {
    if (doomed) process.exit(1)
    if (task.type === 'fault') return suffer(task.fault)
    return runTask(task, pipeline, setup.limits)
  }
}

let doomed = false

async function suffer(fault: Fault): Promise<WorkerReply<'fault'>> {
  if (!setup.faultInjection) {
    return { ok: false, code: 'engine_unavailable', message: 'Fault injection is off.' }
  }
  switch (fault.kind) {
    case 'exit':
      return process.exit(1)
    case 'exit-on-next-task':
      doomed = true
      break
    case 'throw-afterwards':
      setTimeout(() => {
        throw new Error('an injected fault')
      }, 20)
      break
    case 'stall':
      await new Promise((resolve) => setTimeout(resolve, fault.durationMs))
  }
  return { ok: true, value: {}, timingsMs: {} }
}

function notify(notice: WorkerNotice): void {
  parentPort?.postMessage(notice)
}
