/** Reading and writing when production users were last used, for policies that erase users that nobody uses. */
import type { ActivityRecord } from '../records.js'

export interface ActivityReader {
  activity(blindIndex: Buffer): Promise<ActivityRecord | undefined>
  /** Users without a notice who were last used at `until` or before, the longest unused first. */
  unusedUsers(tenantId: string, until: number, limit: number): Promise<ActivityRecord[]>
  /** Users whose erasure was announced at `until` or before, the earliest first. */
  noticedUsers(tenantId: string, until: number, limit: number): Promise<ActivityRecord[]>
  /** Since when the tenant's policy erases users without interruption; null where it does not. */
  retentionSince(tenantId: string): Promise<number | null>
}

export interface ActivityWriter {
  /** Notes a use, unless one after `unlessSince` is stored. A use ends a notice in any case. */
  noteUserUse(use: Omit<ActivityRecord, 'noticeAt'>, unlessSince: number): Promise<void>
  /** @param at null to take a notice back */
  setNotice(blindIndex: Buffer, at: number | null): Promise<void>
  /** @param since null where the policy does not erase users */
  setRetentionSince(tenantId: string, since: number | null): Promise<void>
}
