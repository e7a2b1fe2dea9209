/** The routes that show and export the audit log, and the facts of a verification. */

import { userId } from '../../api/schemas.js'
import type { Environment } from '../../config/config.js'
import { reply } from '../../http/admin/replies.js'
import { invalidField } from '../../lib/domain-error.js'
import type { AuditEntry, AuditPageQuery, AuditQuery } from '../lib/audit-contract.js'
import { newestMatching, oldestFirst, parseAuditFilter, parseBefore } from '../lib/audit-query.js'
import type { AnyRoute, Taken } from '../lib/route.js'
import { asks, READS, type TenantCall, tenantRoute } from './route.js'

/** Entries of one page: as many as a person can look through, also on a phone. */
const PAGE = 20
const COLUMNS = ['sequence', 'at', 'event', 'actor', 'subject', 'status', 'code', 'request_id']
const FORMATS = {
  csv: { type: 'text/csv; charset=utf-8', head: [[...COLUMNS, 'facts'].join(',')], line: csvLine },
  jsonl: { type: 'application/jsonl; charset=utf-8', head: [], line: JSON.stringify },
}

type AuditExportQuery = AuditQuery & { format: keyof typeof FORMATS }

export const AUDIT_ROUTES = {
  'GET /audit': tenantRoute({
    right: 'read',
    query: asks<AuditPageQuery>(),
    async answer({ services, tenant, query, request }) {
      const filter = parseAuditFilter(query)
      const { entries, nextBefore } = await newestMatching(services.core.store.read, tenant.id, filter, {
        before: parseBefore(query),
        limit: PAGE,
        signal: request.signal,
      })
      // The entries are newest first. There may be none although older ones match, since a page searches a bounded part of the log.
      return { entries, next_before: nextBefore }
    },
  }),

  /** Finds the facts of a verification: in production those of its audit entry, in the sandbox those that are kept for a while. */
  'GET /verification': tenantRoute({
    right: 'read',
    query: asks<{ environment: Environment; id: string }>(),
    async answer({ services, tenant, query }) {
      const { read } = services.core.store
      const id = (query.get('id') ?? '').slice(0, 64)
      const kept =
        query.get('environment') === 'sandbox'
          ? (await read.sandboxVerification(tenant.id, id))?.facts
          : (await read.auditedVerification(tenant.id, id))?.entry
      return { facts: kept === undefined ? null : (JSON.parse(kept) as Record<string, unknown>) }
    },
  }),

  /** Finds the pseudonym of a user in the log; null for a user who is unknown or erased. */
  'POST /audit/subject': tenantRoute({
    right: 'read',
    harmless: READS,
    body: { user_id: userId },
    async answer({ services, tenant, input }) {
      const { vault, store } = services.core
      const blindIndex = vault.blindIndex(tenant.id, 'production', input.user_id)
      const found = await vault.find(store.read, blindIndex, input.user_id)
      return { subject: found?.pseudonym ?? null }
    },
  }),

  'GET /audit/chain': tenantRoute({
    right: 'read',
    async answer({ services, tenant }) {
      const { audit, store } = services.core
      const { entries, brokenAt } = await audit.verify(store.read, tenant.id)
      return {
        entries,
        /** First sequence that does not fit the chain or is missing, or null. */
        broken_at: brokenAt,
      }
    },
  }),

  'GET /audit/export': {
    right: 'read',
    query: asks<AuditExportQuery>(),
    async reply({ services, tenant, query }) {
      const format = query.get('format')
      if (format !== 'csv' && format !== 'jsonl') throw invalidField('format', 'must be csv or jsonl')
      const pages = oldestFirst(services.core.store.read, tenant.id, parseAuditFilter(query))
      return reply(200, FORMATS[format].type, lines(pages, FORMATS[format]), {
        'Content-Disposition': `attachment; filename="audit-${tenant.name}.${format}"`,
      })
    },
  } satisfies AnyRoute<TenantCall & Taken<undefined, AuditExportQuery>>,
}

async function* lines(
  pages: AsyncIterable<AuditEntry[]>,
  { head, line }: (typeof FORMATS)[keyof typeof FORMATS],
): AsyncGenerator<string> {
  const text = (part: string[]) => part.map((each) => `${each}\n`).join('')
  yield text(head)
  for await (const page of pages) yield text(page.map((entry) => line(entry)))
}

function csvLine(entry: AuditEntry): string {
  const { hash, ...named } = entry
  const facts = Object.fromEntries(Object.entries(named).filter(([name]) => !COLUMNS.includes(name)))
  return [...COLUMNS.map((name) => named[name] ?? ''), JSON.stringify(facts)].map(csvCell).join(',')
}

/** Quotes a cell as RFC 4180 demands. A cell that a spreadsheet would run as a formula gets an apostrophe in front. */
function csvCell(value: unknown): string {
  const text = String(value)
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
