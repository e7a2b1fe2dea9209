/**
 * Counts each tenant's requests for the charts of the dashboard. The last quarter of an hour stands in memory in steps of 10 s. Minutes
 * and hours stand in the database, where they outlive the process, until the retention job deletes them. Each service shows the counts
 * that all have saved, and its own unsaved ones.
 */
import type { Observation } from '../../../http/observation/observation.js'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lib/clock.js'
import type { TenantRecord } from '../../../storage/records.js'
import type { Store, StoreTransaction } from '../../../storage/store.js'
import { type RecorderParts, type Rows, TenantRecorder } from '../tenant-recorder.js'
import {
  addTraffic,
  countRequest,
  noTraffic,
  readTraffic,
  type TrafficCounts,
  writeTraffic,
} from './traffic-counts.js'
import { type TrafficResolution, trafficReader, trafficWriter } from './traffic-table.js'
import {
  countsAt,
  startOf,
  type TrafficView,
  type TrafficWindow,
  trafficView,
  WINDOWS,
} from './traffic-view.js'

const STORED_MS: Record<TrafficResolution, number> = { minute: MINUTE_MS, hour: HOUR_MS }
export const SAVE_MS = 5 * SECOND_MS
/** Most minutes of counts that a tenant has in memory while the database cannot be written. */
const MAX_UNSAVED_MINUTES = 60

interface TrafficParts extends RecorderParts {
  store: Pick<Store, 'read' | 'transaction' | 'shared'>
}

/** Its rows are the counts of a minute, by the time at which it starts in Unix milliseconds. */
export class Traffic extends TenantRecorder<TrafficCounts, number> {
  /** Each tenant's requests of the last quarter of an hour to this process, in steps of the shortest window. */
  private readonly recent = new Map<string, Map<number, TrafficCounts>>()
  /** The last save or read of each tenant's counts that has begun. */
  private readonly queues = new Map<string, Promise<unknown>>()
  private readonly startedAt: number

  constructor(private readonly parts: TrafficParts) {
    super(parts, { everyMs: SAVE_MS, failure: 'the latest traffic could not be saved' })
    this.startedAt = startOf(parts.clock.now(), MINUTE_MS)
  }

  readonly observe = (request: Observation): void => {
    // Guidance is asked for dozens of times for each verdict, and would hide the verdicts.
    if (request.endpoint === 'guide') return
    // A refused key names its tenant as well: one that is revoked, or was used at the other environment's address or from another network.
    const tenantId = request.tenantId ?? request.keyTenantId
    if (tenantId === undefined) return
    const now = this.parts.clock.now()
    const { stepMs, spanMs } = WINDOWS.quarter
    const recent = this.recent.get(tenantId) ?? new Map<number, TrafficCounts>()
    this.recent.set(tenantId, recent)
    for (const at of recent.keys()) if (at <= now - spanMs || at > now) recent.delete(at)
    countRequest(countsAt(recent, startOf(now, stepMs)), request)
    countRequest(this.rowOf(tenantId, startOf(now, MINUTE_MS), noTraffic), request)
    const minutes = this.unsaved.get(tenantId)!
    if (minutes.size > MAX_UNSAVED_MINUTES) minutes.delete(Math.min(...minutes.keys()))
  }

  async view(tenantId: string, window: TrafficWindow): Promise<TrafficView> {
    const now = this.parts.clock.now()
    const counted = await this.oneAtATime(tenantId, () => this.counted(tenantId, window, now))
    // Several services share the rows by minute only.
    return trafficView(window, now, counted, this.isSharedQuarter(window) ? MINUTE_MS : undefined)
  }

  protected add(sum: TrafficCounts, part: TrafficCounts): void {
    addTraffic(sum, part)
  }

  protected override saveTenant(tenantId: string): Promise<boolean> {
    return this.oneAtATime(tenantId, () => super.saveTenant(tenantId))
  }

  protected async write(
    tx: StoreTransaction,
    { id: tenantId }: TenantRecord,
    minutes: Rows<TrafficCounts, number>,
  ): Promise<void> {
    const traffic = tx.statements(trafficWriter)
    for (const [minute, counts] of minutes)
      for (const resolution of ['minute', 'hour'] as const) {
        const at = startOf(minute, STORED_MS[resolution])
        const present = await traffic.at(tenantId, resolution, at)
        const sum = addTraffic(present ? readTraffic(present.counts) : noTraffic(), counts)
        await traffic.put({ tenantId, resolution, at, counts: writeTraffic(sum) })
      }
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

  /** Whether several services count, so that none of them has seen all requests of the last quarter of an hour. */
  private isSharedQuarter(window: TrafficWindow): boolean {
    return window === 'quarter' && this.parts.store.shared !== null
  }

  /** All counts that are known of the window, in steps of any length, none of them twice. */
  private async counted(
    tenantId: string,
    window: TrafficWindow,
    now: number,
  ): Promise<Array<[number, TrafficCounts]>> {
    const { spanMs, stored } = WINDOWS[window]
    const traffic = this.parts.store.read.statements(trafficReader)
    const rows = await traffic.since(tenantId, stored, now - spanMs)
    const saved = rows.map(({ at, counts }) => [at, readTraffic(counts)] as [number, TrafficCounts])
    const all = [...saved, ...(this.unsaved.get(tenantId) ?? [])]
    if (window !== 'quarter' || this.isSharedQuarter(window)) return all
    // This process has seen every request since its first whole minute. An earlier process may have seen some of those before it.
    const whole = this.startedAt + MINUTE_MS
    const recent = [...(this.recent.get(tenantId) ?? [])]
    return all.filter(([at]) => at < whole).concat(recent.filter(([at]) => at >= whole))
  }
}
