/**
 * One caller's request from the moment it is accepted until it is settled: a single task for a worker, or a series of
 * tasks that are handed over one by one. Runs on the main thread.
 */

import { cancelled } from '../biometric-error.js'
import type { WorkerTask } from '../channel/engine-protocol.js'
import type { WorkerReply } from '../channel/worker-messages.js'
import { BiometricError, type CallOptions, type SchedulingClass } from '../types.js'

export type SuccessfulReply = Extract<WorkerReply<WorkerTask['type']>, { ok: true }>

/** A task of a call, on its way to a worker. */
export interface CallTask {
  task: WorkerTask
  /** Index of the task in its call. */
  index: number
  /** True when the first worker that had the task died before it replied. */
  retried: boolean
}

/** Scheduling class of calls that name none. */
export const DEFAULT_SCHEDULING_CLASS: SchedulingClass = { flow: '', priority: 'production', weight: 1 }

/**
 * A call settles once: with the replies to all its tasks, a refusal, its deadline or its caller's abort, whichever
 * comes first. A settled call hands over no further task. The pictures belong to the caller and stay in memory only
 * while something refers to the call; of a finished task the call keeps only the reply.
 *
 * Where several tasks fail, the error of the first task in order counts, whichever reply came first, so that the
 * result of a series does not depend on how its tasks were spread over the workers.
 */
export class EngineCall {
  /** Resolves with one reply for each task, in their order. */
  readonly promise: Promise<SuccessfulReply[]>
  /** Total time in milliseconds during which tasks waited and no worker had one. */
  queueMs = 0
  private readonly replies: SuccessfulReply[] = []
  /** Index of the first task that no longer matters, because a task before it has failed. */
  private end: number
  private failure: Error | undefined
  private next = 0
  /** Tasks whose worker died, to be handed over once more. */
  private lost: CallTask[] = []
  private answered = 0
  private running = 0
  isSettled = false
  private waitingSince = performance.now()
  private resolvePromise!: (replies: SuccessfulReply[]) => void
  private rejectPromise!: (error: Error) => void
  private timer: NodeJS.Timeout | undefined
  /** Each informs a worker that nobody waits for a task of this call; nothing where the task has its reply already. */
  private readonly cancels: Array<() => void> = []

  /**
   * @param tasks at least one
   * @param onExpired called when the deadline or an abort has settled the call, so that it can leave the queue
   */
  constructor(
    private readonly tasks: readonly WorkerTask[],
    private readonly options: CallOptions,
    private readonly onExpired: (call: EngineCall) => void,
  ) {
    this.end = tasks.length
    this.promise = new Promise((resolve, reject) => {
      this.resolvePromise = resolve
      this.rejectPromise = reject
    })
    if (options.signal?.aborted) {
      this.expire(cancelled())
    } else {
      options.signal?.addEventListener('abort', this.onAbort, { once: true })
      if (options.deadlineMs !== undefined) this.watchDeadline(options.deadlineMs)
    }
  }

  get schedulingClass(): SchedulingClass {
    return this.options.schedulingClass ?? DEFAULT_SCHEDULING_CLASS
  }

  /** True for a call of which no caller waits, which runs on workers that have nothing else to do. */
  get isSpare(): boolean {
    return this.options.isSpare ?? false
  }

  get isSeries(): boolean {
    return this.tasks.length > 1
  }

  /** Number of pictures of the next task, which is its cost when flows take turns. A task without pictures costs 1. */
  get cost(): number {
    const task = this.lost[0]?.task ?? this.tasks[this.next]
    return task && 'images' in task ? task.images.length : 1
  }

  /** True while a task of the call is to be handed over. */
  get isWaiting(): boolean {
    return !this.isSettled && (this.isRetrying || this.next < this.end)
  }

  /** True if the next task was lost with its worker. */
  get isRetrying(): boolean {
    return this.lost.length > 0
  }

  /** Takes the next task for a worker; the call must be waiting. */
  take(): CallTask {
    if (this.running++ === 0) this.queueMs += performance.now() - this.waitingSince
    return this.lost.shift() ?? { task: this.tasks[this.next]!, index: this.next++, retried: false }
  }

  /** @param cancel called when the call is settled before its tasks have ended: the worker may then drop this one */
  noteRun(cancel: () => void): void {
    this.cancels.push(cancel)
  }

  answer({ index }: CallTask, reply: SuccessfulReply): void {
    this.leaveWorker()
    if (index >= this.end) return
    this.replies[index] = reply
    this.answered++
    this.settleIfComplete()
  }

  /** Records that a task failed: later tasks are dropped; earlier tasks that workers still have are waited for. */
  refuse({ index }: CallTask, error: Error): void {
    this.leaveWorker()
    if (index >= this.end) return
    this.failure = error
    this.end = index
    this.lost = this.lost.filter((part) => part.index < index)
    this.answered = this.replies.slice(0, index).filter(Boolean).length
    this.settleIfComplete()
  }

  /** Records that the worker died with the task, which is then handed over once more. */
  giveBack(part: CallTask): void {
    this.leaveWorker()
    if (part.index >= this.end) return
    this.lost.push({ ...part, retried: true })
  }

  /** Fails the call unless it has settled. Results of running tasks are dropped. */
  reject(error: Error): void {
    if (this.settle()) this.rejectPromise(error)
  }

  private leaveWorker(): void {
    if (--this.running === 0) this.waitingSince = performance.now()
  }

  private settleIfComplete(): void {
    if (this.answered < this.end || !this.settle()) return
    if (this.failure) this.rejectPromise(this.failure)
    else this.resolvePromise(this.replies)
  }

  private readonly onAbort = () => this.expire(cancelled())

  /**
   * Timers may fire a little early, so the remaining time is checked again: a call is never failed before its
   * deadline.
   */
  private watchDeadline(deadlineMs: number): void {
    const remainingMs = deadlineMs - performance.now()
    if (remainingMs <= 0) {
      this.expire(new BiometricError('deadline_exceeded', 'No result was ready before the deadline.'))
    } else {
      const longestTimerMs = 2 ** 31 - 1
      const waitMs = Math.min(Math.ceil(remainingMs), longestTimerMs)
      this.timer = setTimeout(() => this.watchDeadline(deadlineMs), waitMs)
    }
  }

  private expire(error: BiometricError): void {
    this.reject(error)
    this.onExpired(this)
  }

  private settle(): boolean {
    if (this.isSettled) return false
    this.isSettled = true
    clearTimeout(this.timer)
    this.options.signal?.removeEventListener('abort', this.onAbort)
    if (this.running > 0) for (const cancel of this.cancels) cancel()
    return true
  }
}
