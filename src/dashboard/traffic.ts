/**
 * Counts each tenant's requests for the charts of the dashboard. The last quarter of an hour stands in memory in steps of 10 s. Minutes
 * and hours stand in the database, where they outlive the process, until the retention job deletes them. Several services add to the
 * same rows: each shows the counts that all have saved, and its own unsaved ones.
 */
import type { Logger } from 'pino'
import type { Observation } from '../http/observation/observation.js'
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'
import type { TrafficResolution } from '../storage/records.js'
import { type Store, type StoreTransaction, StoreUnavailableError } from '../storage/store.js'
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
/** Milliseconds between two saves: a process that is killed loses the counts of at most this time. */
export const SAVE_MS = 5 * SECOND_MS
/** Tenants whose counts are written at the same time: few, so that no request waits long behind them. */
const SAVED_AT_ONCE = 16
/** Most minutes of counts that a tenant has in memory while the database cannot be written. */
const MAX_UNSAVED_MINUTES = 60

/** Several services share the rows by minute only, so that their quarter of an hour is shown in minutes. */
const SHARED_QUARTER = { ...WINDOWS.quarter, stepMs: MINUTE_MS }

/** Counts by the time at which their step starts, in Unix milliseconds. */
type CountsByStart = Map<number, TrafficCounts>

export class Traffic {
  /** Each tenant's requests of the last quarter of an hour to this process, in steps of the shortest window. */
  private readonly recent = new Map<string, CountsByStart>()
  /** The counts of each tenant that are not in the database yet, by minute. */
  private readonly unsaved = new Map<string, CountsByStart>()
  /** The last save or read of each tenant's counts that has begun. */
  private readonly queues = new Map<string, Promise<unknown>>()
  private readonly startedAt: number
  private readonly periodicSave = new PeriodicTask(
    SAVE_MS,
    () => this.save(),
    (err) => this.logFailure(err),
  )

  constructor(
    private readonly store: Pick<Store, 'read' | 'transaction' | 'shared'>,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.startedAt = startOf(clock.now(), MINUTE_MS)
  }

  start(): void {
    this.periodicSave.start()
  }

  /** Saves what is left. Call it before the store is closed. */
  async stop(): Promise<void> {
    await this.periodicSave.stop()
    await this.save()
  }

  readonly observe = (request: Observation): void => {
    // Guidance is asked for dozens of times for each verdict, and would hide the verdicts.
    if (request.endpoint === 'guide') return
    // A refused key names its tenant as well: one that is revoked, or was used at the other environment's address or from another network.
    const tenantId = request.tenantId ?? request.keyTenantId
    if (tenantId === undefined) return
    const now = this.clock.now()
    const { stepMs, spanMs } = WINDOWS.quarter
    const recent = countsOf(this.recent, tenantId)
    for (const at of recent.keys()) if (at <= now - spanMs || at > now) recent.delete(at)
    countRequest(countsAt(recent, startOf(now, stepMs)), request)
    const unsaved = countsOf(this.unsaved, tenantId)
    countRequest(countsAt(unsaved, startOf(now, MINUTE_MS)), request)
    if (unsaved.size > MAX_UNSAVED_MINUTES) unsaved.delete(Math.min(...unsaved.keys()))
  }

  async view(tenantId: string, window: TrafficWindow): Promise<TrafficView> {
    const { stepMs, spanMs } = this.isSharedQuarter(window) ? SHARED_QUARTER : WINDOWS[window]
    const now = this.clock.now()
    const steps: CountsByStart = new Map()
    for (const [at, counts] of await this.oneAtATime(tenantId, () => this.counted(tenantId, window, now)))
      if (at > now - spanMs && at <= now) addTraffic(countsAt(steps, startOf(at, stepMs)), counts)
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

  /** Saves what is not in the database yet. Never rejects: counts that cannot be written stay for the next save. */
  async save(): Promise<void> {
    const tenantIds = [...this.unsaved.keys()]
    while (tenantIds.length > 0) {
      const batch = tenantIds.splice(0, SAVED_AT_ONCE)
      const errors = await Promise.all(
        batch.map((tenantId) => this.oneAtATime(tenantId, () => this.saveTenant(tenantId))),
      )
      const failed = errors.findIndex((error) => error !== null)
      if (failed < 0) continue
      this.logFailure(errors[failed], batch[failed])
      // The next tenants would wait for the same lock or disk, and so would a stop of the service.
      if (errors.some((error) => error instanceof StoreUnavailableError)) return
    }
  }

  private logFailure(err: unknown, tenantId?: string): void {
    this.log.warn({ err, tenant_id: tenantId }, 'the latest traffic could not be saved')
  }

  /**
   * Runs one save or read of a tenant's counts at a time: a read then finds each count either in the database or unsaved, never in both.
   */
  private oneAtATime<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    const done = (this.queues.get(tenantId) ?? Promise.resolve()).then(work, work)
    this.queues.set(tenantId, done)
    const forget = () => {
      if (this.queues.get(tenantId) === done) this.queues.delete(tenantId)
    }
    done.then(forget, forget)
    return done
  }

  /** @returns the error for which the tenant's counts were not saved, or null */
  private async saveTenant(tenantId: string): Promise<unknown> {
    const minutes = this.unsaved.get(tenantId)
    if (!minutes) return null
    this.unsaved.delete(tenantId)
    try {
      await this.store.transaction({ tenantId }, (tx) => addSaved(tx, tenantId, minutes))
      return null
    } catch (error) {
      // Any other error would come again with each save.
      if (!(error instanceof StoreUnavailableError)) return error
      const unsaved = countsOf(this.unsaved, tenantId)
      for (const [at, counts] of minutes) addTraffic(countsAt(unsaved, at), counts)
      return error
    }
  }

  /** Whether several services count, so that none of them has seen all requests of the last quarter of an hour. */
  private isSharedQuarter(window: TrafficWindow): boolean {
    return window === 'quarter' && this.store.shared !== null
  }

  /** All counts that are known of the window, in steps of any length, none of them twice. */
  private async counted(
    tenantId: string,
    window: TrafficWindow,
    now: number,
  ): Promise<Array<[number, TrafficCounts]>> {
    const { spanMs, stored } = WINDOWS[window]
    const rows = await this.store.read.traffic(tenantId, stored, now - spanMs)
    const saved = rows.map(({ at, counts }) => [at, readTraffic(counts)] as [number, TrafficCounts])
    const all = [...saved, ...(this.unsaved.get(tenantId) ?? [])]
    if (window !== 'quarter' || this.isSharedQuarter(window)) return all
    // This process has seen every request since its first whole minute. An earlier process may have seen some of those before it.
    const whole = this.startedAt + MINUTE_MS
    const recent = [...(this.recent.get(tenantId) ?? [])]
    return all.filter(([at]) => at < whole).concat(recent.filter(([at]) => at >= whole))
  }
}

/** Adds counts by minute to the tenant's rows, which other services add to as well. */
async function addSaved(tx: StoreTransaction, tenantId: string, minutes: CountsByStart): Promise<void> {
  // A deleted tenant keeps no counts, but its old keys may still be tried.
  if ((await tx.tenantById(tenantId))?.deletedAt !== null) return
  for (const [at, counts] of minutes)
    for (const resolution of ['minute', 'hour'] as const) {
      const start = startOf(at, STORED_MS[resolution])
      const present = await tx.trafficAt(tenantId, resolution, start)
      const sum = addTraffic(present ? readTraffic(present.counts) : noTraffic(), counts)
      await tx.putTraffic({ tenantId, resolution, at: start, counts: writeTraffic(sum) })
    }
}

function totalOf(counts: EnvironmentCounts): TrafficTotal {
  return { latencies: percentilesByKind(counts), codes: counts.codes, reasons: counts.reasons }
}

function startOf(at: number, stepMs: number): number {
  return Math.floor(at / stepMs) * stepMs
}

function countsOf(tenants: Map<string, CountsByStart>, tenantId: string): CountsByStart {
  const counts = tenants.get(tenantId) ?? new Map<number, TrafficCounts>()
  tenants.set(tenantId, counts)
  return counts
}

function countsAt(steps: CountsByStart, at: number): TrafficCounts {
  const counts = steps.get(at) ?? noTraffic()
  steps.set(at, counts)
  return counts
}
