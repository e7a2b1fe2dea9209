/** Prometheus metrics of a change of the model pack, while one is under way. */
import type { Registry } from 'prom-client'
import type { MigrationStatus } from '../../admin/model-operations.js'
import { gaugesOf } from './gauges.js'

/** Label of all tenants together. No tenant can have this name: theirs begin with a letter or digit. */
const ALL = '_all'

/** @param limit number of tenants with series of their own: those with most users */
export function watchModelMigration(
  registry: Registry,
  progress: () => MigrationStatus | null,
  limit: number,
): void {
  const gauge = gaugesOf(registry)
  gauge(
    'countersign_model_migration_coverage',
    "Share of a tenant's users who have a template of the new model pack, 0 to 1; only while the pack is being changed. Tenant _all is all users.",
    () => {
      const { tenants = [] } = progress() ?? {}
      const enrolled = tenants.filter(({ users }) => users > 0).toSorted((a, b) => b.users - a.users)
      if (enrolled.length === 0) return []
      const sum = (count: 'users' | 'covered') => enrolled.reduce((all, one) => all + one[count], 0)
      return [
        ...enrolled
          .slice(0, limit)
          .map(({ tenant, users, covered }) => [{ tenant: tenant.name }, covered / users] as const),
        [{ tenant: ALL }, sum('covered') / sum('users')],
      ]
    },
    ['tenant'],
  )
  gauge(
    'countersign_model_migration_tenants',
    'Tenants by the model pack that decides for them; only while the pack is being changed.',
    () => {
      const { migration, tenants } = progress() ?? {}
      if (!migration || !tenants) return []
      const { from, to } = migration
      const decidedBy = (model: string) => tenants.filter(({ deciding }) => (deciding ?? from) === model)
      return [from, to].map((model) => [{ model }, decidedBy(model).length] as const)
    },
    ['model'],
  )
}
