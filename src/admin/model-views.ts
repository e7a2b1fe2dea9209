/** How the command line and the dashboard show a change of the model pack. */
import { optionalTime } from '../lib/clock.js'
import { wire } from '../lib/wire.js'
import type { ModelMigrationRecord } from '../storage/records.js'
import type { MigrationStatus, TenantProgress } from './model-operations.js'

export type MigrationView = ReturnType<typeof migrationView>

export function migrationView(migration: ModelMigrationRecord) {
  return {
    ...wire(migration, 'from', 'to', 'startedAt', 'strictFmr', 'atCoverage'),
    at_date: optionalTime(migration.atTime),
    is_finishing: migration.finishingAt !== null,
  }
}

export function statusView({ migration, tenants }: MigrationStatus) {
  return { migration: migrationView(migration), tenants: tenants.map(progressView) }
}

export function progressView({ tenant, ...progress }: TenantProgress) {
  const { users, covered } = progress
  return {
    tenant_id: tenant.id,
    name: tenant.name,
    ...wire(progress, 'deciding', 'users', 'covered', 'recent'),
    coverage: users > 0 ? covered / users : null,
    ...wire(progress, 'expectedAt'),
  }
}
