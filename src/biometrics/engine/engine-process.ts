/**
 * The engine process as the service sees it: a pool of workers, each at the other end of a socket. `channel/engine-protocol.ts`
 * has the messages. A native crash in a decoder or in ONNX Runtime ends that process and loses only the running tasks, which the
 * dispatcher retries once.
 *
 * States of the process, all moved by this class:
 *
 *   starting --first `ready`--> serving --ends--> starting                  (`wasReady`: at once)
 *       ^  |
 *       |  +--ends before any worker is ready--> pausing (1 s, doubled up to 30 s; `failed`: calls are refused)
 *       +---------------------------------------------+
 *   any state --close()--> closing: standard input ends, sockets are closed, the process exits
 *
 * Who recovers what:
 *
 *   a worker thread dies          engine-host.ts starts another one; here the socket closes
 *   a worker cannot load          engine-host.ts reports `worker_load_failed` and tries again
 *   no worker can load            engine-host.ts reports it and ends, since a process keeps its failed imports
 *   a socket closes               after LOSS_SETTLES_MS its tasks count as lost, and the dispatcher retries them
 *   a worker sends no valid frame its connection is closed (`worker_garbled`), as if the worker had died
 *   a worker answers no pings     after SILENT_PINGS it counts as silent, after HUNG_PINGS the process is killed (`engine_hung`)
 *   a task takes too long         the process is killed (`task_stuck`)
 *   the accelerator fails a run   its lane goes on with the processor (`accelerator_lost`)
 *   a run on it does not end      the process is killed; the next one uses the processor (`accelerator_hung`)
 *   the process crashes on one    the next one uses the processor: a driver that crashes would crash it too
 *   the process ends or is killed `onEnd` starts another one (`engine_process_lost`)
 *
 * Tests: test/biometrics/engine/engine.test.ts (deaths), hung-engine.test.ts (pings), lost-tasks.test.ts (retries).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelPack } from '../../../models/pack/model-pack.js'
import { ModelPackError } from '../../../models/pack/model-pack-error.js'
import type {
  CancelMessage,
  HostSetup,
  PingMessage,
  TaskMessage,
  WorkerSetup,
  WorkerTask,
} from '../channel/engine-protocol.js'
import { FrameError, FrameReader, writeFrame } from '../channel/frames.js'
import {
  type MessageCheck,
  messageCheck,
  type TaskType,
  type WorkerReply,
} from '../channel/worker-messages.js'
import { DECODING_BUDGET } from '../pipeline/decode/decoding-budget.js'
import type { EngineIncident, ProviderStatus } from '../types.js'

export interface EngineProcessOptions extends Omit<WorkerSetup, 'socketPath'> {
  workers: number
  /** Milliseconds between two pings of each worker. Default 1,000. */
  pingIntervalMs?: number | undefined
  /** Aborted when the start is abandoned: the process is then killed, since loading the networks cannot be interrupted. */
  signal?: AbortSignal | undefined
  /** Called when the number of ready workers has changed. */
  onChange: () => void
  onIncident: (incident: EngineIncident) => void
}

interface RunningTask {
  type: TaskType
  /** Checks replies of the pack that decides in this task. */
  check: MessageCheck
  /** Number of pictures of the task; 1 for a task without any. */
  pictures: number
  resolve: (reply: WorkerReply) => void
  reject: (error: Error) => void
  /** Kills the process when the task takes too long. */
  watchdog: NodeJS.Timeout
}

/** A worker that is ready, and its connection. */
interface Worker {
  socket: Socket
  running: Map<number, RunningTask>
  /** Number of pings in a row without any message from the worker. */
  unanswered: number
}

/**
 * Pauses in milliseconds before the process is started again, if the last one ended before any of its workers was
 * ready; each pause doubles the one before.
 */
const RETRY_MS = { first: 1_000, longest: 30_000 } as const
/**
 * Maximum time of a task in milliseconds, for each of its pictures. A picture may wait for the costly ones of the
 * other tasks that its worker holds, take the decoding deadline itself and a second for its face. A task that takes
 * longer is stuck in native code for good.
 */
const STUCK_MS_PER_PICTURE = 5 * DECODING_BUDGET.deadlineMs
/**
 * Delay in milliseconds before the tasks of a closed socket count as lost. When the process dies, its sockets close
 * one after the other: a task that was reported at once would be retried on another socket that is dead as well.
 */
const LOSS_SETTLES_MS = 50
/**
 * Milliseconds between two pings of each worker. Unanswered pings are counted instead of seconds: after the service
 * itself stood still, as on a suspended machine, the first ping counts as one.
 */
const PING_INTERVAL_MS = 1000
/**
 * Unanswered pings after which a worker counts as silent. A worker computes for some 0.1 s between two turns of its
 * event loop, on a busy machine for a second.
 */
const SILENT_PINGS = 4
/** Unanswered pings after which the whole process is replaced: twice `SILENT_PINGS`. */
const HUNG_PINGS = 8
/** Signals by which the system ends a process for a fault in native code. */
const CRASH_SIGNALS: ReadonlyArray<string | null> = ['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL', 'SIGFPE']
/**
 * Maximum size of a reply, in bytes. A reply holds a few vectors and measurements, which is kilobytes; a longer one
 * comes from a compromised worker.
 */
const MAX_REPLY_BYTES = 1024 * 1024

/** Maximum length of a reason in the health report, in characters. */
const MAX_REASON = 200

export class EngineProcess {
  /** The check of messages for each pack that may decide, by model id. */
  private readonly checks: ReadonlyMap<string, MessageCheck>
  private readonly dir: string
  private readonly server: Server
  private readonly workers = new Set<Worker>()
  private child: ChildProcess | undefined
  private lastProvider: ProviderStatus = { active: 'cpu', fallbacks: [] }
  /** Why the processor serves although an accelerator served before; null where none was lost. */
  private lost: ProviderStatus['fallbacks'][number] | null = null
  /** Processes that are started from now on use the processor only. */
  private isAcceleratorOff = false
  private lastId = 0
  /**
   * A worker could not load its networks, or the process ended before any worker was ready, and no worker has become
   * ready since. While this is true and no worker is ready, waiting calls are refused.
   */
  private failed = false
  /** At least one worker of the current process became ready: if that process ends, the next one is started at once. */
  private wasReady = false
  private retryMs: number = RETRY_MS.first
  private retry: NodeJS.Timeout | undefined
  private beat: NodeJS.Timeout | undefined
  private closing = false

  private constructor(private readonly options: EngineProcessOptions) {
    this.checks = checksOf([options.pack, ...options.otherPacks])
    // The folder is readable only by its owner: any process that could connect could reply instead of a worker.
    this.dir = mkdtempSync(join(tmpdir(), 'countersign-engine-'))
    this.server = createServer((socket) => this.welcome(socket)).listen(this.socketPath)
  }

  /**
   * Starts the process and waits until every worker is ready, or until `signal` aborts.
   * @throws ModelPackError for a pack that cannot be used here; Error with any other reason for which the first failing worker could not load
   */
  static async start(options: EngineProcessOptions): Promise<EngineProcess> {
    let settle: (failure?: Error) => void = () => {}
    const allReady = new Promise<void>((resolve, reject) => {
      settle = (failure) => (failure ? reject(failure) : resolve())
    })
    const engine = new EngineProcess({
      ...options,
      onChange: () => {
        if (engine.readyCount === options.workers) settle()
        options.onChange()
      },
      onIncident: (incident) => {
        const { error: cause } = incident
        settle(
          cause instanceof ModelPackError
            ? cause
            : new Error(`a worker could not start: ${cause instanceof Error ? cause.message : cause}`, {
                cause,
              }),
        )
        options.onIncident(incident)
      },
    })
    const { signal } = options
    const abandon = () => settle(signal!.reason)
    try {
      await once(engine.server, 'listening')
      signal?.throwIfAborted()
      signal?.addEventListener('abort', abandon)
      engine.spawn()
      await allReady
      engine.beat = setInterval(() => engine.ping(), options.pingIntervalMs ?? PING_INTERVAL_MS).unref()
      return engine
    } catch (error) {
      const closed = engine.close()
      if (signal?.aborted) engine.child?.kill('SIGKILL')
      await closed
      throw error
    } finally {
      signal?.removeEventListener('abort', abandon)
    }
  }

  /** Number of live workers that have loaded and warmed up their networks. */
  get readyCount(): number {
    return this.workers.size
  }

  /** True when there are workers and none of them answers: the process stands still, or is stuck in native code. */
  get isSilent(): boolean {
    return this.readyCount > 0 && [...this.workers].every(({ unanswered }) => unanswered >= SILENT_PINGS)
  }

  get processId(): number | undefined {
    return this.child?.pid
  }

  /** True when no worker is ready and none is about to be. */
  get isHopeless(): boolean {
    return this.failed && this.readyCount === 0
  }

  /** The execution provider that serves, and those that cannot. */
  get provider(): ProviderStatus {
    const { lost, lastProvider } = this
    return lost ? { active: 'cpu', fallbacks: [...lastProvider.fallbacks, lost] } : lastProvider
  }

  /** True when the processor serves because an accelerator was lost while it served. */
  get isAcceleratorLost(): boolean {
    return this.lost !== null
  }

  /**
   * Runs one task on the least busy worker. The images must not change until the task is settled.
   * @returns the reply, which rejects only when the worker was lost: failures of the task itself are part of it. `cancel`
   * says that no caller waits for the reply any more: the task then ends with its next stage, and its reply says so
   * @throws Error when no worker is ready
   */
  run(task: WorkerTask): { reply: Promise<WorkerReply>; cancel: () => void } {
    const { images = [], ...rest } = task as WorkerTask & { images?: readonly Uint8Array[] }
    const worker = this.leastBusy()
    if (!worker) throw new Error('no worker is ready')
    const id = ++this.lastId
    const reply = new Promise<WorkerReply>((resolve, reject) => {
      const pictures = Math.max(images.length, 1)
      const stuckMs = pictures * STUCK_MS_PER_PICTURE
      const watchdog = setTimeout(() => this.killStuck(worker, stuckMs), stuckMs).unref()
      const check = this.checkFor('decideBy' in task ? task.decideBy : undefined)
      worker.running.set(id, { type: task.type, check, pictures, resolve, reject, watchdog })
      writeFrame(worker.socket, { id, task: rest } as TaskMessage, images)
    })
    const cancel = () => {
      if (worker.running.has(id)) writeFrame(worker.socket, { cancelled: id } satisfies CancelMessage)
    }
    return { reply, cancel }
  }

  /** Closes the connections; the process lets its threads return from native code and ends. No task may be running. */
  async close(): Promise<void> {
    if (this.closing) return
    this.closing = true
    clearTimeout(this.retry)
    clearInterval(this.beat)
    const child = this.child
    const ended = child && child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null
    child?.stdin?.end()
    for (const { socket } of this.workers) socket.end()
    this.server.close()
    await ended
    rmSync(this.dir, { recursive: true, force: true })
  }

  private get socketPath(): string {
    return process.platform === 'win32' ? `\\\\.\\pipe\\${this.dir}` : join(this.dir, 'engine.sock')
  }

  private spawn(): void {
    // `#engine-host` is the compiled file, even when this module runs from its TypeScript source.
    const host = createRequire(import.meta.url).resolve('#engine-host')
    // There is no Node.js IPC channel, on which a compromised process could make this one throw. Standard output of
    // native libraries goes to standard error.
    const child = spawn(process.execPath, [...process.execArgv, host], {
      stdio: ['pipe', 2, 2],
      env: engineEnvironment(this.options.workers),
    })
    this.child = child
    this.wasReady = false
    if (!this.isAcceleratorOff) this.lost = null
    let ended = false
    const onEnd = (how: string) => {
      if (ended) return
      ended = true
      this.onEnd(how)
    }
    child.once('error', (error) => onEnd(error.message))
    child.once('exit', (code, signal) => {
      const how = `ended with ${signal ?? `exit code ${code}`}`
      if (CRASH_SIGNALS.includes(signal)) this.leaveAccelerator(`the engine process ${how}`)
      onEnd(how)
    })
    const { workers, faultInjection, limits, pack, otherPacks } = this.options
    const executionProviders = this.isAcceleratorOff ? ['cpu'] : this.options.executionProviders
    const { socketPath } = this
    const worker = { executionProviders, faultInjection, limits, pack, otherPacks, socketPath }
    // Writing to a process that has ended fails here; its `exit` event follows and handles the loss.
    writeFrame(
      child.stdin!.on('error', () => {}),
      { workers, worker } satisfies HostSetup,
    )
  }

  /**
   * Accepts a connection: from a worker that has loaded its networks, or from the engine process with an incident to
   * report.
   */
  private welcome(socket: Socket): void {
    const worker: Worker = { socket, running: new Map(), unanswered: 0 }
    const reader = new FrameReader<unknown>(MAX_REPLY_BYTES, ({ message }) => {
      if (!this.checkFor().isMessage(message)) throw new FrameError('a frame that is no message')
      worker.unanswered = 0
      switch (message.kind) {
        case 'ready':
          this.lastProvider = message.provider
          this.failed = false
          this.wasReady = true
          this.retryMs = RETRY_MS.first
          this.workers.add(worker)
          this.options.onChange()
          break
        case 'reply': {
          const task = worker.running.get(message.id)
          if (task && !task.check.isReplyTo(task.type, message.reply))
            throw new FrameError(`a reply that answers no ${task.type}`)
          this.take(worker, message.id)?.resolve(message.reply)
          break
        }
        case 'worker_lost':
        case 'worker_load_failed':
          if (message.kind === 'worker_load_failed') this.failed = true
          this.report(
            message.kind,
            message.code ? new ModelPackError(message.code, message.reason) : new Error(message.reason),
          )
          this.options.onChange()
          break
        case 'accelerator_lost':
          this.loseAccelerator(message.reason)
          this.report(message.kind, new Error(message.reason))
          break
        case 'accelerator_hung':
          this.leaveAccelerator(message.reason)
          this.report(message.kind, new Error(message.reason))
          this.kill()
          break
      }
    })
    socket.on('data', (chunk) => {
      try {
        reader.push(chunk)
      } catch (error) {
        // A picture may have compromised the worker: a malformed message ends its own connection and nothing else.
        this.report('worker_garbled', error)
        socket.destroy()
      }
    })
    // The `close` event follows every error and does the clean-up.
    socket.on('error', () => {})
    socket.on('close', () => {
      this.workers.delete(worker)
      this.options.onChange()
      setTimeout(() => {
        const error = new Error('the worker was lost')
        for (const id of [...worker.running.keys()]) this.take(worker, id)!.reject(error)
      }, LOSS_SETTLES_MS)
    })
  }

  private ping(): void {
    for (const worker of this.workers) {
      if (worker.unanswered >= HUNG_PINGS) {
        this.report('engine_hung', new Error(`a worker answered none of ${HUNG_PINGS} pings`))
        this.kill()
        return
      }
      worker.unanswered++
      writeFrame(worker.socket, { ping: true } satisfies PingMessage)
    }
  }

  /** Kills the process at once; `onEnd` starts another one. */
  private kill(): void {
    // The next ping comes before the sockets are closed: it must not report the process a second time.
    for (const worker of this.workers) worker.unanswered = 0
    this.child?.kill('SIGKILL')
  }

  /** @throws TypeError for a pack that is not loaded */
  private checkFor(modelId = this.options.pack.modelId): MessageCheck {
    const check = this.checks.get(modelId)
    if (!check) throw new TypeError(`the pack ${modelId} is not loaded`)
    return check
  }

  private leastBusy(): Worker | undefined {
    let best: Worker | undefined
    for (const worker of this.workers) if (!best || picturesOf(worker) < picturesOf(best)) best = worker
    return best
  }

  private take({ running }: Worker, id: number): RunningTask | undefined {
    const task = running.get(id)
    if (!task) return undefined
    running.delete(id)
    clearTimeout(task.watchdog)
    return task
  }

  private onEnd(how: string): void {
    if (this.closing) return
    this.report('engine_process_lost', new Error(`the engine process ${how}`))
    if (this.wasReady) this.spawn()
    else {
      this.failed = true
      this.retry = setTimeout(() => this.spawn(), this.retryMs)
      this.retryMs = Math.min(2 * this.retryMs, RETRY_MS.longest)
    }
    this.options.onChange()
  }

  /** Notes that the processor serves from now on. */
  private loseAccelerator(reason: string): void {
    const { active } = this.lastProvider
    if (active === 'cpu') return
    this.lost ??= { provider: active, reason: reason.slice(0, MAX_REASON) }
  }

  /** Has the next processes serve without the accelerator that this one used. */
  private leaveAccelerator(reason: string): void {
    this.loseAccelerator(reason)
    this.isAcceleratorOff = this.lost !== null
  }

  private killStuck(worker: Worker, stuckMs: number): void {
    if (!this.workers.has(worker)) return
    this.report('task_stuck', new Error(`a task took over ${stuckMs / 1000} s`))
    this.kill()
  }

  private report(kind: EngineIncident['kind'], error: unknown): void {
    if (!this.closing) this.options.onIncident({ kind, error })
  }
}

/**
 * Number of threads that decode pictures: two for each worker, at least libuv's default of 4, at most its maximum of
 * 1,024.
 */
export function decodingThreads(workers: number): number {
  return Math.min(Math.max(2 * workers, 4), 1024)
}

/** Makes the check of messages for each pack: replies carry embeddings of its length, and of the other packs'. */
function checksOf(packs: readonly ModelPack[]): Map<string, MessageCheck> {
  const lengths = new Map(packs.map(({ modelId, manifest }) => [modelId, manifest.embedder.dimensions]))
  return new Map([...lengths].map(([modelId, length]) => [modelId, messageCheck(length, lengths)]))
}

/** Number of pictures of all tasks that a worker runs: a series is as much work as two dozen photos. */
function picturesOf({ running }: Worker): number {
  return [...running.values()].reduce((sum, { pictures }) => sum + pictures, 0)
}

/**
 * Environment of the engine process. It reads strangers' pictures, so it gets none of our settings: some of them are
 * secrets.
 *
 * MALLOC_ARENA_MAX: glibc would create up to eight arenas a core, and each keeps the most that it ever held. Pictures
 * are allocated on one thread and freed on another, so the sum of the arenas keeps growing. As many arenas as workers
 * were measured to hold a third less memory and to grow at less than half the pace, for the same CPU time.
 *
 * UV_THREADPOOL_SIZE: libuv decodes pictures on four threads by default, however many workers there are. The sandbox
 * has at most one task for each worker, so half of the threads are always left to production.
 */
function engineEnvironment(workers: number): NodeJS.ProcessEnv {
  const harmless = Object.entries(process.env).filter(([name]) => !/^(?:COUNTERSIGN|OTEL)_/.test(name))
  return {
    MALLOC_ARENA_MAX: String(workers),
    UV_THREADPOOL_SIZE: String(decodingThreads(workers)),
    ...Object.fromEntries(harmless),
  }
}
