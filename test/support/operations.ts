import { type Administration, administered } from '../../src/admin/administration.js'
import type { Core } from '../../src/admin/core.js'
import type { Service } from '../../src/app/service.js'
import type { TenantRecord } from '../../src/storage/records.js'

/** Issues and reveals the tenant's first production key. */
export function revealProductionKey(
  { store, tenancy }: Pick<Core, 'store' | 'tenancy'>,
  tenant: TenantRecord,
  now = Date.now(),
): Promise<string> {
  return store.transaction('installation', async (tx) => {
    await tx.setProductionIssued(tenant.id, now)
    return tenancy.revealProductionKey(tx, tenant)
  })
}

/** All operations on the installation of a service, as its command line has them. */
export function operationsOf({ core, clock }: Pick<Service, 'core' | 'clock'>): Administration {
  return administered(core, clock).operations
}
