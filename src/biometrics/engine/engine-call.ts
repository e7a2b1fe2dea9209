/** One caller's request from the moment it is accepted until it has an answer. Main thread. */

import type { WorkerTask } from '../channel/engine-protocol.js'
import type { WorkerReply } from '../channel/worker-messages.js'
import { BiometricError, type CallOptions, type FlowShare } from '../types.js'

export type SuccessfulReply = Extract<WorkerReply<WorkerTask['type']>, { ok: true }>

const NAMELESS: FlowShare = { flow: '', priority: 'production', weight: 1 }

/** Settles once: with a reply, a refusal, its deadline or its caller's abort, whichever comes first. */
export class EngineCall {
  readonly task: WorkerTask
  readonly promise: Promise<SuccessfulReply>
  /** Total time spent waiting for a worker, in milliseconds. */
  queueMs = 0
  /** The first worker it was given to died before it had answered. */
  retried = false
  private isSettled = false
  private waitingSince = performance.now()
  private readonly options: CallOptions
  private readonly onExpired: (call: EngineCall) => void
  private resolvePromise!: (reply: SuccessfulReply) => void
  private rejectPromise!: (error: Error) => void
  private timer: NodeJS.Timeout | undefined

  /** @param onExpired told when deadline or abort has settled the call, so that it can leave the queue */
  constructor(task: WorkerTask, options: CallOptions, onExpired: (call: EngineCall) => void) {
    this.task = task
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
    return this.options.share ?? NAMELESS
  }

  /** What it takes of a worker: its pictures. */
  get cost(): number {
    return 'images' in this.task ? this.task.images.length : 1
  }

  get settled(): boolean {
    return this.isSettled
  }

  startWaiting(): void {
    this.waitingSince = performance.now()
  }

  stopWaiting(): void {
    this.queueMs += performance.now() - this.waitingSince
  }

  resolve(reply: SuccessfulReply): void {
    if (this.settle()) this.resolvePromise(reply)
  }

  reject(error: Error): void {
    if (this.settle()) this.rejectPromise(error)
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
    return true
  }
}
