/** Restarts the reference that the verifies of a tenant are compared with, after a change that the operator knows of. */
import type { Operations } from '../../../admin/operations.js'
import type { Actor } from '../../../audit/audited-unit-of-work.js'
import { isoTime } from '../../../lib/clock.js'
import type { TenantRecord } from '../../../storage/records.js'

/**
 * Compares with verifies of this time and later only. Earlier counts are kept and shown.
 * @param tenant null for all
 * @param since milliseconds since the Unix epoch
 */
export function restartDrift(
  { audited }: Pick<Operations, 'audited'>,
  tenant: TenantRecord | null,
  actor: Actor,
  since: number,
): Promise<void> {
  return audited.runFor(tenant?.id ?? null, actor, async (tx) => {
    const tenants = tenant ? [tenant] : await tx.tenants()
    for (const { id } of tenants) await tx.setDriftSince(id, since)
    return { result: undefined, facts: { event: 'drift_restarted', since: isoTime(since) } }
  })
}
