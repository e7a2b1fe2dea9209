/** How many users a tenant may enroll in an environment, and the note of when each was last used. */
import { type Clock, DAY_MS } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import type { SubjectRecord } from '../../storage/records.js'
import type { StoreTransaction } from '../../storage/store.js'

type QuotaUser = Pick<SubjectRecord, 'tenantId' | 'blindIndex'>

/** The calls that an enrollment and a verify make. */
export type UserQuota = Pick<SandboxUsers, keyof SandboxUsers>

/** Production takes any number of users and notes no use. */
export const UNLIMITED_USERS: UserQuota = {
  add: async () => {},
  noteUse: async () => {},
}

/** Shortest time between two notes of one user's use: a note is a write, and retention counts in days. */
const NOTE_INTERVAL_MS = DAY_MS

/** The sandbox's quota: a tenant may try with a limited number of users, and `RetentionJob` erases those that nobody uses. */
export class SandboxUsers {
  constructor(
    private readonly clock: Clock,
    /** Number of users that a tenant may have enrolled in the sandbox. */
    private readonly maxUsers: number,
  ) {}

  /**
   * Counts a user who is being enrolled for the first time. The count reads at most `maxUsers` entries of an index.
   * @throws DomainError sandbox_quota_reached
   */
  async add(tx: StoreTransaction, { tenantId, blindIndex }: QuotaUser): Promise<void> {
    if ((await tx.countSandboxUsers(tenantId, this.maxUsers)) >= this.maxUsers)
      throw new DomainError('sandbox_quota_reached')
    await tx.noteSandboxUse({ blindIndex, tenantId, at: this.clock.now(), unlessSince: 0 })
  }

  /** Notes that a user was verified or enrolled again. */
  async noteUse(tx: StoreTransaction, { tenantId, blindIndex }: QuotaUser): Promise<void> {
    const at = this.clock.now()
    await tx.noteSandboxUse({ blindIndex, tenantId, at, unlessSince: at - NOTE_INTERVAL_MS })
  }
}
