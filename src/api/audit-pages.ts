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

export interface AuditPage {
  entries: EntryView[]
  hasMore: boolean
  /** Cursor of the next page. */
  cursor: number
  /** Number of entries that were read from the database. */
  entriesRead: number
}

export interface AuditPages {
  list(tenantId: string, query: PageQuery): Promise<AuditPage>
  /** Sequence of the first entry that does not fit the chain, as the last verification found; null where it found none. */
  brokenAt(tenantId: string): Promise<number | null>
}

/** The log of production. */
export class StoredAuditPages implements AuditPages {
  constructor(
    private readonly read: StoreReader,
    readonly brokenAt: AuditPages['brokenAt'],
  ) {}

  list(tenantId: string, query: PageQuery): Promise<AuditPage> {
    const list = query.order === 'desc' ? newestFirst : oldestFirst
    return list(this.read, tenantId, query)
  }
}

/** The sandbox writes no audit log. */
export const NO_AUDIT_PAGES: AuditPages = {
  list: async (_tenantId, { after }) => ({ entries: [], hasMore: false, cursor: after ?? 0, entriesRead: 0 }),
  brokenAt: async () => null,
}

/** Reads one entry more than it lists, which shows whether the log goes on. */
async function newestFirst(
  store: StoreReader,
  tenantId: string,
  { after, limit, event }: PageQuery,
): Promise<AuditPage> {
  const before = after ?? Number.MAX_SAFE_INTEGER
  const records =
    event === undefined
      ? await store.recentAuditEntries(tenantId, before, limit + 1)
      : await store.recentAuditEntriesOfEvent(tenantId, event, before, limit + 1)
  const listed = records.slice(0, limit)
  return {
    entries: listed.map(entryView),
    hasMore: records.length > limit,
    cursor: listed.at(-1)?.sequence ?? after ?? 0,
    entriesRead: records.length,
  }
}

/** Reads one entry more than it lists, which shows whether the log goes on. */
async function oldestFirst(store: StoreReader, tenantId: string, query: PageQuery): Promise<AuditPage> {
  const { limit, event } = query
  const after = query.after ?? 0
  // The end is read first, so that the cursor does not skip an entry that is appended meanwhile.
  const end = event === undefined ? undefined : await store.auditHead(tenantId)
  const records =
    event === undefined
      ? await store.auditEntries(tenantId, after, limit + 1)
      : await store.auditEntriesOfEvent(tenantId, event, after, limit + 1)
  const listed = records.slice(0, limit)
  const hasMore = records.length > limit
  const last = listed.at(-1)?.sequence ?? after
  return {
    entries: listed.map(entryView),
    hasMore,
    // Once no entry of the event is left, the next page begins after the last entry of the log.
    cursor: hasMore ? last : Math.max(last, end?.sequence ?? 0),
    entriesRead: records.length,
  }
}

interface EntryView {
  event: AuditEventName
  [field: string]: unknown
}

function entryView({ sequence, entry, hash }: AuditRecord): EntryView {
  const {
    at,
    event,
    actor,
    request_id,
    status = null,
    code = null,
    subject = null,
    sequence: _,
    ...facts
  } = JSON.parse(entry)
  return {
    sequence,
    created_at: at,
    event,
    actor,
    request_id,
    status,
    code,
    subject,
    facts,
    hash: hash.toString('hex'),
  }
}
