/** Users of the sandbox, who are a tenant's to try with: there are only so many of them, and those that nobody uses go. */

import type { Environment } from '../config/config.js'
import { type Clock, DAY_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { StoreTransaction } from '../storage/store.js'

/** A user's last use is written at most once in this time. */
const USE_NOTED_MS = DAY_MS

export interface Sandboxed {
  tenantId: string
  environment: Environment
  blindIndex: Buffer
}

export class SandboxUsers {
  constructor(
    private readonly clock: Clock,
    /** How many users a tenant may have enrolled in the sandbox. */
    private readonly mostUsers: number,
  ) {}

  /**
   * Notes a user who is being enrolled. The count reads at most as many entries of an index as there may be users.
   * @throws DomainError sandbox_quota_reached
   */
  async add(tx: StoreTransaction, { tenantId, environment, blindIndex }: Sandboxed): Promise<void> {
    if (environment !== 'sandbox') return
    if ((await tx.countSandboxUsers(tenantId, this.mostUsers)) >= this.mostUsers)
      throw new DomainError('sandbox_quota_reached')
    await tx.noteSandboxUse({ blindIndex, tenantId, at: this.clock.now(), unlessSince: 0 })
  }

  /** Notes that a user was verified. */
  async noteUse(tx: StoreTransaction, { tenantId, environment, blindIndex }: Sandboxed): Promise<void> {
    if (environment !== 'sandbox') return
    const at = this.clock.now()
    await tx.noteSandboxUse({ blindIndex, tenantId, at, unlessSince: at - USE_NOTED_MS })
  }
}
