/**
 * A process that does one order at a time for the benchmark: the side that orders, and the side that serves. Whatever
 * loads a core stands in a process of its own, so that neither its garbage nor its optimiser touches another contender.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { onCleanUp } from './clean-up.js'

type Answer<Result> =
  | { kind: 'progress'; share: number }
  | { kind: 'result'; value: Result }
  | { kind: 'failed'; message: string }

export class HelperProcess<Order extends object, Result> {
  private constructor(private readonly child: ChildProcess) {}

  /** @param module URL of the compiled file that calls `serveOrders` */
  static start<Order extends object, Result>(module: URL): HelperProcess<Order, Result> {
    const child = fork(module, { serialization: 'advanced', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const helper = new HelperProcess<Order, Result>(child)
    onCleanUp(() => helper.stop())
    return helper
  }

  /**
   * One order at a time.
   * @param onProgress told the share done, 0..1
   * @throws Error with what went wrong in the process, or that it ended
   */
  async ask(order: Order, onProgress: (share: number) => void = () => {}): Promise<Result> {
    const { child } = this
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        child.off('message', onMessage)
        child.off('exit', onExit)
        act()
      }
      const onExit = (code: number | null, signal: string | null) =>
        settle(() => reject(new Error(`a helper process ended (${signal ?? code})`)))
      const onMessage = (answer: Answer<Result>) => {
        if (answer.kind === 'progress') onProgress(answer.share)
        else if (answer.kind === 'result') settle(() => resolve(answer.value))
        else settle(() => reject(new Error(answer.message)))
      }
      child.on('message', onMessage)
      child.on('exit', onExit)
      child.send(order, (error) => error && settle(() => reject(error)))
    })
  }

  /** Hangs up and waits for the process to end by itself. Safe to call twice. */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const ended = once(this.child, 'exit')
    if (this.child.connected) this.child.disconnect()
    await ended
  }
}

/**
 * Serves one order at a time until the benchmark hangs up; then `stop` has to let go of what still runs.
 * @param report takes the share done, 0..1
 */
export function serveOrders<Order, Result>(
  work: (order: Order, report: (share: number) => void) => Promise<Result>,
  stop: () => Promise<void> = async () => {},
): void {
  const send = (answer: Answer<Result>) => process.connected && process.send!(answer)
  process.on('message', (order: Order) => {
    work(order, (share) => send({ kind: 'progress', share })).then(
      (value) => send({ kind: 'result', value }),
      (error: unknown) =>
        send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
    )
  })
  // A terminal signals the whole group; the benchmark decides when its helpers end, by hanging up.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  process.on('disconnect', () => void stop().finally(() => process.exit(0)))
}
