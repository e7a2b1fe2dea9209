/**
 * One caller's request from the moment it is accepted until it has an answer: a single task for a worker, or a series of tasks
 * that are handed over one by one. Main thread.
 */

import type { WorkerTask } from '../channel/engine-protocol.js'
import type { WorkerReply } from '../channel/worker-messages.js'
import { BiometricError, type CallOptions, type FlowShare } from '../types.js'

export type SuccessfulReply = Extract<WorkerReply<WorkerTask['type']>, { ok: true }>

/** A task on its way to a worker. */
export interface CallTask {
  task: WorkerTask
  /** Its place in the call. */
  index: number
  /** The first worker it was given to died before it had answered. */
  retried: boolean
}

/** Whose calls say no share. */
export const DEFAULT_SHARE: FlowShare = { flow: '', priority: 'production', weight: 1 }

/**
 * Settles once: with the replies to all its tasks, a refusal, its deadline or its caller's abort, whichever comes first. Once it is
 * settled it hands over no further task. The pictures are the caller's and stay here only as long as the call is referred to:
 * nothing of a task is kept but its reply.
 *
 * Where several tasks fail, the error of the first of them counts, whichever came back first, so that a series has one outcome
 * however its tasks were spread over the workers.
 */
export class EngineCall {
  /** One for each task, in their order. */
  readonly promise: Promise<SuccessfulReply[]>
  /** Total time in which tasks waited and no worker had one, in milliseconds. */
  queueMs = 0
  private readonly tasks: readonly WorkerTask[]
  private readonly replies: SuccessfulReply[] = []
  /** Tasks from here on are of no interest: a task before them has failed. */
  private end: number
  private failure: Error | undefined
  private next = 0
  /** Tasks whose worker died, to be handed over once more. */
  private lost: CallTask[] = []
  private answered = 0
  private running = 0
  private isSettled = false
  private waitingSince = performance.now()
  private readonly options: CallOptions
  private readonly onExpired: (call: EngineCall) => void
  private resolvePromise!: (replies: SuccessfulReply[]) => void
  private rejectPromise!: (error: Error) => void
  private timer: NodeJS.Timeout | undefined
  private readonly ended = new AbortController()

  /**
   * @param tasks at least one
   * @param onExpired told when deadline or abort has settled the call, so that it can leave the queue
   */
  constructor(tasks: readonly WorkerTask[], options: CallOptions, onExpired: (call: EngineCall) => void) {
    this.tasks = tasks
    this.end = tasks.length
    this.options = options
    this.onExpired = onExpired
    this.promise = new Promise((resolve, reject) => {
      this.resolvePromise = resolve
      this.rejectPromise = reject
    })
    if (options.signal?.aborted) {
      this.expire('cancelled')
    } else {
      options.signal?.addEventListener('abort', this.onAbort, { once: true })
      if (options.deadlineMs !== undefined) this.watchDeadline(options.deadlineMs)
    }
  }

  get share(): FlowShare {
    return this.options.share ?? DEFAULT_SHARE
  }

  get isSeries(): boolean {
    return this.tasks.length > 1
  }

  /** Number of pictures of the next task: its cost when flows take turns. A task without pictures costs 1. */
  get cost(): number {
    const task = this.lost[0]?.task ?? this.tasks[this.next]
    return task && 'images' in task ? task.images.length : 1
  }

  /** Aborted when the call is settled: tasks that workers still have are of no use. */
  get over(): AbortSignal {
    return this.ended.signal
  }

  get settled(): boolean {
    return this.isSettled
  }

  /** A task of it is to be handed over. */
  get isWaiting(): boolean {
    return !this.isSettled && (this.isRetrying || this.next < this.end)
  }

  /** The next task was lost with its worker. */
  get isRetrying(): boolean {
    return this.lost.length > 0
  }

  /** The next task, which its worker has from now on; the call must be waiting. */
  take(): CallTask {
    if (this.running++ === 0) this.queueMs += performance.now() - this.waitingSince
    return this.lost.shift() ?? { task: this.tasks[this.next]!, index: this.next++, retried: false }
  }

  /** A task's reply has come. */
  answer({ index }: CallTask, reply: SuccessfulReply): void {
    this.leaveWorker()
    if (index >= this.end) return
    this.replies[index] = reply
    this.answered++
    this.settleIfComplete()
  }

  /** A task has failed: those after it are dropped, and those before it, which workers still have, are waited for. */
  refuse({ index }: CallTask, error: Error): void {
    this.leaveWorker()
    if (index >= this.end) return
    this.failure = error
    this.end = index
    this.lost = this.lost.filter((part) => part.index < index)
    this.answered = this.replies.slice(0, index).filter(Boolean).length
    this.settleIfComplete()
  }

  /** The worker died with the task, which is to be handed over once more. */
  giveBack(part: CallTask): void {
    this.leaveWorker()
    if (part.index >= this.end) return
    this.lost.push({ ...part, retried: true })
  }

  /** Fails the call, unless it has settled. Results of tasks that are under way are dropped. */
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

  private readonly onAbort = () => this.expire('cancelled')

  /** Timers may fire a little early; a call is never failed before its deadline. */
  private watchDeadline(deadlineMs: number): void {
    const remainingMs = deadlineMs - performance.now()
    if (remainingMs <= 0) {
      this.expire('deadline_exceeded')
    } else {
      const longestTimerMs = 2 ** 31 - 1
      const waitMs = Math.min(Math.ceil(remainingMs), longestTimerMs)
      this.timer = setTimeout(() => this.watchDeadline(deadlineMs), waitMs)
    }
  }

  private expire(code: 'cancelled' | 'deadline_exceeded'): void {
    const message =
      code === 'cancelled' ? 'The call was cancelled.' : 'No result was ready before the deadline.'
    this.reject(new BiometricError(code, message))
    this.onExpired(this)
  }

  private settle(): boolean {
    if (this.isSettled) return false
    this.isSettled = true
    clearTimeout(this.timer)
    this.options.signal?.removeEventListener('abort', this.onAbort)
    if (this.running > 0) this.ended.abort()
    return true
  }
}
