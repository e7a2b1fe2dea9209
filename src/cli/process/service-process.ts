/** One service process, as the supervisor sees it. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { MetricsSnapshot } from '../../http/metrics/metrics.js'
import { packageFile } from '../../lib/package-root.js'
import type { Order, Report, StartOrder } from './process-messages.js'

/** Always the compiled one, as the command is. */
const MODULE = packageFile('dist', 'src', 'cli', 'process', 'supervised.js')
/** A scrape waits no longer for a process that does not answer. */
const METRICS_MS = 2000

export interface ProcessEnd {
  code: number | null
  signal: NodeJS.Signals | null
}

export class ServiceProcess {
  /** When it has ended, of itself or not. */
  readonly exited: Promise<ProcessEnd>
  /** On the axis of `performance.now()`; null before. */
  readyAtMs: number | null = null
  /** Its place is another's: that it ends is no news. */
  isLeaving = false
  hasExited = false
  private readonly child: ChildProcess
  private lastId = 0
  private unanswered = 0
  private readonly asked = new Map<number, (snapshot: MetricsSnapshot) => void>()

  /** @param answerMetrics what the others tell, when this one is asked for all */
  constructor(
    readonly order: StartOrder,
    private readonly answerMetrics: (asker: ServiceProcess) => Promise<MetricsSnapshot[]>,
  ) {
    // Figures that are not finite would not pass through JSON.
    this.child = fork(MODULE, { serialization: 'advanced' })
    this.exited = once(this.child, 'exit').then(([code, signal]) => {
      this.hasExited = true
      return { code, signal }
    })
    this.child.on('message', (report: Report) => void this.hear(report))
    // What is sent to one that has just ended.
    this.child.on('error', () => {})
    this.send(order)
  }

  get pid(): number | undefined {
    return this.child.pid
  }

  send(order: Order): void {
    if (this.child.connected) this.child.send(order, () => {})
  }

  /** Asks for a sign of life. @returns how often in a row there has been none */
  ping(): number {
    this.send({ kind: 'ping' })
    return this.unanswered++
  }

  /** For one that hears nothing any more. */
  kill(): void {
    this.child.kill('SIGKILL')
  }

  /** Resolves with false where it ends before. */
  async hears(kind: 'ready' | 'announced'): Promise<boolean> {
    const heard = new Promise<true>((resolve) =>
      this.child.on('message', (report: Report) => report.kind === kind && resolve(true)),
    )
    return Promise.race([heard, this.exited.then(() => false as const)])
  }

  /** Null where it does not answer in time. */
  async metrics(): Promise<MetricsSnapshot | null> {
    const id = ++this.lastId
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, METRICS_MS, null)
    })
    const told = new Promise<MetricsSnapshot>((resolve) => this.asked.set(id, resolve))
    this.send({ kind: 'give_metrics', id })
    try {
      return await Promise.race([told, late])
    } finally {
      clearTimeout(timer)
      this.asked.delete(id)
    }
  }

  private async hear(report: Report): Promise<void> {
    this.unanswered = 0
    if (report.kind === 'ready') this.readyAtMs = performance.now()
    else if (report.kind === 'metrics') this.asked.get(report.id)?.(report.snapshot)
    else if (report.kind === 'want_metrics') {
      const snapshots = await this.answerMetrics(this)
      this.send({ kind: 'metrics_of_others', id: report.id, snapshots })
    }
  }
}
