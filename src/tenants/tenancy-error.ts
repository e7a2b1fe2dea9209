/** The refusals of operations on tenants and their keys. */
import { CodedError } from '../lib/errors.js'
import type { TenantRecord } from '../storage/records.js'

/** An operation that is refused to an operator, at the command line or the dashboard. */
export class TenancyError extends CodedError<
  | 'invalid_tenant_name'
  | 'tenant_exists'
  | 'tenant_not_found'
  | 'production_key_not_issued'
  | 'production_key_already_revealed'
  | 'no_active_key'
  | 'key_exists'
  | 'too_many_keys'
  | 'tenant_suspended'
  | 'tenant_not_suspended'
  | 'tenant_deleted'
> {}

/** @throws TenancyError tenant_deleted */
export function assertLive({ name, deletedAt }: TenantRecord): void {
  if (deletedAt !== null)
    throw new TenancyError('tenant_deleted', `The tenant ${name} is deleted: only its audit log is left.`)
}

/** @throws TenancyError tenant_suspended */
export function assertNotSuspended({ name, suspendedAt }: TenantRecord): void {
  if (suspendedAt !== null)
    throw new TenancyError(
      'tenant_suspended',
      `The tenant ${name} is suspended: only the operator can act for it.`,
    )
}
