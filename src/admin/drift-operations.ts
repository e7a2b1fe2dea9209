/** Restarts the reference that the verifies of a tenant are compared with, after a change that the operator knows of. */
import type { Actor, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import { type Clock, isoTime } from '../lib/clock.js'
import type { TenantRecord } from '../storage/records.js'

export class DriftOperations {
  constructor(
    private readonly audited: AuditedUnitOfWork,
    private readonly clock: Clock,
  ) {}

  /**
   * Compares from now on with verifies of now and later only. Earlier counts are kept and shown.
   * @param tenant null for all
   * @returns the time, in milliseconds since the Unix epoch
   */
  restart(tenant: TenantRecord | null, actor: Actor): Promise<number> {
    return this.audited.runFor(tenant?.id ?? null, actor, async (tx) => {
      const since = this.clock.now()
      const tenants = tenant ? [tenant] : await tx.tenants()
      for (const { id } of tenants) await tx.setDriftSince(id, since)
      return { result: since, facts: { event: 'drift_restarted', since: isoTime(since) } }
    })
  }
}
