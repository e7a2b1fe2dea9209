/** The name under which people know a tenant. */
import type { TenantRecord } from '../storage/records.js'

/** @returns the company of the tenant's capture page, or the tenant's own name where none is set */
export function companyOf({ capturePage, name }: Pick<TenantRecord, 'capturePage' | 'name'>): string {
  const { company } = JSON.parse(capturePage ?? '{}') as { company?: string | null }
  return company ?? name
}
