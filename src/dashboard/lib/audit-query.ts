/** Parses the filters for the audit log, and searches the log for the entries that match. */

import { timeOfRequestId } from '../../crypto/identifiers.js'
import { isoTime, MINUTE_MS } from '../../lib/clock.js'
import { invalidField } from '../../lib/domain-error.js'
import type { AuditRecord } from '../../storage/records.js'
import type { StoreReader } from '../../storage/store.js'
import {
  AUDIT_OUTCOMES,
  type AuditEntry,
  type AuditOutcome,
  type AuditPageQuery,
  type AuditQuery,
} from './audit-contract.js'
import type { Query } from './route.js'

/** Entries read at once: the API's callers wait for about a millisecond meanwhile. */
const PAGE = 100
/** Most entries that are searched for one page of the dashboard. The next page continues the search. */
const MAX_SEARCHED = 5000
const NEWEST = Number.MAX_SAFE_INTEGER
const MADE_ID = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|ver_[0-9a-f]{32})$/
/** Several services write one log, so that an entry's time may be earlier than the previous entry's, by at most this much. */
const UNORDERED_MS = MINUTE_MS
/** Longest time from a request to its entry, above the longest deadline. */
const MAX_CALL_MS = 5 * MINUTE_MS

/** The filters of a query, checked; null for those that it has not. Both times are as ISO 8601. */
export type AuditFilter = Record<Exclude<keyof AuditQuery, 'outcome'>, string | null> & {
  outcome: AuditOutcome | null
}

/** @throws DomainError invalid_request */
export function parseAuditFilter(query: Query<AuditQuery>): AuditFilter {
  const id = query.get('id') || null
  if (id !== null && !MADE_ID.test(id)) throw invalidField('id', 'must be a request id or a verification id')
  // The id begins with its time, near which the entry stands.
  const madeAt = id === null ? null : timeOfRequestId(id.replace('ver_', ''))
  return {
    id,
    event: query.get('event') || null,
    subject: query.get('subject') || null,
    outcome: parseOutcome(query),
    from: isoOf(madeAt === null ? parseTime(query, 'from') : madeAt - UNORDERED_MS),
    until: isoOf(madeAt === null ? parseTime(query, 'until') : madeAt + MAX_CALL_MS),
  }
}

/**
 * Parses the sequence before which the page begins; without one, the page begins with the newest entry.
 * @throws DomainError invalid_request
 */
export function parseBefore(query: Query<AuditPageQuery>): number {
  const text = query.get('before')
  if (!text) return NEWEST
  if (!/^\d{1,15}$/.test(text)) throw invalidField('before', 'must be a whole number')
  return Number(text)
}

/**
 * Finds the newest matching entries before the sequence `before`: at most `limit`, and possibly none, since the search is bounded.
 * @returns the entries, and the sequence at which the next page begins, or null at the start of the log
 */
export async function newestMatching(
  store: StoreReader,
  tenantId: string,
  filter: AuditFilter,
  { before, limit, signal }: { before: number; limit: number; signal: AbortSignal },
): Promise<{ entries: AuditEntry[]; nextBefore: number | null }> {
  const entries: AuditEntry[] = []
  const oldest = filter.from === null ? '' : isoTime(Date.parse(filter.from) - UNORDERED_MS)
  let end = filter.until === null ? before : Math.min(before, await firstAfter(store, tenantId, filter.until))
  for (let looked = 0; looked < MAX_SEARCHED && !signal.aborted; looked += PAGE) {
    const page =
      filter.event === null
        ? await store.recentAuditEntries(tenantId, end, PAGE)
        : await store.recentAuditEntriesOfEvent(tenantId, filter.event, end, PAGE)
    entries.push(...matching(page, filter))
    if (entries.length > limit)
      return { entries: entries.slice(0, limit), nextBefore: entries[limit - 1]!.sequence }
    const isOver = page.length < PAGE || timeOf(page.at(-1)!) < oldest
    if (isOver) return { entries, nextBefore: null }
    end = page.at(-1)!.sequence
    await turn()
  }
  return { entries, nextBefore: end }
}

/** @returns the sequence from which on all entries are later than `until`; a binary search finds it in some twenty reads */
async function firstAfter(store: StoreReader, tenantId: string, until: string): Promise<number> {
  const limit = isoTime(Date.parse(until) + UNORDERED_MS)
  let [low, high] = [1, ((await store.auditHead(tenantId))?.sequence ?? 0) + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [record] = await store.auditEntries(tenantId, middle - 1, 1)
    if (record && timeOf(record) < limit) low = middle + 1
    else high = middle
  }
  return low
}

function timeOf({ entry }: AuditRecord): string {
  return (JSON.parse(entry) as AuditEntry).at
}

/** Yields the matching entries, oldest first, in pages of any size. Entries that are appended meanwhile are left out. */
export async function* oldestFirst(
  store: StoreReader,
  tenantId: string,
  filter: AuditFilter,
): AsyncGenerator<AuditEntry[]> {
  const last = (await store.auditHead(tenantId))?.sequence ?? 0
  for (let after = 0; after < last; ) {
    const page = await store.auditEntries(tenantId, after, Math.min(PAGE, last - after))
    if (page.length === 0) return
    yield matching(page, filter)
    after = page.at(-1)!.sequence
    await turn()
  }
}

/** Lets other work run in between: a long log must not keep the API's callers waiting. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function matching(page: AuditRecord[], filter: AuditFilter): AuditEntry[] {
  // Only entries that may match are parsed. They are canonical JSON, without spaces between names and values, so that a text search can
  // exclude the others.
  const parts = [
    ...(filter.event === null ? [] : [`"event":${JSON.stringify(filter.event)}`]),
    ...(filter.subject === null ? [] : [`"subject":${JSON.stringify(filter.subject)}`]),
    ...(filter.id === null ? [] : [`_id":${JSON.stringify(filter.id)}`]),
  ]
  return page
    .filter(({ entry }) => parts.every((part) => entry.includes(part)))
    .map(({ entry, hash }) => ({ ...JSON.parse(entry), hash: hash.toString('hex') }) as AuditEntry)
    .filter((entry) => matches(entry, filter))
}

function matches(entry: AuditEntry, { event, subject, outcome, from, until, id }: AuditFilter): boolean {
  return (
    (id === null || entry.request_id === id || entry.verification_id === id) &&
    (event === null || entry.event === event) &&
    (subject === null || entry.subject === subject) &&
    (outcome === null || outcomeOf(entry) === outcome) &&
    (from === null || entry.at >= from) &&
    (until === null || entry.at < until)
  )
}

export function outcomeOf({
  status,
  verdict,
}: {
  status?: number | undefined
  verdict?: string | null | undefined
}): string {
  return verdict ?? (status !== undefined && status >= 400 ? 'failed' : 'done')
}

/** @throws DomainError invalid_request */
export function parseOutcome(query: Query<{ outcome?: string }>): AuditOutcome | null {
  const outcome = AUDIT_OUTCOMES.find((name) => name === query.get('outcome')) ?? null
  if (query.get('outcome') && !outcome)
    throw invalidField('outcome', `must be one of ${AUDIT_OUTCOMES.join(', ')}`)
  return outcome
}

/** Parses a time into Unix milliseconds; null when the query has none. @throws DomainError invalid_request */
export function parseTime(
  query: Query<{ from?: string; until?: string }>,
  name: 'from' | 'until',
): number | null {
  const text = query.get(name)
  if (!text) return null
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw invalidField(name, 'must be a time by ISO 8601')
  return time
}

function isoOf(time: number | null): string | null {
  return time === null ? null : isoTime(time)
}
