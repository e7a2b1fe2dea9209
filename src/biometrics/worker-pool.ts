/**
 * The inference threads: a Piscina pool of fixed size whose workers count only once they have loaded and warmed up their
 * networks. Main thread. Two rules hold everywhere here, since breaking either aborts the process: a worker is never
 * terminated while it may be inside ONNX Runtime, and a running task is never aborted.
 */
import { createRequire } from 'node:module'
import type { Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { closeLoadGate, createLoadGate } from './load-gate.js'
import type { ProviderStatus } from './types.js'
import type { WorkerNotice, WorkerReply, WorkerSetup, WorkerTask } from './worker-protocol.js'

export interface WorkerPoolHooks {
  /** The number of ready workers has changed. */
  onChange: () => void
  onIncident: (incident: { kind: string; error: unknown }) => void
}

type WorkerState = 'loading' | 'load-failed' | 'ready' | 'lost'

export class WorkerPool {
  readonly #pool: Piscina<WorkerTask, WorkerReply<WorkerTask['type']>>
  readonly #gate: WorkerSetup['gate']
  readonly #hooks: WorkerPoolHooks
  readonly #states = new Map<Worker, WorkerState>()
  #provider: ProviderStatus = { active: 'cpu', fallbacks: [] }
  #closing = false

  private constructor(
    setup: Omit<WorkerSetup, 'gate'>,
    workers: number,
    tasksPerWorker: number,
    hooks: WorkerPoolHooks,
  ) {
    this.#gate = createLoadGate()
    this.#hooks = hooks
    this.#pool = new Piscina({
      // The compiled file, also when this module itself runs from its TypeScript source.
      filename: createRequire(import.meta.url).resolve('#engine-worker'),
      minThreads: workers,
      maxThreads: workers,
      concurrentTasksPerWorker: tasksPerWorker,
      idleTimeout: Number.POSITIVE_INFINITY,
      // Otherwise an idle worker sleeps in Atomics.wait and its late errors and retry timers wait with it.
      atomics: 'disabled',
      workerData: { ...setup, gate: this.#gate } satisfies WorkerSetup,
    })
    // Without a listener, a late error in an idle worker would end the process.
    this.#pool.on('error', (error) => this.#report('worker_error', error))
    this.#trackNewWorkers()
  }

  /**
   * Starts the workers and waits until every one of them is ready.
   * @throws what kept the first failing worker from loading
   */
  static async start(
    setup: Omit<WorkerSetup, 'gate'>,
    workers: number,
    tasksPerWorker: number,
    hooks: WorkerPoolHooks,
  ): Promise<WorkerPool> {
    let settle: (failure?: Error) => void = () => {}
    const allReady = new Promise<void>((resolve, reject) => {
      settle = (failure) => (failure ? reject(failure) : resolve())
    })
    const pool = new WorkerPool(setup, workers, tasksPerWorker, {
      onChange: () => {
        if (pool.readyCount === workers) settle()
        hooks.onChange()
      },
      onIncident: (incident) => {
        const cause = incident.error
        settle(
          new Error(`a worker could not start: ${cause instanceof Error ? cause.message : cause}`, { cause }),
        )
        hooks.onIncident(incident)
      },
    })
    try {
      await allReady
      return pool
    } catch (error) {
      await pool.close()
      throw error
    }
  }

  /** Workers that have loaded and warmed up their networks and are alive. */
  get readyCount(): number {
    return this.#count('ready')
  }

  /** No worker is ready and none is about to be. */
  get isHopeless(): boolean {
    return this.readyCount === 0 && this.#count('loading') === 0
  }

  /** What runs the sessions, as the last worker that became ready reported it. */
  get provider(): ProviderStatus {
    return this.#provider
  }

  /**
   * Runs one task; at most `readyCount` may run at a time.
   * @throws only when the worker was lost on the way: failures of the task itself are part of the reply
   */
  run<T extends WorkerTask>(task: T): Promise<WorkerReply<T['type']>> {
    return this.#pool.run(task) as Promise<WorkerReply<T['type']>>
  }

  /** Ends the threads. No task may be running: the caller waits for that first. */
  async close(): Promise<void> {
    this.#closing = true
    await closeLoadGate(this.#gate)
    await this.#pool.destroy()
    this.#states.clear()
  }

  #count(state: WorkerState): number {
    let count = 0
    for (const current of this.#states.values()) if (current === state) count++
    return count
  }

  #trackNewWorkers(): void {
    for (const worker of this.#pool.threads) {
      if (this.#states.has(worker)) continue
      this.#states.set(worker, 'loading')
      worker.on('message', (message: WorkerNotice | object) => this.#onNotice(worker, message))
      // Piscina's own listeners came first: by now it has replaced the worker.
      worker.once('error', () => this.#onLost(worker, 'lost'))
      worker.once('exit', (exitCode) => {
        this.#onLost(worker, 'gone')
        this.#report('worker_exited', new Error(`a worker exited with code ${exitCode}`))
      })
    }
  }

  #onNotice(worker: Worker, notice: WorkerNotice | object): void {
    if (!('kind' in notice)) return
    if (notice.kind === 'worker-ready') {
      this.#provider = notice.provider
      this.#states.set(worker, 'ready')
    } else {
      this.#states.set(worker, 'load-failed')
      this.#report('worker_load_failed', new Error(notice.reason))
    }
    this.#hooks.onChange()
  }

  #onLost(worker: Worker, as: 'lost' | 'gone'): void {
    if (as === 'lost') this.#states.set(worker, 'lost')
    else this.#states.delete(worker)
    if (this.#closing) return
    this.#trackNewWorkers()
    this.#hooks.onChange()
  }

  #report(kind: string, error: unknown): void {
    if (!this.#closing) this.#hooks.onIncident({ kind, error })
  }
}
