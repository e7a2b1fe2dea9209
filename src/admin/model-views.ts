/** How the command line and the dashboard show a change of the model pack. */
import { isoTime, optionalTime } from '../lib/clock.js'
import type { ModelMigrationRecord } from '../storage/records.js'
import type { MigrationStatus, TenantProgress } from './model-operations.js'

export type MigrationView = ReturnType<typeof migrationView>
export type ProgressView = ReturnType<typeof progressView>

export function migrationView({
  from,
  to,
  startedAt,
  strictFmr,
  atCoverage,
  atTime,
  finishingAt,
}: ModelMigrationRecord) {
  return {
    from,
    to,
    started_at: isoTime(startedAt),
    strict_fmr: strictFmr,
    at_coverage: atCoverage,
    at_date: optionalTime(atTime),
    is_finishing: finishingAt !== null,
  }
}

export function statusView({ migration, tenants }: MigrationStatus) {
  return { migration: migrationView(migration), tenants: tenants.map(progressView) }
}

export function progressView({ tenant, deciding, users, covered, recent, expectedAt }: TenantProgress) {
  return {
    tenant_id: tenant.id,
    name: tenant.name,
    deciding,
    users,
    covered,
    recent,
    coverage: users > 0 ? covered / users : null,
    expected_at: optionalTime(expectedAt),
  }
}
