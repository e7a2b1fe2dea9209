/** Prometheus metrics, by prom-client: requests, verdicts, stages, queue, workers, and the process itself. */
import { readFileSync } from 'node:fs'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { EngineHealth } from '../biometrics/types.js'
import { SECOND_MS } from '../clock.js'
import type { ObservedRequest } from './api-server.js'

const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.04, 0.1, 0.2, 0.3, 0.5, 1, 2.5, 10]
const STAGE_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]

export class Metrics {
  private readonly registry = new Registry()
  private readonly requests = new Counter({
    name: 'countersign_requests_total',
    help: 'Requests answered.',
    labelNames: ['environment', 'endpoint', 'status', 'code'],
    registers: [this.registry],
  })
  private readonly durations = new Histogram({
    name: 'countersign_request_duration_seconds',
    help: 'From the last header byte to the reply.',
    labelNames: ['environment', 'endpoint'],
    buckets: REQUEST_BUCKETS,
    registers: [this.registry],
  })
  private readonly stages = new Histogram({
    name: 'countersign_stage_duration_seconds',
    help: 'Time spent in one stage of a request.',
    labelNames: ['stage'],
    buckets: STAGE_BUCKETS,
    registers: [this.registry],
  })
  private readonly verdicts = new Counter({
    name: 'countersign_verdicts_total',
    help: 'Verdicts given.',
    labelNames: ['environment', 'verdict'],
    registers: [this.registry],
  })

  constructor(health: () => EngineHealth) {
    collectDefaultMetrics({ register: this.registry })
    const gauge = (name: string, help: string, read: (engine: EngineHealth) => number) =>
      new Gauge({
        name,
        help,
        registers: [this.registry],
        collect() {
          this.set(read(health()))
        },
      })
    gauge('countersign_engine_workers_ready', 'Workers that can serve.', ({ workers }) => workers.ready)
    gauge('countersign_engine_workers', 'Workers configured.', ({ workers }) => workers.configured)
    gauge('countersign_engine_queue_waiting', 'Calls waiting for a worker.', ({ queue }) => queue.waiting)
    gauge('countersign_engine_queue_running', 'Calls in a worker.', ({ queue }) => queue.running)
    gauge(
      'countersign_engine_resident_memory_bytes',
      'Resident memory of the engine process; 0 where the system does not tell.',
      ({ processId }) => residentBytes(processId),
    )
  }

  readonly observe = (request: ObservedRequest): void => {
    const { environment, endpoint, status, code, durationMs, timings, verdict } = request
    this.requests.inc({ environment, endpoint, status, code: code ?? '' })
    this.durations.observe({ environment, endpoint }, durationMs / SECOND_MS)
    for (const stage in timings) this.stages.observe({ stage }, timings[stage]! / SECOND_MS)
    if (verdict) this.verdicts.inc({ environment, verdict })
  }

  render(): Promise<string> {
    return this.registry.metrics()
  }

  get contentType(): string {
    return this.registry.contentType
  }
}

/** As Linux says it, in kibibytes. */
function residentBytes(processId: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${processId}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
