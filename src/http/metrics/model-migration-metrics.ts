/** Prometheus metrics of a change of the model pack, while one is under way. */
import { Gauge, type Registry } from 'prom-client'
import type { MigrationStatus } from '../../admin/model-operations.js'

/** Label of all tenants together. No tenant can have this name: theirs begin with a letter or digit. */
const ALL = '_all'

/** @param limit number of tenants with series of their own: those with most users */
export function watchModelMigration(
  registry: Registry,
  progress: () => MigrationStatus | null,
  limit: number,
): void {
  const registers = [registry]
  new Gauge({
    name: 'countersign_model_migration_coverage',
    help: "Share of a tenant's users who have a template of the new model pack, 0 to 1; only while the pack is being changed. Tenant _all is all users.",
    labelNames: ['tenant'],
    registers,
    collect() {
      this.reset()
      const { tenants = [] } = progress() ?? {}
      const enrolled = tenants.filter(({ users }) => users > 0).toSorted((a, b) => b.users - a.users)
      for (const { tenant, users, covered } of enrolled.slice(0, limit))
        this.set({ tenant: tenant.name }, covered / users)
      const sum = (count: 'users' | 'covered') => enrolled.reduce((all, one) => all + one[count], 0)
      if (enrolled.length > 0) this.set({ tenant: ALL }, sum('covered') / sum('users'))
    },
  })
  new Gauge({
    name: 'countersign_model_migration_tenants',
    help: 'Tenants by the model pack that decides for them; only while the pack is being changed.',
    labelNames: ['model'],
    registers,
    collect() {
      this.reset()
      const status = progress()
      if (!status) return
      const { from, to } = status.migration
      for (const model of [from, to])
        this.set({ model }, status.tenants.filter(({ deciding }) => (deciding ?? from) === model).length)
    },
  })
}
