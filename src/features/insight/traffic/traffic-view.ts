/** The traffic of a tenant within a window, as the dashboard's charts show it. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lib/clock.js'
import {
  addTraffic,
  type EnvironmentCounts,
  noTraffic,
  percentilesByKind,
  SCORE_BINS,
  type TrafficCounts,
} from './traffic-counts.js'
import type { TrafficResolution } from './traffic-table.js'

export const WINDOWS = {
  quarter: { stepMs: 10 * SECOND_MS, spanMs: 15 * MINUTE_MS, stored: 'minute' },
  hour: { stepMs: MINUTE_MS, spanMs: HOUR_MS, stored: 'minute' },
  day: { stepMs: HOUR_MS, spanMs: DAY_MS, stored: 'hour' },
  week: { stepMs: 3 * HOUR_MS, spanMs: 7 * DAY_MS, stored: 'hour' },
} as const satisfies Record<string, { stepMs: number; spanMs: number; stored: TrafficResolution }>

export type TrafficWindow = keyof typeof WINDOWS

/** Counts by the time at which their step starts, in Unix milliseconds. */
type CountsByStart = Map<number, TrafficCounts>

/** @param counted counts in steps of any length, none of them twice */
export function trafficView(
  window: TrafficWindow,
  now: number,
  counted: Iterable<[number, TrafficCounts]>,
  stepMs: number = WINDOWS[window].stepMs,
) {
  const { spanMs } = WINDOWS[window]
  const steps: CountsByStart = new Map()
  for (const [at, counts] of counted)
    if (at > now - spanMs && at <= now) addTraffic(countsAt(steps, startOf(at, stepMs)), counts)
  const inOrder = [...steps].sort(([a], [b]) => a - b)
  const total = inOrder.reduce((sum, [, counts]) => addTraffic(sum, counts), noTraffic())
  return {
    window,
    /** Milliseconds since the epoch. */
    now,
    step_ms: stepMs,
    span_ms: spanMs,
    score_bins: SCORE_BINS,
    environments: { production: totalOf(total.production), sandbox: totalOf(total.sandbox) },
    /** Oldest first; steps without a request are left out. */
    slots: inOrder.map(([at, { production, sandbox, signingKeys }]) => ({
      /** Start, in milliseconds since the epoch. */
      at,
      production: { ...production, latencies: percentilesByKind(production) },
      sandbox: { ...sandbox, latencies: percentilesByKind(sandbox) },
      /** Requests by the signing secret that the caller named; `unnamed` for requests that named none. */
      signingKeys,
    })),
  }
}

export type TrafficView = ReturnType<typeof trafficView>

function totalOf(counts: EnvironmentCounts) {
  return { latencies: percentilesByKind(counts), codes: counts.codes, reasons: counts.reasons }
}

export function startOf(at: number, stepMs: number): number {
  return Math.floor(at / stepMs) * stepMs
}

export function countsAt(steps: CountsByStart, at: number): TrafficCounts {
  const counts = steps.get(at) ?? noTraffic()
  steps.set(at, counts)
  return counts
}
