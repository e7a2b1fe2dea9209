/** Prometheus metrics of the engine: workers, queue, incidents, memory of its process, model pack and execution provider. */
import { readFileSync } from 'node:fs'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { EngineHealth, EngineIncident } from '../../biometrics/types.js'

/** Every kind of incident: each starts at 0, since an alert on its rate needs the step from 0 to 1. */
const INCIDENTS = [
  'engine_process_lost',
  'worker_lost',
  'worker_load_failed',
  'worker_garbled',
  'task_stuck',
  'engine_hung',
  'task_failed',
  'following_pack_failed',
  'accelerator_lost',
  'accelerator_hung',
] as const satisfies Array<EngineIncident['kind']>

export interface EngineMetrics {
  countIncident(incident: EngineIncident): void
  /** Adds the gauges of the engine's state. */
  watch(health: () => EngineHealth): void
}

export function engineMetrics(registry: Registry): EngineMetrics {
  const registers = [registry]
  const incidents = new Counter({
    name: 'countersign_engine_incidents_total',
    help: 'Incidents of engine processes and workers by kind: process or worker lost, worker not loaded or sending garbled frames, engine hung, task stuck or failed, accelerator lost or hung, following pack failed.',
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
        'Resident memory of the engine process; 0 on systems other than Linux.',
        ({ processId }) => residentBytes(processId),
      )
      gauge(
        'countersign_engine_accelerator_lost',
        '1 while the processor serves because an accelerator failed while it served, else 0.',
        ({ isAcceleratorLost }) => Number(isAcceleratorLost),
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

/** Reads the resident memory from `/proc`, where Linux reports it in kibibytes; 0 on other systems. */
function residentBytes(processId: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${processId}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
