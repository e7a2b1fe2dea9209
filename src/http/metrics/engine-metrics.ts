/** Prometheus metrics of the engine: workers, queue, incidents, the memory of its process, and what it runs on. */
import { readFileSync } from 'node:fs'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { EngineHealth, EngineIncident } from '../../biometrics/types.js'

/** Listed, so that each is there at 0 before it first happens: an alert on its rate needs the step from 0 to 1. */
const INCIDENTS = [
  'engine_process_lost',
  'worker_lost',
  'worker_load_failed',
  'worker_garbled',
  'task_stuck',
  'engine_hung',
  'task_failed',
] as const satisfies Array<EngineIncident['kind']>

export interface EngineMetrics {
  countIncident(incident: EngineIncident): void
  /** From now on the state of the engine is told too. */
  watch(health: () => EngineHealth): void
}

export function engineMetrics(registry: Registry): EngineMetrics {
  const registers = [registry]
  const incidents = new Counter({
    name: 'countersign_engine_incidents_total',
    help: 'Engine processes and workers lost, not loaded, silent or sending no frames, tasks stuck or failed inside a library.',
    labelNames: ['kind'],
    registers,
  })
  for (const kind of INCIDENTS) incidents.inc({ kind }, 0)
  return {
    countIncident: ({ kind }) => incidents.inc({ kind }),
    watch(health) {
      const gauge = (name: string, help: string, read: (engine: EngineHealth) => number) =>
        new Gauge({
          name,
          help,
          registers,
          collect() {
            this.set(read(health()))
          },
        })
      gauge('countersign_engine_workers', 'Workers configured.', ({ workers }) => workers.configured)
      gauge('countersign_engine_workers_ready', 'Workers that can serve.', ({ workers }) => workers.ready)
      gauge('countersign_engine_queue_limit', 'Calls that may wait for a worker.', ({ queue }) => queue.limit)
      gauge('countersign_engine_queue_waiting', 'Calls waiting for a worker.', ({ queue }) => queue.waiting)
      gauge(
        'countersign_engine_queue_running',
        'Tasks in a worker: a call, or one picture of a challenge.',
        ({ queue }) => queue.running,
      )
      gauge(
        'countersign_engine_resident_memory_bytes',
        'Resident memory of the engine process; 0 where the system does not tell.',
        ({ processId }) => residentBytes(processId),
      )
      new Gauge({
        name: 'countersign_engine_info',
        help: 'The model pack and the execution provider that serve; always 1.',
        labelNames: ['model', 'provider'],
        registers,
        collect() {
          const { model, provider } = health()
          this.reset()
          this.set({ model, provider: provider.active }, 1)
        },
      })
    },
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
