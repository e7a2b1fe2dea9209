/**
 * A helper process that performs one order at a time: the benchmark's side and the process's side. Every load has a
 * process of its own, so that neither its garbage collector nor its compiler disturbs another contender.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { onCleanUp } from './clean-up.js'

type HelperMessage<Result> =
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
   * Sends one order; only one may run at a time.
   * @param onProgress receives the share done, 0..1
   * @throws Error with the failure in the process, or that it ended
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
      const onMessage = (answer: HelperMessage<Result>) => {
        if (answer.kind === 'progress') onProgress(answer.share)
        else if (answer.kind === 'result') settle(() => resolve(answer.value))
        else settle(() => reject(new Error(answer.message)))
      }
      child.on('message', onMessage)
      child.on('exit', onExit)
      child.send(order, (error) => error && settle(() => reject(error)))
    })
  }

  /** Closes the channel and waits for the process to end. Safe to call twice. */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const ended = once(this.child, 'exit')
    if (this.child.connected) this.child.disconnect()
    await ended
  }
}

/**
 * Performs one order at a time until the benchmark closes the channel; then `stop` must end any work that still runs.
 * @param report takes the share done, 0..1
 */
export function serveOrders<Order, Result>(
  work: (order: Order, report: (share: number) => void) => Promise<Result>,
  stop: () => Promise<void> = async () => {},
): void {
  const send = (answer: HelperMessage<Result>) => process.connected && process.send!(answer)
  process.on('message', (order: Order) => {
    work(order, (share) => send({ kind: 'progress', share })).then(
      (value) => send({ kind: 'result', value }),
      (error: unknown) =>
        send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
    )
  })
  // A terminal sends its signals to the whole group; the benchmark decides when its helpers end, by closing the
  // channel.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  process.on('disconnect', () => void stop().finally(() => process.exit(0)))
}
