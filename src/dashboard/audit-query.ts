/** Which entries of an audit log are asked for, and the walks through it that find them. */

import { ApiError } from '../api-error.js'
import { isoTime } from '../clock.js'
import type { AuditRecord } from '../storage/records.js'
import type { StoreReader } from '../storage/store.js'
import {
  AUDIT_OUTCOMES,
  type AuditEntry,
  type AuditOutcome,
  type AuditPageQuery,
  type AuditQuery,
} from './contract.js'
import type { Query } from './route.js'

/** Entries read at once: callers of the API wait for about a millisecond meanwhile. */
const PAGE = 100
/** Entries looked through for one page of the dashboard: the page after it goes on. */
const MOST_LOOKED_THROUGH = 5000
const NEWEST = Number.MAX_SAFE_INTEGER

export interface AuditFilter {
  event: string | null
  /** Pseudonym of a user. */
  subject: string | null
  outcome: AuditOutcome | null
  /** ISO 8601, the first moment within. */
  from: string | null
  /** ISO 8601, the first moment beyond. */
  until: string | null
}

/** @throws ApiError invalid_request */
export function parseAuditFilter(query: Query<AuditQuery>): AuditFilter {
  return {
    event: query.get('event') || null,
    subject: query.get('subject') || null,
    outcome: parseOutcome(query),
    from: isoOf(parseTime(query, 'from')),
    until: isoOf(parseTime(query, 'until')),
  }
}

/** A sequence to go on from; the newest entry where none is named. @throws ApiError invalid_request */
export function parseBefore(query: Query<AuditPageQuery>): number {
  const text = query.get('before')
  if (!text) return NEWEST
  if (!/^\d{1,15}$/.test(text)) throw invalid('before', 'must be a whole number')
  return Number(text)
}

/**
 * The newest entries that match, before the sequence `before`: at most `most`, and fewer, even none, where few of those that were
 * looked through match.
 * @returns with the sequence to go on from; null at the start of the log
 */
export async function newestMatching(
  store: StoreReader,
  tenantId: string,
  filter: AuditFilter,
  { before, most, signal }: { before: number; most: number; signal: AbortSignal },
): Promise<{ entries: AuditEntry[]; nextBefore: number | null }> {
  const entries: AuditEntry[] = []
  let end = before
  for (let looked = 0; looked < MOST_LOOKED_THROUGH && !signal.aborted; looked += PAGE) {
    const page =
      filter.event === null
        ? await store.recentAuditEntries(tenantId, end, PAGE)
        : await store.recentAuditEntriesOfEvent(tenantId, filter.event, end, PAGE)
    entries.push(...matching(page, filter))
    if (entries.length > most)
      return { entries: entries.slice(0, most), nextBefore: entries[most - 1]!.sequence }
    if (page.length < PAGE) return { entries, nextBefore: null }
    end = page.at(-1)!.sequence
    await turn()
  }
  return { entries, nextBefore: end }
}

/** What matches, oldest first, in pages of any size; what is appended meanwhile is left out. */
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

/** A long log must not keep the API's callers waiting. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function matching(page: AuditRecord[], filter: AuditFilter): AuditEntry[] {
  // Only what may match is parsed: entries are canonical JSON, in which names and values stand without blanks.
  const parts = [
    ...(filter.event === null ? [] : [`"event":${JSON.stringify(filter.event)}`]),
    ...(filter.subject === null ? [] : [`"subject":${JSON.stringify(filter.subject)}`]),
  ]
  return page
    .filter(({ entry }) => parts.every((part) => entry.includes(part)))
    .map(({ entry, hash }) => ({ ...JSON.parse(entry), hash: hash.toString('hex') }) as AuditEntry)
    .filter((entry) => matches(entry, filter))
}

function matches(entry: AuditEntry, { event, subject, outcome, from, until }: AuditFilter): boolean {
  return (
    (event === null || entry.event === event) &&
    (subject === null || entry.subject === subject) &&
    (outcome === null || outcomeOf(entry) === outcome) &&
    (from === null || entry.at >= from) &&
    (until === null || entry.at < until)
  )
}

/** How a call of the API ended, in one word. */
export function outcomeOf({
  status,
  verdict,
}: {
  status?: number | undefined
  verdict?: string | null | undefined
}): string {
  return verdict ?? (status !== undefined && status >= 400 ? 'failed' : 'done')
}

/** @throws ApiError invalid_request */
export function parseOutcome(query: Query<{ outcome?: string }>): AuditOutcome | null {
  const outcome = AUDIT_OUTCOMES.find((name) => name === query.get('outcome')) ?? null
  if (query.get('outcome') && !outcome)
    throw invalid('outcome', `must be one of ${AUDIT_OUTCOMES.join(', ')}`)
  return outcome
}

/** Milliseconds since the epoch; null where the query names none. @throws ApiError invalid_request */
export function parseTime(
  query: Query<{ from?: string; until?: string }>,
  name: 'from' | 'until',
): number | null {
  const text = query.get(name)
  if (!text) return null
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw invalid(name, 'must be a time by ISO 8601')
  return time
}

function isoOf(time: number | null): string | null {
  return time === null ? null : isoTime(time)
}

function invalid(path: string, issue: string): ApiError {
  return new ApiError('invalid_request', { details: [{ path, issue }] })
}
