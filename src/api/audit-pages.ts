/** Pages of a tenant's audit log, as the tenant reads it. */
import type { AuditEventName } from '../audit/audit-events.js'
import type { AuditRecord } from '../storage/records.js'
import type { StoreReader } from '../storage/store.js'

interface PageQuery {
  /** Cursor after which the page begins; null for the beginning of the listing. */
  after: number | null
  order: 'asc' | 'desc'
  /** Largest number of entries on the page. */
  limit: number
  /** Only entries of this event; undefined for entries of every event. */
  event: AuditEventName | undefined
}

/** The log of production. */
export class StoredAuditPages {
  constructor(
    private readonly store: StoreReader,
    /** Sequence of the first entry that does not fit the chain, as the last verification found; null where it found none. */
    readonly brokenAt: (tenantId: string) => Promise<number | null>,
  ) {}

  /** Reads one entry more than it lists, which shows whether the log goes on. @returns cursor: that of the next page */
  async list(tenantId: string, { after, order, limit, event }: PageQuery) {
    const { store } = this
    const isNewestFirst = order === 'desc'
    const from = after ?? (isNewestFirst ? Number.MAX_SAFE_INTEGER : 0)
    // The end is read first, so that the cursor does not skip an entry that is appended meanwhile.
    const end = event === undefined || isNewestFirst ? undefined : await store.auditHead(tenantId)
    const records =
      event === undefined
        ? await store[isNewestFirst ? 'recentAuditEntries' : 'auditEntries'](tenantId, from, limit + 1)
        : await store[isNewestFirst ? 'recentAuditEntriesOfEvent' : 'auditEntriesOfEvent'](
            tenantId,
            event,
            from,
            limit + 1,
          )
    const listed = records.slice(0, limit)
    const hasMore = records.length > limit
    const last = listed.at(-1)?.sequence ?? after ?? 0
    return {
      entries: listed.map(entryView),
      hasMore,
      // Once no entry of the event is left, the next page begins after the last entry of the log.
      cursor: hasMore ? last : Math.max(last, end?.sequence ?? 0),
      entriesRead: records.length,
    }
  }
}

export type AuditPages = Pick<StoredAuditPages, keyof StoredAuditPages>

/** The sandbox writes no audit log. */
export const NO_AUDIT_PAGES: AuditPages = {
  list: async (_tenantId, { after }) => ({ entries: [], hasMore: false, cursor: after ?? 0, entriesRead: 0 }),
  brokenAt: async () => null,
}

function entryView({ sequence, entry, hash }: AuditRecord) {
  const { at: created_at, event, actor, request_id, sequence: _, ...more } = JSON.parse(entry)
  const { status = null, code = null, subject = null, ...facts } = more
  const view = { sequence, created_at, event, actor, request_id, status, code, subject, facts }
  return { ...view, hash: hash.toString('hex') }
}
