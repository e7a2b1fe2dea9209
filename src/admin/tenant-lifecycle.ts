/** Suspends, resumes and deletes tenants. */

import type { Actor, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import { prefixedId } from '../crypto/identifiers.js'
import type { Events } from '../events/events.js'
import type { Clock } from '../lib/clock.js'
import type { ErasureRecord, TenantRecord } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import { type Erased, NOTHING_ERASED } from '../storage/table.js'
import { assertLive, TenancyError } from '../tenants/tenancy-error.js'
import { accounts } from './accounts/account-statements.js'
import { erasedCounts } from './user-views.js'

/** Users erased in one transaction: other writers wait while it runs. */
const BATCH = 200

/** Counts of everything that was erased with a tenant. The audit log has the same counts. */
export interface TenantErasure extends Pick<ErasureRecord, 'erasureId' | 'erasedAt'>, Erased {
  users: number
}

export class TenantLifecycle {
  constructor(
    private readonly audited: AuditedUnitOfWork,
    private readonly store: Store,
    private readonly events: Events,
    private readonly clock: Clock,
  ) {}

  /**
   * Suspends the tenant: its keys get 403 tenant_suspended, and its dashboard sessions and unused login links are deleted. News for
   * it wait. Everything else is kept. @throws TenancyError tenant_suspended, tenant_deleted
   */
  suspend({ id }: TenantRecord, actor: Actor): Promise<TenantRecord> {
    return this.audited.run(id, actor, async (tx) => {
      const { name, suspendedAt } = await live(tx, id)
      if (suspendedAt !== null)
        throw new TenancyError('tenant_suspended', `The tenant ${name} is suspended already.`)
      await tx.setSuspended(id, this.clock.now())
      const ended = await accounts(tx).deleteTenantSignIns(id)
      return { result: await live(tx, id), facts: { event: 'tenant_suspended', ...ended } }
    })
  }

  /** Resumes the tenant, and sends it the news that have waited. @throws TenancyError tenant_not_suspended, tenant_deleted */
  resume({ id }: TenantRecord, actor: Actor): Promise<TenantRecord> {
    return this.audited.run(id, actor, async (tx) => {
      const { name, suspendedAt } = await live(tx, id)
      if (suspendedAt === null)
        throw new TenancyError('tenant_not_suspended', `The tenant ${name} is not suspended.`)
      await tx.setSuspended(id, null)
      await this.events.onResume(tx, id)
      return { result: await live(tx, id), facts: { event: 'tenant_resumed' } }
    })
  }

  /**
   * Erases every user, key and secret; the audit log stays. The tenant is suspended first, so that no call begins meanwhile. After a
   * crash the same call goes on, and its receipt counts the rest.
   * @throws TenancyError tenant_deleted
   */
  async delete(tenant: TenantRecord, actor: Actor): Promise<TenantErasure> {
    const { id } = tenant
    if (tenant.suspendedAt === null) await this.suspend(tenant, actor)
    const erased = { users: 0, ...NOTHING_ERASED }
    let isMore = true
    while (isMore)
      isMore = await this.store.transaction({ tenantId: id }, (tx) => eraseSome(tx, id, erased, BATCH))
    return this.audited.run(id, actor, async (tx) => {
      await live(tx, id)
      // Users that calls in flight have enrolled since.
      await eraseSome(tx, id, erased, Number.MAX_SAFE_INTEGER)
      const erasedAt = this.clock.now()
      const receipt = { erasureId: prefixedId('era', erasedAt), erasedAt, ...erased }
      await tx.closeTenant(id, erasedAt)
      const facts = { users: erased.users, ...erasedCounts(erased) }
      return { result: receipt, facts: { event: 'tenant_deleted', erasure_id: receipt.erasureId, ...facts } }
    })
  }
}

/** @returns whether there may be more users to erase */
async function eraseSome(
  tx: StoreTransaction,
  tenantId: string,
  erased: Erased & { users: number },
  limit: number,
): Promise<boolean> {
  const blindIndexes = await tx.blindIndexesOf(tenantId, limit)
  for (const blindIndex of blindIndexes) {
    const counts = await tx.eraseSubject(blindIndex)
    erased.users++
    for (const held of Object.keys(counts) as Array<keyof Erased>) erased[held] += counts[held]
  }
  return blindIndexes.length === limit
}

/** @throws TenancyError tenant_deleted */
async function live(tx: StoreTransaction, id: string): Promise<TenantRecord> {
  const tenant = (await tx.tenantById(id))!
  assertLive(tenant)
  return tenant
}
