/** What a load leaves in its database, and sends to its disk and its standbys. */

/**
 * Bytes of a row with its indexes, freshly vacuumed: of 100,000 rows each on PostgreSQL 15, with reference and captures of 128
 * dimensions in float32. `verify` is there for a day (capture and kept response), the audit entry for good.
 */
export const ROW_BYTES = { user: 1871, verify: 3068, auditEntry: 699 } as const
/** Of the write-ahead log, full pages after checkpoints included. */
export const LOG_BYTES_PER_VERIFY = 5000
/** Of each service: one writes, eight read, four keep claims and limits. */
export const CONNECTIONS_PER_SERVICE = 13

const DAY_SECONDS = 86_400

export interface Storage {
  usersBytes: number
  /** What a day leaves that the next day deletes, at this load all day. */
  dayBytes: number
  /** By which it grows for good. */
  growthBytesPerDay: number
  logBytesPerSecond: number
}

export function storageOf({ perSecond, users }: { perSecond: number; users: number }): Storage {
  return {
    usersBytes: users * ROW_BYTES.user,
    dayBytes: perSecond * DAY_SECONDS * ROW_BYTES.verify,
    growthBytesPerDay: perSecond * DAY_SECONDS * ROW_BYTES.auditEntry,
    logBytesPerSecond: perSecond * LOG_BYTES_PER_VERIFY,
  }
}
