/**
 * Issue of the production key. A tenant begins in the sandbox; the first verify that its sandbox approves issues the key of
 * production. From then on the sandbox may no longer rotate the signing secret, which signs production's verdicts as well.
 */
import { DomainError } from '../../lib/domain-error.js'
import type { TenantRecord } from '../../storage/records.js'
import type { StoreReader, StoreTransaction } from '../../storage/store.js'

export const SANDBOX_KEY_ISSUE = {
  /**
   * Called with every verdict, inside its transaction. Writes no audit entry: sandbox calls write none, and the tenant's log begins when
   * the operator reveals the key.
   * @param tenant as it was when the request was authenticated
   * @param at milliseconds since the Unix epoch
   * @returns whether this verdict issued the production key
   */
  async onVerdict(
    tx: StoreTransaction,
    { id, productionIssuedAt }: TenantRecord,
    { approved, at }: { approved: boolean; at: number },
  ): Promise<boolean> {
    // A key that was issued stays issued, so that the tenant's record is read again only before that.
    if (!approved || productionIssuedAt !== null) return false
    const tenant = await tx.tenantById(id)
    if (tenant?.productionIssuedAt !== null) return false
    await tx.setProductionIssued(id, at)
    return true
  },
  /**
   * A leaked sandbox key must not yield the secret that signs production's verdicts.
   * @throws DomainError production_key_required where this environment may not rotate the tenant's signing secret
   */
  async assertMayRotate(store: StoreReader, tenantId: string): Promise<void> {
    const tenant = await store.tenantById(tenantId)
    if (tenant?.productionIssuedAt != null) throw new DomainError('production_key_required')
  },
}

export type ProductionKeyIssue = typeof SANDBOX_KEY_ISSUE

/** Production issues no key: its callers hold one. */
export const NO_KEY_ISSUE: ProductionKeyIssue = {
  onVerdict: async () => false,
  assertMayRotate: async () => {},
}
