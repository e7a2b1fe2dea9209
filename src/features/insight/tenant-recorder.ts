/**
 * Keeps what the service saw of its tenants in memory, and writes it to the database every few seconds, so that no answer waits for it. A
 * process that is killed loses the latest of it. Several services add to the same rows.
 */
import type { Logger } from 'pino'
import type { Clock } from '../../lib/clock.js'
import { PeriodicTask } from '../../lib/periodic-task.js'
import type { TenantRecord } from '../../storage/records.js'
import { type Store, type StoreTransaction, StoreUnavailableError } from '../../storage/store.js'

export interface RecorderParts {
  store: Pick<Store, 'transaction'>
  log: Logger
  clock: Clock
}

interface Saving {
  /** Milliseconds between two saves: a process that is killed loses at most what came within this time. */
  everyMs: number
  /** Says in the log that something was not saved. */
  failure: string
  /** Tenants that are written at the same time: few, so that no request waits long behind them. */
  tenantsAtOnce?: number
  /** Rows of a tenant in one transaction. */
  rowsAtOnce?: number
}

/** The rows of one tenant by a name that is the same for what is added up. */
export type Rows<Row, Name = string> = Map<Name, Row>

export abstract class TenantRecorder<Row, Name = string> extends PeriodicTask {
  /** Rows that are not in the database yet, by tenant. */
  protected readonly unsaved = new Map<string, Rows<Row, Name>>()

  constructor(
    private readonly recorder: RecorderParts,
    private readonly saving: Saving,
  ) {
    super(
      saving.everyMs,
      () => this.saveAll(),
      (error) => this.logFailure(error),
    )
  }

  /** Adds what could not be written to what came since. */
  protected abstract add(sum: Row, part: Row): void

  /** Writes rows of a tenant that is not deleted. It may run again where the transaction does. */
  protected abstract write(
    tx: StoreTransaction,
    tenant: TenantRecord,
    rows: ReadonlyMap<Name, Row>,
  ): Promise<void>

  /** Saves what is left. Call it before the store is closed. */
  override async stop(): Promise<void> {
    await super.stop()
    await this.save()
  }

  /** Saves what is not in the database yet. Never rejects: what cannot be written stays for the next save. */
  save(): Promise<void> {
    return this.now()
  }

  /** The unsaved row of this name, which begins as `fresh`. The caller adds to it before it awaits anything. */
  protected rowOf(tenantId: string, name: Name, fresh: () => Row): Row {
    const rows = this.unsaved.get(tenantId) ?? new Map<Name, Row>()
    this.unsaved.set(tenantId, rows)
    const row = rows.get(name) ?? fresh()
    rows.set(name, row)
    return row
  }

  protected async saveAll(): Promise<void> {
    const { tenantsAtOnce = 16 } = this.saving
    const tenantIds = [...this.unsaved.keys()]
    while (tenantIds.length > 0) {
      const some = tenantIds.splice(0, tenantsAtOnce)
      const saved = await Promise.all(some.map((tenantId) => this.saveTenant(tenantId)))
      // The next tenants would wait for the same lock or disk, and so would a stop of the service.
      if (saved.includes(false)) return
    }
  }

  /** @returns false while the database cannot be written */
  protected async saveTenant(tenantId: string): Promise<boolean> {
    const rows = this.unsaved.get(tenantId)!
    this.unsaved.delete(tenantId)
    const entries = [...rows]
    const { rowsAtOnce = entries.length } = this.saving
    while (entries.length > 0) {
      const some = new Map(entries.splice(0, rowsAtOnce))
      try {
        await this.recorder.store.transaction({ tenantId }, async (tx) => {
          const tenant = await tx.tenantById(tenantId)
          // The rows of a deleted tenant are deleted with it, but its old keys may still be tried.
          if (tenant?.deletedAt === null) await this.write(tx, tenant, some)
        })
      } catch (error) {
        this.logFailure(error, tenantId)
        // Any other error would come again with each save.
        if (error instanceof StoreUnavailableError) {
          this.takeBack(tenantId, [...some, ...entries])
          return false
        }
      }
    }
    return true
  }

  /** Keeps the order: newer counts are added to the older rows. */
  private takeBack(tenantId: string, older: Array<[Name, Row]>): void {
    const rows = new Map(older)
    for (const [name, row] of this.unsaved.get(tenantId) ?? []) {
      const known = rows.get(name)
      if (known) this.add(known, row)
      else rows.set(name, row)
    }
    this.unsaved.set(tenantId, rows)
  }

  private logFailure(err: unknown, tenantId?: string): void {
    this.recorder.log.warn({ err, tenant_id: tenantId }, this.saving.failure)
  }
}
