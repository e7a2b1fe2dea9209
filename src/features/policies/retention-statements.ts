/** The statements on when production users were last used, and since when a policy erases those that nobody uses. */
import { type Connection, type ReadConnection, reading, writing } from '../../storage/connection.js'
import { ACTIVITY, type ActivityRecord } from '../../storage/tables/users.js'
import { RETENTION_START } from './policy-table.js'

export function retentionReader(database: ReadConnection) {
  const { row, from } = reading(database)
  const users = from(ACTIVITY)
  const since = row<[string], { since: number }>('SELECT since FROM retention_start WHERE tenant_id = ?')
  return {
    /** Since when the tenant's policy erases users without interruption; null where it does not. */
    since: async (tenantId: string) => (await since(tenantId))?.since ?? null,
    /** Users without a notice who were last used at `until` or before, the longest unused first. */
    unused: users.rows<[tenantId: string, until: number, limit: number]>(
      'WHERE tenant_id = ? AND notice_at IS NULL AND used_at <= ? ORDER BY used_at LIMIT ?',
    ),
    /** Users whose erasure was announced at `until` or before, the earliest first. */
    noticed: users.rows<[tenantId: string, until: number, limit: number]>(
      'WHERE tenant_id = ? AND notice_at IS NOT NULL AND notice_at <= ? ORDER BY notice_at LIMIT ?',
    ),
  }
}

export function retentionWriter(database: Connection) {
  const { run, put } = writing(database)
  return {
    setSince: put(RETENTION_START),
    deleteSince: run<[tenantId: string]>('DELETE FROM retention_start WHERE tenant_id = ?'),
    /** Notes a use, unless one after `unlessSince` is stored. A use ends a notice in any case. */
    noteUse: run<[use: Omit<ActivityRecord, 'noticeAt'> & { unlessSince: number }]>(
      `INSERT INTO user_activity (lookup, tenant_id, sealed, used_at)
       VALUES (@blindIndex, @tenantId, @sealed, @usedAt)
       ON CONFLICT (lookup) DO UPDATE SET sealed = excluded.sealed, used_at = excluded.used_at, notice_at = NULL
       WHERE user_activity.used_at <= @unlessSince OR user_activity.notice_at IS NOT NULL`,
    ),
    /** @param at null to take a notice back */
    setNotice: run<[at: number | null, blindIndex: Buffer]>(
      'UPDATE user_activity SET notice_at = ? WHERE lookup = ?',
    ),
  }
}
