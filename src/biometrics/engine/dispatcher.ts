/**
 * Hands the tasks of calls to workers: what may wait, who is next, and what becomes of a task whose worker dies. Main thread.
 *
 * The tasks of a series are handed over one by one, so that others have their turns in between. Between two of its tasks a
 * series keeps nothing in a worker. Its pictures lie in the memory of the service until the call is settled; then the call is
 * dropped from the queue, its tasks that no worker has yet with it, and nothing refers to them any more.
 */
import type { WorkerTask } from '../channel/engine-protocol.js'
import type { WorkerReply, WorkerValues } from '../channel/worker-messages.js'
import type { EngineStage } from '../stages.js'
import {
  BiometricError,
  type CallOptions,
  type EngineOptions,
  type FlowShare,
  type StageTimings,
} from '../types.js'
import { type CallTask, DEFAULT_SHARE, EngineCall, type SuccessfulReply } from './engine-call.js'
import type { EngineProcess } from './engine-process.js'
import { FairQueue } from './fair-queue.js'

/**
 * Pictures are decoded while others are computed, and faces that are ready together are embedded together. Measured: a
 * worker with 2 does 5 % more than the bare loop's one by one, with 4 another 5 %, with more nothing.
 */
export const DEFAULT_TASKS_PER_WORKER = 4
/**
 * Tasks of series that a worker may hold: one is computed while the next one's picture is decoded. The other places are for
 * single tasks, which then wait for no more than these two.
 */
const SERIES_TASKS_PER_WORKER = 2

/**
 * Tasks of the sandbox that run at once, for each worker. Whatever pictures it sends, production has the other places, and half of
 * the threads that decode.
 */
const SANDBOX_TASKS_PER_WORKER = 1

/** Values of all tasks of a call, in the order of the tasks, and the time that each stage took. */
export interface TaskResults<T extends WorkerTask> {
  values: Array<WorkerValues[T['type']]>
  timingsMs: StageTimings
}

export class Dispatcher {
  private readonly options: EngineOptions
  private readonly waiting: FairQueue<EngineCall>
  private pool: EngineProcess | undefined
  private running = 0
  /** Running tasks that are of a series. */
  private runningOfSeries = 0
  private runningOfSandbox = 0
  /** The only task that runs was lost once with its worker: until it has ended, no other is started. */
  private isolating = false
  /** Requests that have been accepted and have no outcome yet. */
  private accepted = 0
  private draining = false
  private onIdle: Array<() => void> = []

  constructor(options: EngineOptions) {
    this.options = options
    this.waiting = new FairQueue(options.queueLimit)
  }

  /** Waiting calls, and tasks that workers hold. */
  get counts(): { waiting: number; running: number } {
    return { waiting: this.waiting.size, running: this.running }
  }

  get isDraining(): boolean {
    return this.draining
  }

  /** From now on tasks go to these workers. */
  serve(pool: EngineProcess): void {
    this.pool = pool
    this.pump()
  }

  /** One more call of this flow would be `overloaded`. */
  isSaturatedFor(share: FlowShare): boolean {
    return this.waiting.isFullFor(share)
  }

  /** A worker has a place for a single task of this flow, at once. */
  hasPlaceFor(share: FlowShare = DEFAULT_SHARE): boolean {
    return (
      !this.isolating &&
      this.running < this.capacity &&
      this.waiting.isOpenTo(share) &&
      (share.priority === 'production' || this.mayTakeSandbox)
    )
  }

  /**
   * Runs `work`, which asks for tasks by `perform` and `performMore`, as one request: once it is accepted, draining waits for its outcome.
   * @throws BiometricError engine_unavailable while draining
   */
  async accept<Outcome>(work: () => Promise<Outcome>): Promise<Outcome> {
    if (this.draining) throw new BiometricError('engine_unavailable', 'The engine is shutting down.')
    this.accepted++
    try {
      return await work()
    } finally {
      this.accepted--
      this.announceIdle()
    }
  }

  /**
   * Has workers do the tasks, as one call of the bounded queue.
   * @param tasks at least one; several are a series
   * @throws BiometricError the first failing task's, or a code of the moment
   */
  perform<T extends WorkerTask>(tasks: readonly T[], options: CallOptions): Promise<TaskResults<T>> {
    return this.submit(tasks, options, (call) => this.admit(call))
  }

  /** As `perform` does, for a request that has had tasks performed before: it is not refused for a full queue, and waits behind no other series of its flow. */
  performMore<T extends WorkerTask>(tasks: readonly T[], options: CallOptions): Promise<TaskResults<T>> {
    return this.submit(tasks, options, (call) => {
      this.waiting.requeue(call, call.share, call)
      this.pump()
    })
  }

  /** Hands waiting tasks to workers, never more than they may hold, so that none waits inside Piscina. */
  pump(): void {
    if (!this.pool) return
    for (let next = this.next; next && this.mayStart(next); next = this.next) {
      this.waiting.shift(this.mayTakeSeries)
      void this.dispatch(this.pool, next)
    }
    if (this.pool.isHopeless) {
      const error = new BiometricError('engine_unavailable', 'No worker is able to serve.')
      for (const call of this.waiting.removeAll()) call.reject(error)
    }
    this.announceIdle()
  }

  /** Accepts no further request and resolves when every accepted one has left its workers. */
  async drain(): Promise<void> {
    this.draining = true
    this.pump()
    if (!this.isIdle) await new Promise<void>((resolve) => this.onIdle.push(resolve))
  }

  private async submit<T extends WorkerTask>(
    tasks: readonly T[],
    options: CallOptions,
    admit: (call: EngineCall) => void,
  ): Promise<TaskResults<T>> {
    const call = new EngineCall(tasks, options, (expired) => {
      this.waiting.remove(expired)
      this.pump()
    })
    if (!call.settled) admit(call)
    const replies = (await call.promise) as Array<Extract<WorkerReply<T['type']>, { ok: true }>>
    return { values: replies.map(({ value }) => value), timingsMs: timingsOf(call, replies) }
  }

  private admit(call: EngineCall): void {
    if (this.hasPlaceFor(call.share) && (!call.isSeries || this.mayTakeSeries)) {
      void this.dispatch(this.pool!, call)
    } else {
      const refused = this.waiting.push(call, call.share, call)
      refused?.reject(new BiometricError('overloaded', 'Too many calls are waiting; try again shortly.'))
    }
    this.pump()
  }

  /** How many tasks the workers may hold now. */
  private get capacity(): number {
    return (this.pool?.readyCount ?? 0) * this.tasksPerWorker
  }

  private get tasksPerWorker(): number {
    return this.options.tasksPerWorker ?? DEFAULT_TASKS_PER_WORKER
  }

  private get mayTakeSeries(): boolean {
    const perWorker = Math.min(this.tasksPerWorker, SERIES_TASKS_PER_WORKER)
    return this.runningOfSeries < (this.pool?.readyCount ?? 0) * perWorker
  }

  private get mayTakeSandbox(): boolean {
    return this.runningOfSandbox < (this.pool?.readyCount ?? 0) * SANDBOX_TASKS_PER_WORKER
  }

  private get next(): EngineCall | undefined {
    return this.waiting.first(this.mayTakeSeries)
  }

  /**
   * A task whose first worker or process died under it is tried again while nothing else runs: should its picture be what kills
   * them, then nobody else's call is lost a second time.
   */
  private mayStart(call: EngineCall): boolean {
    if (this.isolating || (call.share.priority === 'sandbox' && !this.mayTakeSandbox)) return false
    return call.isRetrying ? this.running === 0 && this.capacity > 0 : this.running < this.capacity
  }

  private async dispatch(pool: EngineProcess, call: EngineCall): Promise<void> {
    const part = call.take()
    if (call.isRetrying) this.waiting.putFirst(call)
    else if (call.isWaiting) this.waiting.requeue(call, call.share, call)
    this.running++
    if (call.isSeries) this.runningOfSeries++
    if (call.share.priority === 'sandbox') this.runningOfSandbox++
    this.isolating = part.retried
    try {
      const reply = await pool.run(part.task, call.over)
      if (reply.ok) call.answer(part, reply)
      else call.refuse(part, this.toError(reply))
    } catch (error) {
      this.onWorkerLost(call, part, error)
    } finally {
      this.running--
      if (call.isSeries) this.runningOfSeries--
      if (call.share.priority === 'sandbox') this.runningOfSandbox--
      if (part.retried) this.isolating = false
      // A call that has settled, or has no task left to hand over, leaves the queue.
      if (!call.isWaiting) this.waiting.remove(call)
      this.pump()
    }
  }

  private onWorkerLost(call: EngineCall, part: CallTask, cause: unknown): void {
    if (part.retried) {
      const message = 'The worker failed twice while it processed the request.'
      call.reject(new BiometricError('engine_unavailable', message, undefined, { cause }))
      return
    }
    call.giveBack(part)
    if (call.isWaiting && call.isRetrying) this.waiting.putFirst(call)
  }

  private toError(failure: Extract<WorkerReply<WorkerTask['type']>, { ok: false }>): BiometricError {
    const { message, imageIndex, faults = [], guidance, detail } = failure
    // A worker that was taken over may say so of a call that its caller still waits for.
    const code = failure.code === 'cancelled' ? 'engine_unavailable' : failure.code
    if (detail) this.options.onIncident?.({ kind: 'task_failed', error: new Error(detail) })
    return new BiometricError(code, message, imageIndex, { faults, guidance })
  }

  private get isIdle(): boolean {
    return this.running === 0 && this.accepted === 0
  }

  private announceIdle(): void {
    if (!this.isIdle) return
    for (const resolve of this.onIdle.splice(0)) resolve()
  }
}

/** Summed over the tasks. */
function timingsOf({ queueMs }: EngineCall, replies: readonly SuccessfulReply[]): StageTimings {
  const sums: StageTimings = { queue: queueMs }
  for (const { timingsMs } of replies) addTimings(sums, timingsMs)
  return sums
}

/** Adds what `more` says of each stage to `sums`. */
export function addTimings(sums: StageTimings, more: StageTimings): void {
  for (const [stage, durationMs] of Object.entries(more) as Array<[EngineStage, number]>)
    sums[stage] = (sums[stage] ?? 0) + durationMs
}
