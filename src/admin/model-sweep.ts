/**
 * Advances the change of the model pack once a minute, as the leader: moves decisions whose time has come, and deletes templates of the
 * model that goes. Each user has a transaction of its own, so that a sweep that was killed goes on where it ended.
 */
import type { Actor, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import { type Clock, MINUTE_MS } from '../lib/clock.js'
import type { ModelMigrationRecord } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { ModelOperations } from './model-operations.js'

/** Name of the actor in audit entries. */
const SCHEDULE: Actor = { name: 'schedule', requestId: null }
const USERS_AT_ONCE = 50
/** How long calls that began before the end may go on and write a template of the model that goes. */
const CALLS_END_MS = MINUTE_MS

export interface Swept {
  /** References whose content is now that of the model that stays. */
  moved: number
  /** References without a template of the model that stays, whose embedding was deleted: their users are asked to enroll. */
  emptied: number
  /** Templates next to references that were deleted. */
  deleted: number
}

export interface ModelSweepParts {
  store: Pick<Store, 'read' | 'transaction'>
  audited: AuditedUnitOfWork
  models: ModelOperations
  vault: TemplateVault
  clock: Clock
}

export class ModelSweep {
  constructor(private readonly parts: ModelSweepParts) {}

  /** Does what is due now. @param isOn called before each transaction; stops when it returns false */
  async advance(isOn: () => boolean): Promise<void> {
    const migration = await this.parts.store.read.modelMigration()
    if (!migration || !isOn()) return
    if (migration.finishingAt !== null) await this.sweep(migration, isOn)
    else await this.moveDecisions(migration, isOn)
  }

  /** Moves the decision of tenants whose coverage is reached, or of all when the time has come. */
  private async moveDecisions(migration: ModelMigrationRecord, isOn: () => boolean): Promise<void> {
    const { models, store, clock } = this.parts
    const { atCoverage, atTime, to } = migration
    await models.adoptTenants(SCHEDULE)
    const isTime = atTime !== null && clock.now() >= atTime
    if (!isTime && atCoverage === null) return
    const { tenants } = await models.status()
    for (const { tenant, deciding, users, covered } of tenants) {
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
    let after = ''
    for (
      let page = await this.page(migration, after);
      page.length > 0;
      page = await this.page(migration, after)
    )
      for (const { blindIndex, tenantId, referenceId } of page) {
        if (!isOn()) return swept
        const done = await store.transaction(
          { tenantId, serializationKey: blindIndex.toString('latin1') },
          (tx) => this.sweepUser(tx, blindIndex, migration),
        )
        if (done) swept[done]++
        after = referenceId
      }
    for (let deleted = -1; deleted !== 0 && isOn(); swept.deleted += deleted)
      deleted = await store.transaction('rows', (tx) => tx.deleteFollowingReferences(migration.from))
    const isQuiet = clock.now() - migration.finishingAt! >= CALLS_END_MS
    if (isQuiet && isOn())
      await audited.runForAll(SCHEDULE, async (tx) => {
        await tx.putModelMigration(null)
        const { from, to } = migration
        return {
          result: undefined,
          facts: { event: 'models_changed', change: 'finished', from, to, ...swept },
        }
      })
    return swept
  }

  private page({ from }: ModelMigrationRecord, after: string) {
    return this.parts.store.read.referencesMadeBy(from, after, USERS_AT_ONCE)
  }

  private async sweepUser(
    tx: StoreTransaction,
    blindIndex: Buffer,
    { from, to }: ModelMigrationRecord,
  ): Promise<'moved' | 'emptied' | null> {
    const { vault } = this.parts
    const found = await tx.subject(blindIndex)
    if (found?.reference?.model !== from) return null
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
