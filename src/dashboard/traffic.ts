/** What happened lately, per tenant, in memory: the last quarter of an hour, hour and day, each in about a hundred steps. */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../clock.js'
import type { Observation } from '../server/observation.js'
import { STAGES } from '../v1/stages.js'
import { type Percentiles, TRAFFIC_WINDOWS, type TrafficSlot, type TrafficWindow } from './contract.js'

export const WINDOWS = {
  quarter: { stepMs: 10 * SECOND_MS, spanMs: 15 * MINUTE_MS },
  hour: { stepMs: MINUTE_MS, spanMs: HOUR_MS },
  day: { stepMs: 15 * MINUTE_MS, spanMs: DAY_MS },
} as const satisfies Record<TrafficWindow, { stepMs: number; spanMs: number }>

/** Scores lie in -1..1 (cosine) or below 1 (Euclidean); what is under 0 counts as 0. */
export const SCORE_BINS = 50
const MICROSECONDS = 1000
const HIGHEST_MICROSECONDS = 60 * SECOND_MS * MICROSECONDS
const PERCENTILES = [50, 95, 99] as const

export class Traffic {
  private readonly tenants = new Map<string, Record<TrafficWindow, Ring>>()

  constructor(private readonly clock: Clock) {}

  readonly observe = (request: Observation): void => {
    if (request.tenantId === undefined) return
    let rings = this.tenants.get(request.tenantId)
    if (!rings) {
      rings = { quarter: new Ring('quarter'), hour: new Ring('hour'), day: new Ring('day') }
      this.tenants.set(request.tenantId, rings)
    }
    const now = this.clock.now()
    for (const window of TRAFFIC_WINDOWS) rings[window].add(request, now)
  }

  /** Oldest first; steps without a request are left out. */
  slots(tenantId: string, window: TrafficWindow): TrafficSlot[] {
    return this.tenants.get(tenantId)?.[window].slots(this.clock.now()) ?? []
  }
}

class Ring {
  private closed: TrafficSlot[] = []
  private open: TrafficSlot | null = null
  /** Of the open step only: a closed one keeps three numbers a stage instead of a histogram of 20 KB. */
  private readonly histograms = new Map<string, RecordableHistogram>()

  constructor(private readonly window: TrafficWindow) {}

  add(request: Observation, now: number): void {
    const slot = this.slotAt(now)
    slot[request.environment]++
    if (request.status >= 400) slot.errors++
    if (request.status === 429) slot.limited++
    const { verdict, score } = request
    if (verdict === 'approved') slot.approved++
    if (verdict === 'rejected') slot.rejected++
    if (typeof score === 'number' && request.environment === 'production') {
      const bin = Math.floor(Math.min(Math.max(score, 0), 1) * SCORE_BINS)
      slot.scores[Math.min(bin, SCORE_BINS - 1)]!++
    }
    // Any caller may name any secret: only what looks like one becomes a key.
    const named = request.signingKeyId ?? 'unnamed'
    if (/^(?:unnamed|sec_[0-9a-f]{32})$/.test(named) && Object.keys(slot.signingKeys).length < 8)
      slot.signingKeys[named] = (slot.signingKeys[named] ?? 0) + 1
    this.record('total', request.durationMs)
    for (const stage of STAGES) {
      const durationMs = request.timings[stage]
      if (durationMs !== undefined) this.record(stage, durationMs)
    }
  }

  slots(now: number): TrafficSlot[] {
    const oldest = now - WINDOWS[this.window].spanMs
    const open = this.open ? [{ ...this.open, latencies: this.percentiles() }] : []
    return [...this.closed, ...open].filter(({ at }) => at > oldest)
  }

  private slotAt(now: number): TrafficSlot {
    const { stepMs, spanMs } = WINDOWS[this.window]
    const at = Math.floor(now / stepMs) * stepMs
    if (this.open?.at === at) return this.open
    if (this.open) {
      this.closed.push({ ...this.open, latencies: this.percentiles() })
      // A clock that was set back comes by the same steps again: those ahead of it are dropped.
      this.closed = this.closed.filter((slot) => slot.at > now - spanMs && slot.at < at)
      for (const histogram of this.histograms.values()) histogram.reset()
    }
    this.open = {
      at,
      production: 0,
      sandbox: 0,
      errors: 0,
      limited: 0,
      approved: 0,
      rejected: 0,
      latencies: {},
      scores: new Array<number>(SCORE_BINS).fill(0),
      signingKeys: {},
    }
    return this.open
  }

  private record(stage: string, durationMs: number): void {
    let histogram = this.histograms.get(stage)
    if (!histogram) {
      histogram = createHistogram({ lowest: 1, highest: HIGHEST_MICROSECONDS, figures: 2 })
      this.histograms.set(stage, histogram)
    }
    const microseconds = Math.round(durationMs * MICROSECONDS)
    histogram.record(Math.min(Math.max(microseconds, 1), HIGHEST_MICROSECONDS))
  }

  private percentiles(): Record<string, Percentiles> {
    const used = [...this.histograms].filter(([, histogram]) => histogram.count > 0)
    return Object.fromEntries(
      used.map(([stage, histogram]) => [
        stage,
        PERCENTILES.map((percentile) => histogram.percentile(percentile) / MICROSECONDS) as Percentiles,
      ]),
    )
  }
}
