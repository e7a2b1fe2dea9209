/** How many users a tenant may enroll in an environment, and the note of when each was last used. */
import type { SubjectRecord } from '../../storage/records.js'
import type { StoreTransaction } from '../../storage/store.js'

export type QuotaUser = Pick<SubjectRecord, 'tenantId' | 'blindIndex'>

export interface UserQuota {
  /** Counts a user who is being enrolled for the first time. @throws DomainError sandbox_quota_reached */
  add(tx: StoreTransaction, user: QuotaUser): Promise<void>
  /** Notes that a user was verified or enrolled again. */
  noteUse(tx: StoreTransaction, user: QuotaUser): Promise<void>
}

/** Production takes any number of users and notes no use. */
export const UNLIMITED_USERS: UserQuota = {
  add: async () => {},
  noteUse: async () => {},
}
