/** The SQL of the last uses of production users. */

import type { Connection } from '../connection.js'
import type { ActivityReader, ActivityWriter } from '../readers-and-writers/activity-store.js'
import type { ActivityRecord } from '../records.js'
import { ACTIVITY } from '../tables/index.js'

export function activityReader(database: Connection): ActivityReader {
  const sql = {
    one: database.prepare<[Buffer], ActivityRecord>(
      `SELECT ${ACTIVITY.fields} FROM user_activity WHERE lookup = ?`,
    ),
    unused: database.prepare<[string, number, number], ActivityRecord>(
      `SELECT ${ACTIVITY.fields} FROM user_activity
       WHERE tenant_id = ? AND notice_at IS NULL AND used_at <= ? ORDER BY used_at LIMIT ?`,
    ),
    noticed: database.prepare<[string, number, number], ActivityRecord>(
      `SELECT ${ACTIVITY.fields} FROM user_activity
       WHERE tenant_id = ? AND notice_at IS NOT NULL AND notice_at <= ? ORDER BY notice_at LIMIT ?`,
    ),
    since: database
      .prepare<[string], number>('SELECT since FROM retention_start WHERE tenant_id = ?')
      .pluck(),
  }
  return {
    activity: async (blindIndex) => sql.one.get(blindIndex),
    unusedUsers: async (tenantId, until, limit) => sql.unused.all(tenantId, until, limit),
    noticedUsers: async (tenantId, until, limit) => sql.noticed.all(tenantId, until, limit),
    retentionSince: async (tenantId) => (await sql.since.get(tenantId)) ?? null,
  }
}

export function activityWriter(database: Connection): ActivityWriter {
  const sql = {
    note: database.prepare(
      `INSERT INTO user_activity (lookup, tenant_id, sealed, used_at)
       VALUES (@blindIndex, @tenantId, @sealed, @usedAt)
       ON CONFLICT (lookup) DO UPDATE SET sealed = excluded.sealed, used_at = excluded.used_at, notice_at = NULL
       WHERE user_activity.used_at <= @unlessSince OR user_activity.notice_at IS NOT NULL`,
    ),
    setNotice: database.prepare('UPDATE user_activity SET notice_at = ? WHERE lookup = ?'),
    setSince: database.prepare(
      `INSERT INTO retention_start (tenant_id, since) VALUES (?, ?)
       ON CONFLICT (tenant_id) DO UPDATE SET since = excluded.since`,
    ),
    deleteSince: database.prepare('DELETE FROM retention_start WHERE tenant_id = ?'),
  }
  return {
    noteUserUse: async (use, unlessSince) => void sql.note.run({ ...use, unlessSince }),
    setNotice: async (blindIndex, at) => void sql.setNotice.run(at, blindIndex),
    setRetentionSince: async (tenantId, since) =>
      void (since === null ? sql.deleteSince.run(tenantId) : sql.setSince.run(tenantId, since)),
  }
}
