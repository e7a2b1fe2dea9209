/** Operations on the change from one model pack to another: begin, move the decision, move it back, finish, and how far it is. */
import type { Actor, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import { type Clock, DAY_MS, HOUR_MS } from '../lib/clock.js'
import { CodedError } from '../lib/errors.js'
import { wire } from '../lib/wire.js'
import type { ModelCoverage, ModelMigrationRecord, TenantRecord } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import { type TenantModels, tenantModels, tenantModelsJson } from '../tenants/tenant-models.js'

/** HTTP status where the dashboard answers these errors, by code. */
export const MODEL_OPERATION_ERRORS = {
  no_model_migration: 409,
  model_migration_under_way: 409,
  model_pack_not_served: 409,
  model_coverage_too_low: 409,
  model_decisions_differ: 409,
  services_outdated: 409,
}

export class ModelOperationError extends CodedError<keyof typeof MODEL_OPERATION_ERRORS> {}

/** Share of a tenant's users with a template of the new model, below which the decision moves by force only. */
export const ENOUGH_COVERAGE = 0.95

export type MigrationConditions = Pick<ModelMigrationRecord, 'atCoverage' | 'atTime'>

export type MigrationStatus = Awaited<ReturnType<ModelOperations['status']>>
/** How far a tenant is. */
export type TenantProgress = MigrationStatus['tenants'][number]

type Served = Pick<Store, 'read' | 'services' | 'schema'>

export class ModelOperations {
  constructor(
    private readonly audited: AuditedUnitOfWork,
    private readonly store: Served,
    private readonly clock: Clock,
  ) {}

  /**
   * Begins a change: from now on enrollments keep templates of both models, and strong verifies add those of the new one.
   * @throws ModelOperationError model_migration_under_way, model_pack_not_served, services_outdated
   */
  async begin(
    actor: Actor,
    given: Pick<ModelMigrationRecord, 'from' | 'to' | 'strictFmr'> & MigrationConditions,
  ): Promise<ModelMigrationRecord> {
    await this.assertServed([given.from, given.to])
    const { from, to, strictFmr } = given
    return this.audited.runForAll(actor, async (tx) => {
      if (await tx.modelMigration())
        throw new ModelOperationError(
          'model_migration_under_way',
          'A change of the model pack is under way. Finish it first.',
        )
      const migration = { ...given, startedAt: this.clock.now(), finishingAt: null }
      await tx.putModelMigration(migration)
      // A tenant whose users were moved before, in a change that was taken back for others, stays with the new model.
      await this.setAll(tx, (tenant) =>
        tenantModels(tenant)?.deciding === to
          ? { deciding: to, following: from, strictFmr }
          : { deciding: from, following: to, strictFmr },
      )
      return changed('begun', migration)
    })
  }

  /** Sets when the decision moves automatically. @throws ModelOperationError no_model_migration */
  setConditions(actor: Actor, conditions: MigrationConditions): Promise<ModelMigrationRecord> {
    return this.audited.runForAll(actor, async (tx) => {
      const migration = { ...(await underWay(tx)), ...conditions }
      await tx.putModelMigration(migration)
      return changed('planned', migration)
    })
  }

  /**
   * Moves the decision to the new model, or back to the old one, for one tenant or for all.
   * @param tenant null for all
   * @param isForced moves it also where few users have a template of that model: the others are asked to enroll
   * @returns the tenants whose decision has moved
   * @throws ModelOperationError no_model_migration, model_coverage_too_low, model_pack_not_served, services_outdated
   */
  async decide(
    tenant: TenantRecord | null,
    actor: Actor,
    by: 'from' | 'to',
    { isForced = false, leastCoverage = ENOUGH_COVERAGE } = {},
  ): Promise<TenantRecord[]> {
    const { migration, tenants } = await this.status(by)
    if (migration.finishingAt !== null) throw noMigration()
    const model = migration[by]
    await this.assertServed([model])
    const asked = tenants.filter((one) => tenant === null || one.tenant.id === tenant.id)
    const low = asked.filter(({ users, covered }) => covered < leastCoverage * users)
    if (low.length > 0 && !isForced) throw tooLow(model, low)
    const moved: TenantRecord[] = []
    for (const { tenant: one } of asked) {
      const record = await this.decideFor(one.id, actor, by)
      if (record) moved.push(record)
    }
    return moved
  }

  /** @returns null where the tenant's model decided already */
  private decideFor(tenantId: string, actor: Actor, by: 'from' | 'to'): Promise<TenantRecord | null> {
    return this.audited.run(tenantId, actor, async (tx) => {
      const migration = await underWay(tx)
      const before = tenantModels((await tx.tenantById(tenantId))!)
      const deciding = migration[by]
      if (before?.deciding === deciding) return { result: null, facts: null }
      const following = migration[by === 'to' ? 'from' : 'to']
      const { strictFmr } = migration
      await tx.setTenantModels(tenantId, tenantModelsJson({ deciding, following, strictFmr }))
      // Scores and refusals of another model are no drift.
      await tx.setDriftSince(tenantId, this.clock.now())
      const facts = { change: 'decision_moved', deciding, previous: before?.deciding ?? null }
      const result = (await tx.tenantById(tenantId))!
      return { result, facts: { event: 'models_changed', ...facts } }
    })
  }

  /**
   * Begins to delete the templates of the model that decides for no tenant. `ModelSweep` does the rest.
   * @param dropping the model whose templates the caller means; undefined for whichever decides for no tenant
   * @returns the change, whose `to` is the model that stays
   * @throws ModelOperationError no_model_migration, model_decisions_differ, model_pack_not_served, services_outdated
   */
  async finish(actor: Actor, dropping?: string): Promise<ModelMigrationRecord> {
    // A service without the pack that stays would enroll by the pack that goes, and lose those users.
    await this.assertServed(await modelsToServe(this.store.read))
    return this.audited.runForAll(actor, async (tx) => {
      const migration = await tx.modelMigration()
      if (!migration) throw noMigration()
      const tenants = await liveTenants(tx)
      // Without tenants nothing has moved, so the change ends as it was meant to.
      const [model, other] = tenants.length === 0 ? [migration.to] : decidingModels(tenants)
      if (other !== undefined || (model !== migration.from && model !== migration.to))
        throw decisionsDiffer(migration, tenants)
      const dropped = model === migration.to ? migration.from : migration.to
      if (dropping !== undefined && dropping !== dropped)
        throw new ModelOperationError(
          'model_decisions_differ',
          `The model ${model} decides, so that the templates of ${dropped} would be deleted, and not those of ${dropping}.`,
        )
      const finishingAt = migration.finishingAt ?? this.clock.now()
      const finishing = { ...migration, from: dropped, to: model, finishingAt }
      await tx.putModelMigration(finishing)
      await this.setAll(tx, () => ({ deciding: model, following: null, strictFmr: null }))
      return changed('finishing', finishing)
    })
  }

  /**
   * Counts how far every tenant is. Reads all references.
   * @param by the model whose templates are counted
   * @throws ModelOperationError no_model_migration
   */
  async status(by: 'from' | 'to' = 'to') {
    const { read } = this.store
    const migration = await read.modelMigration()
    if (!migration) throw noMigration()
    const now = this.clock.now()
    const since = Math.max(now - DAY_MS, migration.startedAt)
    const counts = new Map((await read.modelCoverage(migration[by], since)).map((one) => [one.tenantId, one]))
    const tenants = (await liveTenants(read)).map((tenant) => {
      const { users, covered, recent } = counts.get(tenant.id) ?? { users: 0, covered: 0, recent: 0 }
      return {
        tenant,
        /** Model that decides; null where it is that of the pack that serves. */
        deciding: tenantModels(tenant)?.deciding ?? null,
        /** Users who are enrolled in production. */
        users,
        /** Users with a template of the model. */
        covered,
        /** Templates that verifies and enrollments have added within a day. */
        recent,
        expectedAt: expectedEnd({ users, covered, recent }, migration, since, now),
      }
    })
    return { migration, tenants }
  }

  /** Gives models to tenants that a service of an earlier version has made meanwhile, by the model of most of their users. */
  async adoptTenants(actor: Actor): Promise<void> {
    const without = (await liveTenants(this.store.read)).filter(({ models }) => models === null)
    if (without.length === 0) return
    const [old, next] = await Promise.all([this.status('from'), this.status('to')])
    const covered = ({ tenants }: MigrationStatus, id: string) =>
      tenants.find(({ tenant }) => tenant.id === id)?.covered ?? 0
    for (const { id } of without)
      await this.decideFor(id, actor, covered(old, id) >= covered(next, id) ? 'from' : 'to')
  }

  private async setAll(
    tx: StoreTransaction,
    modelsOf: (tenant: TenantRecord) => TenantModels,
  ): Promise<void> {
    for (const tenant of await liveTenants(tx))
      await tx.setTenantModels(tenant.id, tenantModelsJson(modelsOf(tenant)))
  }

  /** Every service has to know the new tables, and to have loaded the packs. @throws ModelOperationError */
  private async assertServed(models: readonly string[]): Promise<void> {
    const services = await this.store.services()
    const behind = services.filter(({ schema }) => (schema ?? 0) < this.store.schema)
    if (behind.length > 0)
      throw new ModelOperationError(
        'services_outdated',
        `Nothing was changed, because services of an earlier version are running: ${behind.map(({ name }) => name).join(', ')}.`,
      )
    for (const { name, settings } of services) {
      const missing = settings && models.find((model) => !modelsServed(settings).includes(model))
      if (missing)
        throw new ModelOperationError(
          'model_pack_not_served',
          `Nothing was changed, because the service ${name} has not loaded the pack ${missing}.`,
        )
    }
  }
}

/** Model ids of the packs that a service has announced. */
function modelsServed(settings: Record<string, string>): string[] {
  const [primary = ''] = (settings.COUNTERSIGN_MODEL_PACK ?? '').split(' ')
  return [primary, ...(settings.COUNTERSIGN_FOLLOWING_PACKS ?? '').split(' ')]
}

/** @throws ModelOperationError no_model_migration */
async function underWay(tx: StoreTransaction): Promise<ModelMigrationRecord> {
  const migration = await tx.modelMigration()
  if (!migration || migration.finishingAt !== null) throw noMigration()
  return migration
}

async function liveTenants(read: Pick<Store['read'], 'tenants'>): Promise<TenantRecord[]> {
  return (await read.tenants()).filter(({ deletedAt }) => deletedAt === null)
}

/** Ids of the models that decide for the tenants; undefined among them where a tenant has none. */
function decidingModels(tenants: readonly TenantRecord[]): Array<string | undefined> {
  return [...new Set(tenants.map((one) => tenantModels(one)?.deciding))]
}

/** Ids of the models that every service must have loaded before templates are deleted. */
async function modelsToServe(read: Pick<Store['read'], 'tenants' | 'modelMigration'>): Promise<string[]> {
  const tenants = await liveTenants(read)
  if (tenants.length > 0) return decidingModels(tenants).filter((model) => model !== undefined)
  const migration = await read.modelMigration()
  return migration ? [migration.to] : []
}

/** When enough users are covered at the pace since a time; null for never, or where it is so already. */
function expectedEnd(
  { users, covered, recent }: Omit<ModelCoverage, 'tenantId'>,
  { atCoverage }: ModelMigrationRecord,
  since: number,
  now: number,
): number | null {
  const missing = Math.ceil((atCoverage ?? ENOUGH_COVERAGE) * users) - covered
  if (missing <= 0 || recent === 0) return null
  return now + Math.round((missing / recent) * Math.max(now - since, HOUR_MS))
}

/** The change as it is now, with its entry of the audit log. */
function changed(change: 'begun' | 'planned' | 'finishing', migration: ModelMigrationRecord) {
  const facts = wire(migration, 'from', 'to', 'strictFmr', 'atCoverage', 'atTime')
  return { result: migration, facts: { event: 'models_changed' as const, change, ...facts } }
}

function noMigration(): ModelOperationError {
  return new ModelOperationError('no_model_migration', 'No change of the model pack is under way.')
}

function tooLow(model: string, tenants: readonly TenantProgress[]): ModelOperationError {
  const some = tenants
    .slice(0, 5)
    .map(({ tenant, users, covered }) => `${tenant.name} ${covered} of ${users}`)
  return new ModelOperationError(
    'model_coverage_too_low',
    `Too few users have a template of ${model}: ${some.join(', ')}.`,
  )
}

/** Names the tenants of either model, five of each at most. */
function decisionsDiffer(
  { from, to }: ModelMigrationRecord,
  tenants: readonly TenantRecord[],
): ModelOperationError {
  const namesBy = (isAsked: (model: string | undefined) => boolean) =>
    tenants.filter((one) => isAsked(tenantModels(one)?.deciding)).map(({ name }) => name)
  const some = (names: string[]) =>
    names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ')
  const moved = namesBy((model) => model === to)
  const behind = namesBy((model) => model !== to)
  return new ModelOperationError(
    'model_decisions_differ',
    `Not every tenant decides by the same model: ${to} decides for ${some(moved) || 'no tenant'}, ${from} for ${some(behind)}.`,
  )
}
