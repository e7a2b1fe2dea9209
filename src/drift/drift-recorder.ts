/**
 * Counts the verifies of each tenant in production, and adds them to the database a few times a minute. A verify costs the increment of
 * four numbers in memory. Several services add to the same rows.
 */
import type { Logger } from 'pino'
import { type Clock, SECOND_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'
import type { TenantRecord } from '../storage/records.js'
import { type Store, StoreUnavailableError } from '../storage/store.js'
import { addDriftCounts, type CountedRequest, countVerify, isCounted, noDriftCounts } from './drift-counts.js'
import { type CountedPeriod, startOfPeriod } from './drift-report.js'
import { addToRows } from './drift-rows.js'

/** Milliseconds between two saves: a process that is killed loses the counts of at most this time. */
const SAVE_MS = 15 * SECOND_MS
/** Tenants whose counts are written at the same time: few, so that no request waits long behind them. */
const SAVED_AT_ONCE = 16

/** Verifies that are not in the database yet: by model, then by the start of their period. Refused pictures have no model yet. */
type Unsaved = Map<string | null, Map<number, CountedPeriod>>

export interface DriftRecorderParts {
  store: Pick<Store, 'transaction'>
  clock: Clock
  log: Logger
  /** Id of the model that decides for a tenant: pictures that were refused count as judged by it. */
  modelOf: (tenant: TenantRecord) => string
}

export class DriftRecorder {
  private readonly unsaved = new Map<string, Unsaved>()
  private readonly task = new PeriodicTask(
    SAVE_MS,
    () => this.saveAll(),
    (err) => this.parts.log.warn({ err }, 'the latest verifies could not be counted'),
  )

  constructor(private readonly parts: DriftRecorderParts) {}

  start(): void {
    this.task.start()
  }

  /** Saves what is left. Call it before the store is closed. */
  async stop(): Promise<void> {
    await this.task.stop()
    await this.save()
  }

  readonly observe = (request: CountedRequest & { model?: string }): void => {
    const { tenantId, model = null } = request
    if (tenantId === undefined || !isCounted(request)) return
    const at = this.parts.clock.now()
    countVerify(this.countsOf(tenantId, model, { at, counts: noDriftCounts() }).counts, request)
  }

  /** Saves what is not in the database yet. Never rejects: counts that cannot be written stay for the next save. */
  save(): Promise<void> {
    return this.task.now()
  }

  private async saveAll(): Promise<void> {
    const tenantIds = [...this.unsaved.keys()]
    while (tenantIds.length > 0) {
      const saved = await Promise.all(
        tenantIds.splice(0, SAVED_AT_ONCE).map((tenantId) => this.saveTenant(tenantId)),
      )
      // The next tenants would wait for the same lock or disk, and so would a stop of the service.
      if (saved.includes(false)) return
    }
  }

  /** @returns false while the database cannot be written */
  private async saveTenant(tenantId: string): Promise<boolean> {
    const models = this.unsaved.get(tenantId)!
    this.unsaved.delete(tenantId)
    try {
      await this.parts.store.transaction({ tenantId }, async (tx) => {
        const tenant = await tx.tenantById(tenantId)
        // The rows of a deleted tenant are deleted with it.
        if (tenant?.deletedAt !== null) return
        for (const [named, periods] of models) {
          const model = named ?? this.parts.modelOf(tenant)
          await addToRows(tx, { tenantId, model }, [...periods.values()])
        }
      })
    } catch (error) {
      // Any other error would come again with each save.
      if (!(error instanceof StoreUnavailableError)) throw error
      for (const [model, periods] of models)
        for (const period of periods.values())
          addDriftCounts(
            this.countsOf(tenantId, model, { at: period.at, counts: noDriftCounts() }).counts,
            period.counts,
          )
      return false
    }
    return true
  }

  /** The unsaved counts of a period, which begin as those given. */
  private countsOf(tenantId: string, model: string | null, fresh: CountedPeriod): CountedPeriod {
    const models = this.unsaved.get(tenantId) ?? new Map<string | null, Map<number, CountedPeriod>>()
    this.unsaved.set(tenantId, models)
    const periods = models.get(model) ?? new Map<number, CountedPeriod>()
    models.set(model, periods)
    const start = startOfPeriod(fresh.at)
    const known = periods.get(start) ?? fresh
    periods.set(start, known)
    return known
  }
}
