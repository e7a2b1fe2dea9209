/** Prometheus metrics of the engine: workers, queue, incidents, memory of its process, model pack and execution provider. */
import { readFileSync } from 'node:fs'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Calibration } from '../../../models/pack/calibration.js'
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
  /** Shows on whom the thresholds in use were measured. @param calibration undefined where only the pack states thresholds */
  showCalibration(calibration: Calibration | undefined): void
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
    showCalibration(calibration) {
      new Gauge({
        name: 'countersign_calibration_people',
        help: 'People on whom the thresholds in use were measured; source is users, photos, shipped or none.',
        labelNames: ['source'],
        registers,
      }).set({ source: sourceOf(calibration) }, calibration?.data.people ?? 0)
      new Gauge({
        name: 'countersign_likely_duplicates',
        help: 'People who likely have several users, by the calibration between users; 0 without one.',
        registers,
      }).set(calibration?.data.likely_duplicates ?? 0)
    },
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
      new Gauge({
        name: 'countersign_engine_pack_info',
        help: 'The model packs that are loaded; role is primary for the pack of COUNTERSIGN_MODEL_PACK, else following; always 1.',
        labelNames: ['model', 'role'],
        registers,
        collect() {
          const { model, following } = health()
          this.reset()
          this.set({ model, role: 'primary' }, 1)
          for (const other of following) this.set({ model: other, role: 'following' }, 1)
        },
      })
    },
  }
}

function sourceOf(calibration: Calibration | undefined): string {
  if (!calibration) return 'none'
  return calibration.source ?? calibration.origin ?? 'photos'
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
