/**
 * What happened lately, per tenant. The last quarter of an hour stands in memory by steps of 10 s; minutes and hours stand in the database,
 * where the end of a process leaves them, for as long as a window shows them (housekeeping deletes them). Several services add to the
 * same rows: each shows what all have saved, and what it has not saved yet itself.
 */
import type { Logger } from 'pino'
import type { Observation } from '../http/observation.js'
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'
import type { TrafficResolution } from '../storage/records.js'
import { type Store, StoreUnavailableError } from '../storage/store.js'
import type { TrafficTotal, TrafficView, TrafficWindow } from './contract.js'
import {
  addTraffic,
  countRequest,
  type EnvironmentCounts,
  noTraffic,
  percentilesByKind,
  readTraffic,
  SCORE_BINS,
  type TrafficCounts,
  writeTraffic,
} from './traffic-counts.js'

const WINDOWS = {
  quarter: { stepMs: 10 * SECOND_MS, spanMs: 15 * MINUTE_MS, stored: 'minute' },
  hour: { stepMs: MINUTE_MS, spanMs: HOUR_MS, stored: 'minute' },
  day: { stepMs: HOUR_MS, spanMs: DAY_MS, stored: 'hour' },
  week: { stepMs: 3 * HOUR_MS, spanMs: 7 * DAY_MS, stored: 'hour' },
} as const satisfies Record<TrafficWindow, { stepMs: number; spanMs: number; stored: TrafficResolution }>
const STORED_MS: Record<TrafficResolution, number> = { minute: MINUTE_MS, hour: HOUR_MS }
/** Milliseconds between two saves: a process that is killed loses at most this much. */
export const SAVE_MS = 5 * SECOND_MS
/** Tenants that share a commit: few, so that no request waits long behind them. */
const SAVED_AT_ONCE = 16
/** Minutes, while the database cannot be written. */
const MAX_UNSAVED = 60

/** Where others count too, minutes are all that one knows of them. */
const QUARTER_OF_ALL = { ...WINDOWS.quarter, stepMs: MINUTE_MS }

/** By the start of the stretch. */
type Stretches = Map<number, TrafficCounts>

export class Traffic {
  /** By tenant, in steps of the shortest window. */
  private readonly recent = new Map<string, Stretches>()
  /** By tenant, in minutes: not in the database yet. */
  private readonly unsaved = new Map<string, Stretches>()
  /** The same, on its way there. */
  private readonly underWay = new Map<string, Stretches>()
  private readonly savesUnderWay = new Map<string, Promise<unknown>>()
  private savesBegun = 0
  private readonly startedAt: number
  /** A database that is locked may keep one save waiting longer than until the next. */
  private readonly beat = new PeriodicTask(
    SAVE_MS,
    () => this.save(),
    (err) => this.tell(err),
  )

  constructor(
    private readonly store: Pick<Store, 'read' | 'transaction' | 'shared'>,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.startedAt = startOf(clock.now(), MINUTE_MS)
  }

  start(): void {
    this.beat.start()
  }

  /** Before the store is closed. */
  async stop(): Promise<void> {
    await this.beat.stop()
    await this.save()
  }

  readonly observe = (request: Observation): void => {
    // Guidance comes by the dozen for each verdict, and would hide them.
    if (request.endpoint === 'guide') return
    // A key that was refused names its tenant as well: at the other environment's address, revoked, or from another network.
    const tenantId = request.tenantId ?? request.keyTenantId
    if (tenantId === undefined) return
    const now = this.clock.now()
    const { stepMs, spanMs } = WINDOWS.quarter
    const recent = stretchesOf(this.recent, tenantId)
    for (const at of recent.keys()) if (at <= now - spanMs || at > now) recent.delete(at)
    countRequest(stretchAt(recent, startOf(now, stepMs)), request)
    const unsaved = stretchesOf(this.unsaved, tenantId)
    countRequest(stretchAt(unsaved, startOf(now, MINUTE_MS)), request)
    if (unsaved.size > MAX_UNSAVED) unsaved.delete(Math.min(...unsaved.keys()))
  }

  async view(tenantId: string, window: TrafficWindow): Promise<TrafficView> {
    const { stepMs, spanMs } = this.isOfAll(window) ? QUARTER_OF_ALL : WINDOWS[window]
    const now = this.clock.now()
    const steps: Stretches = new Map()
    for (const [at, counts] of await this.stretches(tenantId, window, now))
      if (at > now - spanMs && at <= now) addTraffic(stretchAt(steps, startOf(at, stepMs)), counts)
    const inOrder = [...steps].sort(([a], [b]) => a - b)
    const total = inOrder.reduce((sum, [, counts]) => addTraffic(sum, counts), noTraffic())
    return {
      window,
      now,
      step_ms: stepMs,
      span_ms: spanMs,
      score_bins: SCORE_BINS,
      environments: { production: totalOf(total.production), sandbox: totalOf(total.sandbox) },
      slots: inOrder.map(([at, { production, sandbox, signingKeys }]) => ({
        at,
        production: { ...production, latencies: percentilesByKind(production) },
        sandbox: { ...sandbox, latencies: percentilesByKind(sandbox) },
        signingKeys,
      })),
    }
  }

  /** Never rejects: what cannot be written is tried again the next time. */
  async save(): Promise<void> {
    const tenantIds = [...this.unsaved.keys()]
    while (tenantIds.length > 0) {
      const saved = tenantIds.splice(0, SAVED_AT_ONCE).map((tenantId) => {
        this.savesBegun++
        const done = this.saveOne(tenantId).finally(() => this.savesUnderWay.delete(tenantId))
        this.savesUnderWay.set(tenantId, done)
        return done
      })
      const failures = (await Promise.all(saved)).filter((error) => error !== null)
      if (failures.length === 0) continue
      this.tell(failures[0])
      // The others would wait for the same lock or disk, and a stop with them.
      if (failures.some((error) => error instanceof StoreUnavailableError)) return
    }
  }

  private tell(err: unknown): void {
    this.log.warn({ err }, 'the latest traffic could not be saved')
  }

  /** @returns why it was not saved */
  private async saveOne(tenantId: string): Promise<unknown> {
    const minutes = this.unsaved.get(tenantId)!
    this.unsaved.delete(tenantId)
    this.underWay.set(tenantId, minutes)
    try {
      await this.store.transaction(async (tx) => {
        // A deleted tenant keeps no counts, and its old keys may still be tried.
        if ((await tx.tenantById(tenantId))?.deletedAt !== null) return
        for (const [at, counts] of minutes)
          for (const resolution of ['minute', 'hour'] as const) {
            const start = startOf(at, STORED_MS[resolution])
            const present = await tx.trafficAt(tenantId, resolution, start)
            const sum = addTraffic(present ? readTraffic(present.counts) : noTraffic(), counts)
            await tx.putTraffic({ tenantId, resolution, at: start, counts: writeTraffic(sum) })
          }
      })
      return null
    } catch (error) {
      // Of a tenant that is gone, for example: it would fail for ever.
      if (!(error instanceof StoreUnavailableError)) return error
      const unsaved = stretchesOf(this.unsaved, tenantId)
      for (const [at, counts] of minutes) addTraffic(stretchAt(unsaved, at), counts)
      return error
    } finally {
      this.underWay.delete(tenantId)
    }
  }

  /** Several services count, so that this one has not seen all of the last quarter of an hour. */
  private isOfAll(window: TrafficWindow): boolean {
    return window === 'quarter' && this.store.shared !== null
  }

  /** Everything that is known of the window, in any steps, none of it twice. */
  private async stretches(
    tenantId: string,
    window: TrafficWindow,
    now: number,
  ): Promise<Array<[number, TrafficCounts]>> {
    const { spanMs, stored } = WINDOWS[window]
    const begun = this.savesBegun
    const unsaved = [...(this.unsaved.get(tenantId) ?? []), ...(this.underWay.get(tenantId) ?? [])]
    const recent = window === 'quarter' ? [...(this.recent.get(tenantId) ?? [])] : []
    const rows = await this.store.read.traffic(tenantId, stored, now - spanMs)
    const underWay = this.savesUnderWay.get(tenantId)
    if (this.store.shared && (underWay || begun !== this.savesBegun)) {
      // Over a network, what is being saved meanwhile may be among what was read, or not.
      await underWay
      return this.stretches(tenantId, window, now)
    }
    const saved = rows.map(({ at, counts }) => [at, readTraffic(counts)] as [number, TrafficCounts])
    if (window !== 'quarter' || this.isOfAll(window)) return [...saved, ...unsaved]
    // From its first whole minute on this process has seen all; before that, one that ended may have seen a part.
    const whole = this.startedAt + MINUTE_MS
    return [...saved, ...unsaved].filter(([at]) => at < whole).concat(recent.filter(([at]) => at >= whole))
  }
}

function totalOf(counts: EnvironmentCounts): TrafficTotal {
  return { latencies: percentilesByKind(counts), codes: counts.codes, reasons: counts.reasons }
}

function startOf(at: number, stepMs: number): number {
  return Math.floor(at / stepMs) * stepMs
}

function stretchesOf(tenants: Map<string, Stretches>, tenantId: string): Stretches {
  const stretches = tenants.get(tenantId) ?? new Map<number, TrafficCounts>()
  tenants.set(tenantId, stretches)
  return stretches
}

function stretchAt(stretches: Stretches, at: number): TrafficCounts {
  const counts = stretches.get(at) ?? noTraffic()
  stretches.set(at, counts)
  return counts
}
