/** The sandbox's quota of users: a tenant may try with a limited number of them, and `RetentionJob` erases those that nobody uses. */

import { type Clock, DAY_MS } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import type { StoreTransaction } from '../../storage/store.js'
import type { QuotaUser, UserQuota } from './user-quota.js'

/** Shortest time between two notes of one user's use: a note is a write, and retention counts in days. */
const NOTE_INTERVAL_MS = DAY_MS

export class SandboxUsers implements UserQuota {
  constructor(
    private readonly clock: Clock,
    /** Number of users that a tenant may have enrolled in the sandbox. */
    private readonly maxUsers: number,
  ) {}

  /**
   * Notes a user who is being enrolled. The count reads at most `maxUsers` entries of an index.
   * @throws DomainError sandbox_quota_reached
   */
  async add(tx: StoreTransaction, { tenantId, blindIndex }: QuotaUser): Promise<void> {
    if ((await tx.countSandboxUsers(tenantId, this.maxUsers)) >= this.maxUsers)
      throw new DomainError('sandbox_quota_reached')
    await tx.noteSandboxUse({ blindIndex, tenantId, at: this.clock.now(), unlessSince: 0 })
  }

  async noteUse(tx: StoreTransaction, { tenantId, blindIndex }: QuotaUser): Promise<void> {
    const at = this.clock.now()
    await tx.noteSandboxUse({ blindIndex, tenantId, at, unlessSince: at - NOTE_INTERVAL_MS })
  }
}
