/**
 * The engine process as the service sees it: a pool of workers, each at the other end of a socket. A native crash in a
 * decoder or in ONNX Runtime ends that process and costs no more than the tasks under way; a new one is started at once.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {
  CancelMessage,
  HostSetup,
  PingMessage,
  TaskMessage,
  WorkerSetup,
  WorkerTask,
} from '../channel/engine-protocol.js'
import { encodeFrame, FrameError, FrameReader } from '../channel/frames.js'
import {
  type MessageCheck,
  messageCheck,
  type TaskType,
  type WorkerReply,
} from '../channel/worker-messages.js'
import { DECODING_DEADLINE_MS } from '../pipeline/decoder-process.js'
import type { EngineIncident, ProviderStatus } from '../types.js'

export interface EngineProcessOptions extends Omit<WorkerSetup, 'socketPath'> {
  workers: number
  /** Milliseconds between two pings of each worker; a second unless a test asks for less. */
  pingIntervalMs?: number | undefined
  /** The number of ready workers has changed. */
  onChange: () => void
  onIncident: (incident: EngineIncident) => void
}

interface RunningTask {
  type: TaskType
  /** How many pictures it brought; 1 without any. */
  pictures: number
  resolve: (reply: WorkerReply) => void
  reject: (error: Error) => void
  /** Called when the task has its reply, or has lost its worker. */
  onEnd: () => void
}

/** A worker that is ready. */
interface Worker {
  socket: Socket
  running: Map<number, RunningTask>
  /** Pings in a row since the worker was last heard. */
  unanswered: number
}

/** Pauses before the process is started again when the last one ended before any of its workers was ready; they double. */
const RETRY_MS = { first: 1_000, longest: 30_000 } as const
/**
 * A picture may wait for the costly ones of the other tasks that its worker holds, take the deadline itself and a second for its
 * face. A task that takes longer for each of its pictures is stuck in native code for good.
 */
const STUCK_MS_PER_PICTURE = 5 * DECODING_DEADLINE_MS
/**
 * When the process dies, its sockets close one after the other. Told at once, a lost call would be tried again on one of
 * the others, which is dead as well.
 */
const LOSS_SETTLES_MS = 50
/**
 * Each worker is pinged at every beat. Beats are counted instead of seconds: after the service itself stood still, as in a machine that was
 * suspended, the first beat counts as one.
 */
const PING_INTERVAL_MS = 1000
/** A worker computes for some 0.1 s at a time between two turns of its event loop, on a busy machine for a second. */
const SILENT_PINGS = 4
/** Twice as long as it takes to call a worker silent: a worker that is silent for so long is replaced, and with it the whole process. */
const HUNG_PINGS = 8
/** A reply holds a few vectors and what was measured, which is kilobytes; a longer one is no honest reply. */
const MAX_REPLY_BYTES = 1024 * 1024

export class EngineProcess {
  private readonly options: EngineProcessOptions
  private readonly check: MessageCheck
  private readonly dir: string
  private readonly server: Server
  private readonly workers = new Set<Worker>()
  private child: ChildProcess | undefined
  private lastProvider: ProviderStatus = { active: 'cpu', fallbacks: [] }
  private lastId = 0
  /**
   * A worker could not load its networks, or the process ended before any was ready; no worker has become ready after that.
   * While none is, waiting calls are refused.
   */
  private failed = false
  /** At least one worker of the process that runs now became ready: should that process end, the next is started at once. */
  private wasReady = false
  private retryMs: number = RETRY_MS.first
  private retry: NodeJS.Timeout | undefined
  private beat: NodeJS.Timeout | undefined
  private closing = false

  private constructor(options: EngineProcessOptions) {
    this.options = options
    this.check = messageCheck(options.pack.manifest.embedder.dimensions)
    // For its owner alone: whoever could connect could answer in a worker's place.
    this.dir = mkdtempSync(join(tmpdir(), 'countersign-engine-'))
    this.server = createServer((socket) => this.welcome(socket)).listen(this.socketPath)
  }

  /**
   * Starts the process and waits until every worker is ready.
   * @throws what kept the first failing worker from loading
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
          new Error(`a worker could not start: ${cause instanceof Error ? cause.message : cause}`, { cause }),
        )
        options.onIncident(incident)
      },
    })
    try {
      await once(engine.server, 'listening')
      engine.spawn()
      await allReady
      engine.beat = setInterval(() => engine.ping(), options.pingIntervalMs ?? PING_INTERVAL_MS).unref()
      return engine
    } catch (error) {
      await engine.close()
      throw error
    }
  }

  /** Workers that have loaded and warmed up their networks and are alive. */
  get readyCount(): number {
    return this.workers.size
  }

  /** Workers are there, and none of them answers: the process stands still, or is stuck in native code. */
  get isSilent(): boolean {
    return this.readyCount > 0 && [...this.workers].every(({ unanswered }) => unanswered >= SILENT_PINGS)
  }

  get processId(): number | undefined {
    return this.child?.pid
  }

  /** No worker is ready and none is about to be. */
  get isHopeless(): boolean {
    return this.failed && this.readyCount === 0
  }

  /** What runs the sessions, as the last worker that became ready reported it. */
  get provider(): ProviderStatus {
    return this.lastProvider
  }

  /**
   * Runs one task on the least busy worker; one must be ready. The images must stay as they are until it is settled.
   * @param signal aborted when nobody waits for the reply: the task then ends with its next stage, and its reply says so
   * @throws only when the worker was lost on the way: failures of the task itself are part of the reply
   */
  run(task: WorkerTask, signal?: AbortSignal): Promise<WorkerReply> {
    const { images = [], ...rest } = task as WorkerTask & { images?: readonly Uint8Array[] }
    const id = ++this.lastId
    return new Promise((resolve, reject) => {
      const worker = this.leastBusy()
      if (!worker) {
        reject(new Error('no worker is ready'))
        return
      }
      const pictures = Math.max(images.length, 1)
      const stuckMs = pictures * STUCK_MS_PER_PICTURE
      const watchdog = setTimeout(() => this.killStuck(worker, stuckMs), stuckMs).unref()
      const onAbort = () => write(worker.socket, { cancelled: id } satisfies CancelMessage)
      signal?.addEventListener('abort', onAbort, { once: true })
      const onEnd = () => {
        clearTimeout(watchdog)
        signal?.removeEventListener('abort', onAbort)
      }
      worker.running.set(id, { type: task.type, pictures, resolve, reject, onEnd })
      write(worker.socket, { id, task: rest } as TaskMessage, images)
    })
  }

  /** Hangs up; the process lets its threads come out of native code and ends. No task may be running. */
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
    // The compiled file, also when this module itself runs from its TypeScript source.
    const host = createRequire(import.meta.url).resolve('#engine-host')
    // No channel of Node's own, on which a process that was taken over could make this one throw. What a native library
    // prints is no answer of ours: it goes to standard error.
    const child = spawn(process.execPath, [...process.execArgv, host], {
      stdio: ['pipe', 2, 2],
      env: engineEnvironment(this.options.workers),
    })
    this.child = child
    this.wasReady = false
    let ended = false
    const onEnd = (how: string) => {
      if (ended) return
      ended = true
      this.onEnd(how)
    }
    child.once('error', (error) => onEnd(error.message))
    child.once('exit', (code, signal) => onEnd(`ended with ${signal ?? `exit code ${code}`}`))
    const { workers, executionProviders, faultInjection, limits, pack } = this.options
    const worker = { executionProviders, faultInjection, limits, pack, socketPath: this.socketPath }
    // Writing to a process that has ended fails here; its `exit` event follows and is what counts.
    const stdin = child.stdin!.on('error', () => {})
    for (const piece of encodeFrame({ workers, worker } satisfies HostSetup)) stdin.write(piece)
  }

  /** A worker has loaded its networks and connects, or the engine process has an incident to tell. */
  private welcome(socket: Socket): void {
    const worker: Worker = { socket, running: new Map(), unanswered: 0 }
    const reader = new FrameReader<unknown>(MAX_REPLY_BYTES, ({ message }) => {
      if (!this.check.isMessage(message)) throw new FrameError('a frame that is no message')
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
          if (task && !this.check.isReplyTo(task.type, message.reply))
            throw new FrameError(`a reply that answers no ${task.type}`)
          this.take(worker, message.id)?.resolve(message.reply)
          break
        }
        case 'worker_lost':
        case 'worker_load_failed':
          if (message.kind === 'worker_load_failed') this.failed = true
          this.report(message.kind, new Error(message.reason))
          this.options.onChange()
          break
      }
    })
    socket.on('data', (chunk) => {
      try {
        reader.push(chunk)
      } catch (error) {
        // A picture may have taken the worker over: what it says then shall end its own connection and nothing else.
        this.report('worker_garbled', error)
        socket.destroy()
      }
    })
    // The `close` event follows an error and does all that is to be done.
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
      write(worker.socket, { ping: true } satisfies PingMessage)
    }
  }

  /** Ends the process, whatever it is in the middle of; another one is started in its place. */
  private kill(): void {
    // The next beat comes before the sockets are closed: the process that takes over has pings of its own.
    for (const worker of this.workers) worker.unanswered = 0
    this.child?.kill('SIGKILL')
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
    task.onEnd()
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

  private killStuck(worker: Worker, stuckMs: number): void {
    if (!this.workers.has(worker)) return
    this.report('task_stuck', new Error(`a task took over ${stuckMs / 1000} s`))
    this.kill()
  }

  private report(kind: EngineIncident['kind'], error: unknown): void {
    if (!this.closing) this.options.onIncident({ kind, error })
  }
}

/** Two for each worker; as many as libuv has by default, where that is more, and at most what it can have. */
export function decodingThreads(workers: number): number {
  return Math.min(Math.max(2 * workers, 4), 1024)
}

function write(
  socket: Socket,
  message: TaskMessage | CancelMessage | PingMessage,
  images: readonly Uint8Array[] = [],
): void {
  socket.cork()
  for (const piece of encodeFrame(message, images)) socket.write(piece)
  socket.uncork()
}

/** Of all that runs on it: a challenge is as much work as two dozen photos. */
function picturesOf({ running }: Worker): number {
  return [...running.values()].reduce((sum, { pictures }) => sum + pictures, 0)
}

/**
 * The process that reads strangers' pictures gets none of our settings: among them are secrets.
 *
 * glibc would give each thread of its own arenas, eight a core, and each keeps the most that it ever held. With pictures that
 * come into being on one thread and end on another, their sum goes on growing. As many as there are workers were measured to
 * hold a third less and to grow at less than half the pace, for the same CPU time.
 *
 * Pictures are decoded on libuv's threads, which are four unless told otherwise, however many workers there are. The sandbox has
 * at most one task for each worker, so half of the threads are always left to production.
 */
function engineEnvironment(workers: number): NodeJS.ProcessEnv {
  const harmless = Object.entries(process.env).filter(([name]) => !/^(?:COUNTERSIGN|OTEL)_/.test(name))
  return {
    MALLOC_ARENA_MAX: String(workers),
    UV_THREADPOOL_SIZE: String(decodingThreads(workers)),
    ...Object.fromEntries(harmless),
  }
}
