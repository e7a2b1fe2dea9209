/** The audit log to look at and to take away. */
import { ApiError } from '../errors.js'
import type { AuditRecord } from '../storage/records.js'
import type { StoreReader } from '../storage/store.js'
import { json, reply } from './replies.js'
import type { TenantRoute } from './routes.js'

const PAGE = 50
const EXPORT_PAGE = 500
/** Entries in one file; the next one begins after its last sequence. */
const EXPORT_LIMIT = 100_000
const NEWEST = Number.MAX_SAFE_INTEGER

type Entry = Record<string, unknown>

const list: TenantRoute = {
  method: 'GET',
  path: '/audit',
  async handle({ services, tenant, query }) {
    const before = sequenceOf(query, 'before', NEWEST)
    const { read } = services.ledger.store
    const records = await read.recentAuditEntries(tenant.id, before, query.get('event') || null, PAGE + 1)
    const page = records.slice(0, PAGE)
    return json({
      entries: page.map(({ entry, hash }) => ({ ...JSON.parse(entry), hash: hash.toString('hex') })),
      next_before: records.length > PAGE ? page.at(-1)!.sequence : null,
    })
  },
}

const chain: TenantRoute = {
  method: 'GET',
  path: '/audit/chain',
  async handle({ services, tenant }) {
    const { audit, store } = services.ledger
    const { entries, brokenAt } = await audit.verify(store.read, tenant.id)
    return json({ entries, broken_at: brokenAt })
  },
}

const COLUMNS = ['sequence', 'at', 'event', 'actor', 'subject', 'status', 'code', 'request_id']

const exportLog: TenantRoute = {
  method: 'GET',
  path: '/audit/export',
  async handle({ services, tenant, query }) {
    const format = query.get('format')
    if (format !== 'csv' && format !== 'jsonl')
      throw new ApiError('invalid_request', { details: [{ path: 'format', issue: 'must be csv or jsonl' }] })
    const event = query.get('event') || null
    const lines: string[] = format === 'csv' ? [[...COLUMNS, 'facts'].join(',')] : []
    const after = sequenceOf(query, 'after', 0)
    for await (const { entry, hash } of entriesAfter(services.ledger.store.read, tenant.id, after)) {
      const parsed = JSON.parse(entry) as Entry
      if (event !== null && parsed.event !== event) continue
      lines.push(
        format === 'csv' ? csvLine(parsed) : JSON.stringify({ ...parsed, hash: hash.toString('hex') }),
      )
    }
    return reply(
      200,
      format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl; charset=utf-8',
      `${lines.join('\n')}\n`,
      { 'Content-Disposition': `attachment; filename="audit-${tenant.name}.${format}"` },
    )
  },
}

export const AUDIT_ROUTES = [list, chain, exportLog]

async function* entriesAfter(
  store: StoreReader,
  tenantId: string,
  after: number,
): AsyncGenerator<AuditRecord> {
  let last = after
  for (let count = 0; count < EXPORT_LIMIT; ) {
    const page = await store.auditEntries(tenantId, last, EXPORT_PAGE)
    yield* page
    if (page.length < EXPORT_PAGE) return
    count += page.length
    last = page.at(-1)!.sequence
    // A long log must not keep the API's callers waiting.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function csvLine(entry: Entry): string {
  const facts = Object.fromEntries(Object.entries(entry).filter(([name]) => !COLUMNS.includes(name)))
  return [...COLUMNS.map((name) => entry[name] ?? ''), JSON.stringify(facts)].map(csvCell).join(',')
}

/** RFC 4180; a cell that a spreadsheet would run as a formula gets an apostrophe in front. */
function csvCell(value: unknown): string {
  const text = String(value)
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function sequenceOf(query: URLSearchParams, name: string, fallback: number): number {
  const text = query.get(name)
  if (!text) return fallback
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0)
    throw new ApiError('invalid_request', { details: [{ path: name, issue: 'must be a whole number' }] })
  return value
}
