/** One service process, as the supervisor sees it. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MetricsSnapshot } from '../../http/metrics/metrics.js'
import { packageFile } from '../../lib/package-root.js'
import type { Order, Report, StartOrder } from './process-messages.js'

/** The compiled module, also when the supervisor runs from sources. */
const MODULE = packageFile('dist', 'src', 'cli', 'process', 'supervised.js')
/** A scrape waits no longer for a process that does not answer. */
const METRICS_MS = 2000

export class ServiceProcess {
  /** Resolves when the process has ended for any reason. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** Time by `performance.now()` at which the process became ready, or null before. */
  readyAtMs: number | null = null
  /** Another process has taken over its slot, so its end is expected. */
  isLeaving = false
  hasExited = false
  private readonly child: ChildProcess
  private lastId = 0
  private unanswered = 0
  private readonly asked = new Map<number, (snapshot: MetricsSnapshot) => void>()

  /** @param answerMetrics collects the metrics of the other processes, when this one is scraped for all of them */
  constructor(
    readonly order: StartOrder,
    private readonly answerMetrics: (asker: ServiceProcess) => Promise<MetricsSnapshot[]>,
  ) {
    // JSON has no Infinity or NaN, which metrics may contain.
    this.child = fork(MODULE, { serialization: 'advanced' })
    this.exited = once(this.child, 'exit').then(([code, signal]) => {
      this.hasExited = true
      return { code, signal }
    })
    this.child.on('message', (report: Report) => void this.hear(report))
    // Sending to a process that has just ended fails; `exited` reports its end.
    this.child.on('error', () => {})
    this.send(order)
  }

  get pid(): number | undefined {
    return this.child.pid
  }

  send(order: Order): void {
    if (this.child.connected) this.child.send(order, () => {})
  }

  /** Asks for a sign of life. @returns the number of pings in a row that have not been answered */
  ping(): number {
    this.send({ kind: 'ping' })
    return this.unanswered++
  }

  /** Ends a process that no longer reads its messages. */
  kill(): void {
    this.child.kill('SIGKILL')
  }

  /** Resolves with true when the process reports `kind`, and with false when it ends before that. */
  async hears(kind: 'ready' | 'announced'): Promise<boolean> {
    const heard = new Promise<true>((resolve) =>
      this.child.on('message', (report: Report) => report.kind === kind && resolve(true)),
    )
    return Promise.race([heard, this.exited.then(() => false as const)])
  }

  /** Metrics of the process, or null where it does not answer within `METRICS_MS`. */
  async metrics(): Promise<MetricsSnapshot | null> {
    const id = ++this.lastId
    const answered = new Promise<MetricsSnapshot>((resolve) => this.asked.set(id, resolve))
    this.send({ kind: 'give_metrics', id })
    try {
      return await Promise.race([answered, sleep(METRICS_MS, null, { ref: false })])
    } finally {
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
