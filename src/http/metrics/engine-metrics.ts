/** Prometheus metrics of the engine: workers, queue, incidents, memory of its process, model pack and execution provider. */
import { readFileSync } from 'node:fs'
import { Counter, type Registry } from 'prom-client'
import type { Calibration } from '../../../models/pack/calibration.js'
import { type EngineHealth, type EngineIncident, INCIDENT_KINDS } from '../../biometrics/types.js'
import { gaugesOf } from './gauges.js'

/** @returns a function that counts an incident */
export function incidentCounter(registry: Registry): (incident: EngineIncident) => void {
  const incidents = new Counter({
    name: 'countersign_engine_incidents_total',
    help: 'Incidents of engine processes and workers by kind: process or worker lost, worker not loaded or sending garbled frames, engine hung, task stuck or failed, accelerator lost or hung, following pack failed.',
    labelNames: ['kind'],
    registers: [registry],
  })
  // An alert on the rate of a kind needs the step from 0 to 1.
  for (const kind of INCIDENT_KINDS) incidents.inc({ kind }, 0)
  return ({ kind }) => incidents.inc({ kind })
}

/** Shows on whom the thresholds in use were measured. @param calibration undefined where only the pack states thresholds */
export function showCalibration(registry: Registry, calibration: Calibration | undefined): void {
  const gauge = gaugesOf(registry)
  const { people = 0, likely_duplicates = 0 } = calibration?.data ?? {}
  const source = calibration ? (calibration.source ?? calibration.origin ?? 'photos') : 'none'
  gauge(
    'countersign_calibration_people',
    'People on whom the thresholds in use were measured; source is users, photos, shipped or none.',
    () => [[{ source }, people]],
    ['source'],
  )
  gauge(
    'countersign_likely_duplicates',
    'People who likely have several users, by the calibration between users; 0 without one.',
    () => likely_duplicates,
  )
}

export function watchEngine(registry: Registry, health: () => EngineHealth): void {
  const gauge = gaugesOf(registry)
  const ofEngine = (name: string, help: string, read: (engine: EngineHealth) => number) =>
    gauge(`countersign_engine_${name}`, help, () => read(health()))
  ofEngine('workers', 'Workers configured.', ({ workers }) => workers.configured)
  ofEngine('workers_ready', 'Workers that can serve.', ({ workers }) => workers.ready)
  ofEngine('queue_limit', 'Calls that may wait for a worker.', ({ queue }) => queue.limit)
  ofEngine('queue_waiting', 'Calls waiting for a worker.', ({ queue }) => queue.waiting)
  ofEngine(
    'queue_running',
    'Tasks in a worker: a call, or one picture of a challenge.',
    ({ queue }) => queue.running,
  )
  ofEngine(
    'resident_memory_bytes',
    'Resident memory of the engine process; 0 on systems other than Linux.',
    ({ processId }) => residentBytes(processId),
  )
  ofEngine(
    'accelerator_lost',
    '1 while the processor serves because an accelerator failed while it served, else 0.',
    ({ isAcceleratorLost }) => Number(isAcceleratorLost),
  )
  gauge(
    'countersign_engine_info',
    'The model pack and the execution provider that serve; always 1.',
    () => {
      const { model, provider } = health()
      return [[{ model, provider: provider.active }, 1]]
    },
    ['model', 'provider'],
  )
  gauge(
    'countersign_engine_pack_info',
    'The model packs that are loaded; role is primary for the pack of COUNTERSIGN_MODEL_PACK, else following; always 1.',
    () => {
      const { model, following } = health()
      return [
        [{ model, role: 'primary' }, 1],
        ...following.map((other) => [{ model: other, role: 'following' }, 1] as const),
      ]
    },
    ['model', 'role'],
  )
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
