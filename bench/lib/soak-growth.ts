/** Growth of memory and descriptors over a soak, and its limits. */
import type { ServiceVitals } from './process-vitals.js'
import { robustSlope } from './robust-slope.js'
import { round } from './statistics.js'

export interface Sample extends ServiceVitals {
  minute: number
}

/** Minutes at the beginning of a service's life that are not judged: caches fill first. */
const WARM_UP_MINUTES = 10
/**
 * Minutes at the beginning of an engine process's life that are not judged: its arenas take their size with the first
 * few thousand pictures, and V8 gives back what loading the networks took.
 */
const ENGINE_WARM_UP_MINUTES = 8
/** Minimum minutes of a soak whose slopes are judged: in a shorter one they mean nothing. */
export const JUDGED_FROM_MINUTES = 20
/** Limits per hour: more than a sample varies without a cause, and less than would fill a machine within a month. */
export const MAX_MB_PER_HOUR = 16
export const MAX_DESCRIPTORS_PER_HOUR = 3
const MINUTES_PER_HOUR = 60
/** A mebibyte in megabytes. */
const MB_PER_MIB = 2 ** 20 / 1e6

/** Minutes at the beginning of a process's life that are not judged, in a soak of the given length. */
export function warmUpOf(minutes: number): { service: number; engine: number } {
  const most = minutes / 6
  return { service: Math.min(WARM_UP_MINUTES, most), engine: Math.min(ENGINE_WARM_UP_MINUTES, most) }
}

/** Growth per hour; null without two samples. */
export interface Slopes {
  serviceMb: number | null
  heapMb: number | null
  engineMb: number | null
  serviceDescriptors: number | null
  engineDescriptors: number | null
}

export function slopesOf(samples: readonly Sample[], warmUpMinutes: ReturnType<typeof warmUpOf>): Slopes {
  const warm = samples.filter(({ minute }) => minute >= warmUpMinutes.service)
  const perHour = (lives: Sample[][], value: (sample: Sample) => number) => {
    const slope = robustSlope(
      lives.map((life) => life.map((one) => ({ x: one.minute / MINUTES_PER_HOUR, y: value(one) }))),
    )
    return slope === null ? null : round(slope, 2)
  }
  const pids = new Set(samples.flatMap(({ engine }) => engine?.pid ?? []))
  const engines = [...pids]
    .map((pid) => samples.filter(({ engine }) => engine?.pid === pid))
    .map((life) => life.filter(({ minute }) => minute - life[0]!.minute >= warmUpMinutes.engine))
  return {
    serviceMb: perHour([warm], ({ service }) => service.anonymousMib * MB_PER_MIB),
    heapMb: perHour([warm], ({ heapUsedMib }) => heapUsedMib * MB_PER_MIB),
    engineMb: perHour(engines, ({ engine }) => engine!.anonymousMib * MB_PER_MIB),
    serviceDescriptors: perHour([warm], ({ service }) => service.descriptors),
    engineDescriptors: perHour(engines, ({ engine }) => engine!.descriptors),
  }
}

/** @returns sentences that name every series that grows too fast */
export function tooSteep(slopes: Slopes): string[] {
  const limits: Array<[string, number | null, number, string]> = [
    ["the service's memory", slopes.serviceMb, MAX_MB_PER_HOUR, 'MB'],
    ["the engine's memory", slopes.engineMb, MAX_MB_PER_HOUR, 'MB'],
    ["the service's descriptors", slopes.serviceDescriptors, MAX_DESCRIPTORS_PER_HOUR, ''],
    ["the engine's descriptors", slopes.engineDescriptors, MAX_DESCRIPTORS_PER_HOUR, ''],
  ]
  return limits
    .filter(([, slope, most]) => slope === null || slope > most)
    .map(([what, slope, most, unit]) =>
      slope === null
        ? `${what} could not be judged: no two samples`
        : `${what} grow by ${slope} ${unit} an hour; at most ${most}`,
    )
}
