/**
 * Compares the latest verifies of every tenant with those of the month before, once a minute, as the leader: those that the model judged
 * which decides for the tenant. An alarm is logged when it begins and when it ends; metrics show all comparisons.
 */
import type { Logger } from 'pino'
import type { LeaderLease } from '../../../cluster/leader-lease.js'
import { type Clock, MINUTE_MS } from '../../../lib/clock.js'
import { PeriodicTask } from '../../../lib/periodic-task.js'
import type { TenantRecord } from '../../../storage/records.js'
import type { Store } from '../../../storage/store.js'
import { MEASURES, type Measure } from './drift-counts.js'
import { DriftBaseline, type DriftReport, startOfPeriod, WEEK_MS } from './drift-report.js'
import { blocksOf, readHistories } from './drift-rows.js'
import { type DriftRecord, driftReader } from './drift-table.js'
import type { ServedModels } from './drift-view.js'

export interface WatchedDrift extends Pick<DriftReport, 'comparisons' | 'alarms'> {
  tenantId: string
  tenantName: string
  model: string
}

interface DriftWatchParts extends ServedModels {
  store: { read: Pick<Store['read'], 'statements' | 'tenants'> }
  clock: Clock
  log: Logger
  leaderLease: Pick<LeaderLease, 'current'>
}

/** A tenant and model as the last look left them. */
interface Known {
  period: number
  since: number | null
  baseline: DriftBaseline
  blocks: string | null
  watched: WatchedDrift
}

/** `now` compares now. */
export class DriftWatch extends PeriodicTask {
  private known = new Map<string, Known>()

  constructor(private readonly parts: DriftWatchParts) {
    super(
      MINUTE_MS,
      () => this.look(),
      (err) => parts.log.warn({ err }, 'the drift could not be computed, will retry'),
    )
  }

  /** The comparisons of the last look; none on a node that is not the leader. */
  get watched(): WatchedDrift[] {
    return [...this.known.values()].map(({ watched }) => watched)
  }

  private async look(): Promise<void> {
    const { leaderLease, store, clock } = this.parts
    if (!leaderLease.current()) {
      this.known = new Map()
      return
    }
    const now = clock.now()
    const rows = (await store.read.statements(driftReader).newestOfAll()).filter(
      ({ at }) => at >= now - WEEK_MS,
    )
    const tenants = new Map((await store.read.tenants()).map((tenant) => [tenant.id, tenant]))
    const next = new Map<string, Known>()
    for (const row of rows) {
      const tenant = tenants.get(row.tenantId)!
      if (row.model !== this.parts.modelOf(tenant)) continue
      const name = `${row.tenantId} ${row.model}`
      const before = this.known.get(name)
      const known = await this.compare(row, tenant, before, now)
      next.set(name, known)
      this.logChanges(known.watched, before?.watched.alarms ?? [])
    }
    for (const [name, { watched }] of this.known) if (!next.has(name)) this.logEnd(watched, tenants)
    this.known = next
  }

  /** Logs that alarms have ended whose verifies are compared no more. */
  private logEnd(
    { tenantId, model, alarms }: WatchedDrift,
    tenants: ReadonlyMap<string, TenantRecord>,
  ): void {
    const tenant = tenants.get(tenantId)
    const isReplaced = tenant !== undefined && this.parts.modelOf(tenant) !== model
    for (const measure of alarms)
      this.parts.log.info(
        { tenant_id: tenantId, model, measure },
        isReplaced
          ? 'alarm of drift has ended: another model decides for the tenant'
          : 'alarm of drift has ended: no verification of the last seven days is left to compare',
      )
  }

  private async compare(
    row: DriftRecord,
    { name: tenantName, driftSince: since }: TenantRecord,
    before: Known | undefined,
    now: number,
  ): Promise<Known> {
    const { tenantId, model, blocks } = row
    const period = startOfPeriod(now)
    const isKnown = before?.period === period && before.since === since
    if (isKnown && before.blocks === blocks) return before
    const baseline = isKnown ? before.baseline : await this.baselineOf(row, since, now)
    const { comparisons, alarms } = baseline.report(blocksOf(row), now)
    return { period, since, baseline, blocks, watched: { tenantId, tenantName, model, comparisons, alarms } }
  }

  private async baselineOf(
    { tenantId, model }: DriftRecord,
    since: number | null,
    now: number,
  ): Promise<DriftBaseline> {
    const { store, calibrationOf } = this.parts
    const histories = await readHistories(store.read, tenantId, now)
    return new DriftBaseline(histories.get(model)?.periods ?? [], now, calibrationOf(model), since ?? 0)
  }

  private logChanges({ tenantId, model, alarms }: WatchedDrift, before: readonly Measure[]): void {
    const { log } = this.parts
    for (const measure of MEASURES) {
      if (alarms.includes(measure) === before.includes(measure)) continue
      const facts = { tenant_id: tenantId, model, measure }
      if (alarms.includes(measure))
        log.warn(facts, 'verifications differ from those of the month before; see countersign models drift')
      else log.info(facts, 'verifications are again like those of the month before')
    }
  }
}
