/**
 * Advances the change of the model pack once a minute, as the leader: moves decisions whose time has come, and deletes templates of the
 * model that goes. Each user has a transaction of its own, so that a sweep that was killed goes on where it ended.
 */
import type { Actor, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import { type Clock, MINUTE_MS } from '../lib/clock.js'
import type { ModelMigrationRecord } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { MigrationStatus, ModelOperations } from './model-operations.js'

const SCHEDULE: Actor = { name: 'schedule', requestId: null }
const USERS_AT_ONCE = 50
/** How long calls that began before the end may go on and write a template of the model that goes. */
const CALLS_END_MS = MINUTE_MS

/** Coverage is counted again after a thousand times as long as the last count took: SQLite serves no call meanwhile. */
const REST_PER_COUNT = 1000

export interface Swept {
  /** References whose content is now that of the model that stays. */
  moved: number
  /** References without a template of the model that stays, whose embedding was deleted: their users are asked to enroll. */
  emptied: number
  /** Templates next to references that were deleted. */
  deleted: number
}

export class ModelSweep {
  private counted: { startedAt: number; nextAt: number; status: MigrationStatus } | null = null

  constructor(
    private readonly parts: {
      store: Pick<Store, 'read' | 'transaction'>
      audited: AuditedUnitOfWork
      models: ModelOperations
      vault: TemplateVault
      clock: Clock
    },
  ) {}

  /** How far the change that is under way was when `advance` last counted it; null for none, and while it finishes. */
  get progress(): MigrationStatus | null {
    return this.counted?.status ?? null
  }

  /** Does what is due now. @param isOn called before each transaction; stops when it returns false */
  async advance(isOn: () => boolean): Promise<void> {
    const migration = await this.parts.store.read.modelMigration()
    const isRunning = migration !== undefined && migration.finishingAt === null
    if (!isRunning) this.counted = null
    if (!migration || !isOn()) return
    if (!isRunning) await this.sweep(migration, isOn)
    else {
      await this.parts.models.adoptTenants(SCHEDULE)
      await this.count(migration)
      await this.moveDecisions(migration, isOn)
    }
  }

  private async count({ startedAt }: ModelMigrationRecord): Promise<void> {
    const { models, clock } = this.parts
    if (this.counted?.startedAt === startedAt && clock.now() < this.counted.nextAt) return
    const begunAt = performance.now()
    const status = await models.status()
    const tookMs = performance.now() - begunAt
    this.counted = { startedAt, nextAt: clock.now() + REST_PER_COUNT * tookMs, status }
  }

  /** Moves the decision of tenants whose coverage was reached at the last count, or of all when the time has come. */
  private async moveDecisions(migration: ModelMigrationRecord, isOn: () => boolean): Promise<void> {
    const { models, store, clock } = this.parts
    const { atCoverage, atTime, to } = migration
    const isTime = atTime !== null && clock.now() >= atTime
    if (!isTime && atCoverage === null) return
    for (const { tenant, deciding, users, covered } of this.counted!.status.tenants) {
      const isDue = isTime || (users > 0 && covered >= atCoverage! * users)
      if (!isDue || deciding === to || !isOn()) continue
      const record = await store.read.tenantById(tenant.id)
      if (record) await models.decide(record, SCHEDULE, 'to', { isForced: true })
    }
  }

  /**
   * Deletes the templates of `from`, and ends the change once none is left.
   * @returns what was done; the change has ended where it is null afterwards
   */
  async sweep(migration: ModelMigrationRecord, isOn: () => boolean = () => true): Promise<Swept> {
    const { store, audited, clock } = this.parts
    const swept: Swept = { moved: 0, emptied: 0, deleted: 0 }
    for (let after = ''; ; ) {
      const page = await store.read.referencesMadeBy(migration.from, after, USERS_AT_ONCE)
      if (page.length === 0) break
      for (const { blindIndex, tenantId, referenceId } of page) {
        if (!isOn()) return swept
        const done = await store.transaction(
          { tenantId, serializationKey: blindIndex.toString('latin1') },
          (tx) => this.sweepUser(tx, blindIndex, migration),
        )
        if (done) swept[done]++
        after = referenceId
      }
    }
    for (let deleted = -1; deleted !== 0 && isOn(); swept.deleted += deleted)
      deleted = await store.transaction('rows', async (tx) =>
        (await isEnding(tx, migration)) ? tx.deleteFollowingReferences(migration.from) : 0,
      )
    const isQuiet = clock.now() - migration.finishingAt! >= CALLS_END_MS
    if (isQuiet && isOn())
      await audited.runForAll(SCHEDULE, async (tx) => {
        if (!(await isEnding(tx, migration))) return { result: undefined, facts: null }
        await tx.putModelMigration(null)
        const { from, to } = migration
        return {
          result: undefined,
          facts: { event: 'models_changed', change: 'finished', from, to, ...swept },
        }
      })
    return swept
  }

  private async sweepUser(
    tx: StoreTransaction,
    blindIndex: Buffer,
    migration: ModelMigrationRecord,
  ): Promise<'moved' | 'emptied' | null> {
    const { from, to } = migration
    const { vault } = this.parts
    const [found, isDue] = await Promise.all([tx.subject(blindIndex), isEnding(tx, migration)])
    if (!isDue || found?.reference?.model !== from) return null
    const { reference, following } = found
    const user = { record: found.subject, dataKey: vault.dataKey(found.subject) }
    const template = following.find(({ model }) => model === to)
    if (template) {
      const { consent } = vault.describeReference(user, reference)
      const content = { ...vault.openReference(user, template), consent }
      const sealed = vault.sealAs(user, reference, content)
      await tx.replaceTemplate({ id: reference.id, model: to, sealed })
      return 'moved'
    }
    if (vault.isDropped(user, reference)) return null
    await tx.replaceTemplate({ id: reference.id, model: from, sealed: vault.sealAs(user, reference, null) })
    return 'emptied'
  }
}

/** False once another sweep has ended the change: by then the next change may add templates of the same pack. */
async function isEnding(tx: StoreTransaction, { startedAt }: ModelMigrationRecord): Promise<boolean> {
  const current = await tx.modelMigration()
  return current?.startedAt === startedAt && current.finishingAt !== null
}
