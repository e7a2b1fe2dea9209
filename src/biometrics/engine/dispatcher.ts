/**
 * Hands the tasks of calls to workers: decides which calls wait, which is next, and what follows when a worker dies. Runs on the
 * main thread. Nothing of a call is durable: its pictures lie in the service's memory until it is settled.
 *
 * States of a call (`EngineCall`):
 *
 *   waiting ----> running ----> settled: reply or refusal of its tasks
 *      |  ^          |
 *      |  |          +--------> settled: its deadline, or its caller's abort (its running tasks end with their next stage)
 *      |  +----------+          the next task of a series, or the retry of a task that was lost with its worker
 *      +----------------------> settled: overloaded, deadline, abort, or no worker is able to serve
 *
 *   1. `admit` gives the call to a worker that has a place for it, else to the bounded queue (`FairQueue`).
 *   2. `pump` runs whenever a place may have become free: it starts the next waiting tasks. Workers hold at most
 *      `tasksPerWorker` tasks each, so that every other one can still be dropped.
 *   3. `dispatch` takes one task of the call. A series goes back to the queue for its next task, so that other calls have
 *      their turns in between; it keeps nothing in a worker between two tasks.
 *   4. A reply settles the call, or is kept until the other tasks have theirs.
 *   5. A lost worker (its thread, its connection or the whole process died) fails nothing yet: `onWorkerLost` puts the task before
 *      all others, and it runs again while nothing else runs (`isolating`).
 *   6. A spare call runs while most workers have nothing else to do. It never waits, it is not retried, and it ends with its next
 *      stage as soon as other calls need the workers.
 *   7. A task that loses its worker a second time fails its own call with `engine_unavailable`, and no other call.
 *
 * test/biometrics/engine/engine.test.ts and lost-tasks.test.ts kill workers and processes at steps 3 to 6.
 */
import type { WorkerTask } from '../channel/engine-protocol.js'
import type { WorkerReply, WorkerValues } from '../channel/worker-messages.js'
import type { EngineStage } from '../stages.js'
import {
  BiometricError,
  type CallOptions,
  type EngineOptions,
  type SchedulingClass,
  type StageTimings,
} from '../types.js'
import { type CallTask, DEFAULT_SCHEDULING_CLASS, EngineCall, type SuccessfulReply } from './engine-call.js'
import type { EngineProcess } from './engine-process.js'
import { FairQueue } from './fair-queue.js'

/**
 * Default number of tasks a worker may hold. Pictures are decoded while others are computed, and faces that are ready
 * together are embedded together. Measured: a worker with 2 tasks does 5 % more than the bare loop with one picture
 * after the other, with 4 another 5 %, with more no more.
 */
export const DEFAULT_TASKS_PER_WORKER = 4
/**
 * Maximum tasks of series that a worker may hold: one is computed while the next one's picture is decoded. The other
 * places are for single tasks, which then wait for no more than these two.
 */
const SERIES_TASKS_PER_WORKER = 2

/**
 * Maximum tasks of the sandbox that run at once, per worker: production always has the other places and half of the
 * decoding threads.
 */
const SANDBOX_TASKS_PER_WORKER = 1

/** Results of all tasks of a call, in the order of the tasks, and the time that each stage took. */
export interface TaskResults<T extends WorkerTask> {
  values: Array<WorkerValues[T['type']]>
  timingsMs: StageTimings
}

export class Dispatcher {
  private readonly waiting: FairQueue<EngineCall>
  private pool: EngineProcess | undefined
  private running = 0
  /** Number of running tasks that belong to a series. */
  private runningOfSeries = 0
  private runningOfSandbox = 0
  /**
   * True while a task that was lost with its worker runs for the second time: no other task starts until it has
   * ended.
   */
  private isolating = false
  /** Calls of which no caller waits; each has one task, which a worker holds. */
  private readonly spare = new Set<EngineCall>()
  /** Number of running tasks of spare calls, with those that are to end and have not ended yet. */
  private runningSpare = 0
  /** Requests that have been accepted and are not finished yet. */
  private accepted = 0
  isDraining = false
  private onIdle: Array<() => void> = []

  constructor(private readonly options: EngineOptions) {
    this.waiting = new FairQueue(options.queueLimit)
  }

  get counts(): { waiting: number; running: number } {
    return { waiting: this.waiting.size, running: this.running }
  }

  /** Sends tasks to these workers from now on. */
  serve(pool: EngineProcess): void {
    this.pool = pool
    this.pump()
  }

  isSaturatedFor(schedulingClass: SchedulingClass): boolean {
    return this.waiting.isFullFor(schedulingClass)
  }

  /** Returns whether a worker has a place for a single task of this flow at once. */
  hasPlaceFor(schedulingClass: SchedulingClass = DEFAULT_SCHEDULING_CLASS): boolean {
    return (
      !this.isolating &&
      this.running < this.capacity &&
      this.waiting.isOpenTo(schedulingClass) &&
      (schedulingClass.priority === 'production' || this.mayTakeSandbox)
    )
  }

  get hasSparePlace(): boolean {
    const most = Math.max(1, Math.floor(this.options.workers / 2))
    return this.isCalm && !this.isDraining && this.runningSpare < most
  }

  /** True while every worker lives, nothing waits, and fewer than half of the workers have calls of which callers wait. */
  private get isCalm(): boolean {
    const others = this.running - this.runningSpare
    return this.isWhole && !this.isolating && this.waiting.size === 0 && others * 2 < this.options.workers
  }

  private get isWhole(): boolean {
    return this.pool?.readyCount === this.options.workers
  }

  /**
   * Runs `work`, which requests tasks by `perform` and `performMore`, as one request: once it is accepted, draining
   * waits for it.
   * @throws BiometricError engine_unavailable while draining
   */
  async accept<Outcome>(work: () => Promise<Outcome>): Promise<Outcome> {
    if (this.isDraining) throw new BiometricError('engine_unavailable', 'The engine is shutting down.')
    this.accepted++
    try {
      return await work()
    } finally {
      this.accepted--
      this.announceIdle()
    }
  }

  /**
   * Has workers run the tasks, as one call of the bounded queue.
   * @param tasks at least one; several are a series
   * @throws BiometricError the code of the first failing task, `overloaded`, `deadline_exceeded`, `cancelled` or
   * `engine_unavailable`
   */
  perform<T extends WorkerTask>(tasks: readonly T[], options: CallOptions): Promise<TaskResults<T>> {
    return this.submit(tasks, options, (call) => this.admit(call))
  }

  /**
   * Like `perform`, for a request that has already had tasks performed: a full queue does not refuse it, and it waits
   * behind no other series of its flow.
   */
  performMore<T extends WorkerTask>(tasks: readonly T[], options: CallOptions): Promise<TaskResults<T>> {
    return this.submit(tasks, options, (call) => {
      this.waiting.requeue(call, call.schedulingClass, call)
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
    this.clearSpare()
    if (this.pool.isHopeless) {
      const error = new BiometricError('engine_unavailable', 'No worker is able to serve.')
      for (const call of this.waiting.removeAll()) call.reject(error)
    }
    this.announceIdle()
  }

  /** Accepts no further request; resolves when every accepted one has left its workers. */
  async drain(): Promise<void> {
    this.isDraining = true
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
    if (!call.isSettled) admit(call)
    const replies = (await call.promise) as Array<Extract<WorkerReply<T['type']>, { ok: true }>>
    return { values: replies.map(({ value }) => value), timingsMs: timingsOf(call, replies) }
  }

  /** Hands a spare call to a worker at once, or refuses it. */
  private admitSpare(call: EngineCall): void {
    if (call.isSeries) throw new TypeError('a series cannot be a spare call')
    if (!this.hasSparePlace) {
      call.reject(new BiometricError('overloaded', 'The workers are busy with verdicts.'))
      return
    }
    this.spare.add(call)
    void this.dispatch(this.pool!, call)
  }

  /**
   * Ends spare calls with their next stage where other calls need the workers. Where a worker died, one of them may be to blame:
   * their error then says that nobody should try again.
   */
  private clearSpare(): void {
    if (this.spare.size === 0 || this.isCalm) return
    const error = this.isWhole
      ? new BiometricError('overloaded', 'The workers are needed for verdicts.')
      : new BiometricError('engine_unavailable', 'A worker failed meanwhile.')
    for (const call of this.spare) call.reject(error)
    this.spare.clear()
  }

  private admit(call: EngineCall): void {
    if (call.isSpare) {
      this.admitSpare(call)
      return
    }
    if (this.hasPlaceFor(call.schedulingClass) && (!call.isSeries || this.mayTakeSeries)) {
      void this.dispatch(this.pool!, call)
    } else {
      const refused = this.waiting.push(call, call.schedulingClass, call)
      refused?.reject(new BiometricError('overloaded', 'Too many calls are waiting; try again shortly.'))
    }
    this.pump()
  }

  /** Number of tasks that the workers may hold now. */
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
   * Returns whether the call's next task may start. A task whose first worker or process died is retried while nothing
   * else runs: if its picture is what kills them, no other call is lost a second time.
   */
  private mayStart(call: EngineCall): boolean {
    if (this.isolating || (call.schedulingClass.priority === 'sandbox' && !this.mayTakeSandbox)) return false
    return call.isRetrying ? this.running === 0 && this.capacity > 0 : this.running < this.capacity
  }

  private async dispatch(pool: EngineProcess, call: EngineCall): Promise<void> {
    const part = call.take()
    if (call.isRetrying) this.waiting.putFirst(call)
    else if (call.isWaiting) this.waiting.requeue(call, call.schedulingClass, call)
    this.running++
    if (call.isSpare) this.runningSpare++
    if (call.isSeries) this.runningOfSeries++
    if (call.schedulingClass.priority === 'sandbox') this.runningOfSandbox++
    this.isolating = part.retried
    try {
      const run = pool.run(part.task)
      call.noteRun(run.cancel)
      const reply = await run.reply
      if (reply.ok) call.answer(part, this.noted(reply))
      else call.refuse(part, this.toError(reply))
    } catch (error) {
      this.onWorkerLost(call, part, error)
    } finally {
      this.running--
      this.spare.delete(call)
      if (call.isSpare) this.runningSpare--
      if (call.isSeries) this.runningOfSeries--
      if (call.schedulingClass.priority === 'sandbox') this.runningOfSandbox--
      if (part.retried) this.isolating = false
      // A call that has settled, or has no task left to hand over, leaves the queue.
      if (!call.isWaiting) this.waiting.remove(call)
      this.pump()
    }
  }

  private onWorkerLost(call: EngineCall, part: CallTask, cause: unknown): void {
    if (part.retried || call.isSpare) {
      const message = 'The worker failed while it processed the request.'
      call.reject(new BiometricError('engine_unavailable', message, undefined, { cause }))
      return
    }
    call.giveBack(part)
    if (call.isWaiting && call.isRetrying) this.waiting.putFirst(call)
  }

  private noted(reply: SuccessfulReply): SuccessfulReply {
    const { followingFailure } = reply
    if (followingFailure)
      this.options.onIncident?.({ kind: 'following_pack_failed', error: new Error(followingFailure) })
    return reply
  }

  private toError(failure: Extract<WorkerReply<WorkerTask['type']>, { ok: false }>): BiometricError {
    const { message, imageIndex, faults = [], guidance, detail } = failure
    // A compromised worker may claim that a task was cancelled although its caller still waits.
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

function timingsOf({ queueMs }: EngineCall, replies: readonly SuccessfulReply[]): StageTimings {
  const sums: StageTimings = { queue: queueMs }
  for (const { timingsMs } of replies) addTimings(sums, timingsMs)
  return sums
}

/** Adds the duration of each stage in `more` to `sums`, in milliseconds. */
export function addTimings(sums: StageTimings, more: StageTimings): void {
  for (const [stage, durationMs] of Object.entries(more) as Array<[EngineStage, number]>)
    sums[stage] = (sums[stage] ?? 0) + durationMs
}
