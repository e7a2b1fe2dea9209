/** Converts the steps of a window into the series of the charts. */
import type { CallKind } from '../../contract/call-kinds.js'
import type { Environment, TrafficSlot, TrafficView } from '../contract.js'
import type { Series } from './base/chart.js'

const COUNTS = ['requests', 'errors', 'limited', 'approved', 'rejected'] as const
export type Total = Record<(typeof COUNTS)[number], number>

export function sum(slots: TrafficSlot[], environment: Environment): Total {
  const total = { requests: 0, errors: 0, limited: 0, approved: 0, rejected: 0 }
  for (const slot of slots) for (const name of COUNTS) total[name] += slot[environment][name]
  return total
}

/** Returns the series over time. A step without requests is a zero for counts and a gap for latencies. */
export function timeline(
  { now, step_ms, span_ms, slots }: TrafficView,
  { environment, kind, stage }: { environment: Environment; kind: CallKind; stage: string },
) {
  const bySlot = new Map(slots.map((slot) => [slot.at, slot]))
  const last = Math.floor(now / step_ms) * step_ms
  const steps = Array.from({ length: span_ms / step_ms }, (_, i) => last - span_ms + (i + 1) * step_ms)
  const count = (name: keyof Total) => steps.map((at) => bySlot.get(at)?.[environment][name] ?? 0)
  const percentile = (index: number) =>
    steps.map((at) => {
      const ms = bySlot.get(at)?.[environment].latencies[kind]?.[stage]?.[index]
      return ms === undefined ? null : Number(ms.toFixed(2))
    })
  const requests: Series[] = [
    { label: 'Requests', colour: '--chart-1', draw: 'stack', values: count('requests') },
    {
      label: 'of these, errors',
      colour: '--chart-bad',
      draw: 'within',
      isStriped: true,
      values: count('errors'),
    },
  ]
  const verdicts: Series[] = [
    { label: 'Rejected', colour: '--chart-bad', draw: 'stack', isStriped: true, values: count('rejected') },
    { label: 'Approved', colour: '--chart-good', draw: 'stack', values: count('approved') },
  ]
  const latency: Series[] = [
    { label: 'p50', colour: '--chart-1', draw: 'line', values: percentile(0) },
    { label: 'p95', colour: '--chart-2', draw: 'line', values: percentile(1) },
    // p99 is drawn dashed and last, so that both lines stay visible where it lies on p95.
    { label: 'p99', colour: '--chart-3', draw: 'dashes', values: percentile(2) },
  ]
  return { x: steps.map((at) => at / 1000), requests, verdicts, latency }
}

export function distribution(slots: TrafficSlot[], threshold: number) {
  const bins = slots[0]?.production.scores.length ?? 0
  const counts = Array.from({ length: bins }, (_, i) =>
    slots.reduce((n, { production }) => n + production.scores[i]!, 0),
  )
  const x = counts.map((_, i) => (i + 0.5) / bins)
  const side = (isAbove: boolean) => counts.map((count, i) => (x[i]! >= threshold === isAbove ? count : 0))
  const total = (values: number[]) => values.reduce((n, count) => n + count, 0)
  const [below, above] = [side(false), side(true)]
  const series: Series[] = [
    { label: 'Below', colour: '--chart-bad', draw: 'stack', isStriped: true, values: below },
    { label: 'Above', colour: '--chart-good', draw: 'stack', values: above },
  ]
  return { x, series, below: total(below), above: total(above) }
}
