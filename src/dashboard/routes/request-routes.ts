/** The routes that show the request log, and the verifications that its entries name. */

import { earliestRequestId } from '../../crypto/identifiers.js'
import {
  explained,
  MAX_NAMED,
  requestFacts,
  subjectOf,
} from '../../features/insight/requests/request-view.js'
import { ERRORS_PATH } from '../../http/routing/routes.js'
import { DomainError } from '../../lib/domain-error.js'
import { LAST_REQUEST_ID, type RequestListing } from '../../storage/readers-and-writers/request-store.js'
import type { RequestRecord } from '../../storage/records.js'
import type { StoreReader } from '../../storage/store.js'
import { outcomeOf, parseOutcome, parseTime } from '../audit-query.js'
import * as bodies from '../bodies.js'
import type { AuditOutcome, RequestView } from '../contract.js'
import type { DashboardServices } from '../dashboard-services.js'
import type { TenantTable } from './route.js'

/** Entries of one page: as many as a person can look through, also on a phone. */
const PAGE = 20
/** Entries read at once: the API's callers wait for about a millisecond meanwhile. */
const READ_AT_ONCE = 200
/** Most entries that are searched for one page. The next page continues the search. */
const MAX_SEARCHED = 5000
const REQUEST_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type LogKeys = Parameters<typeof requestFacts>[1]

type Urls = ReturnType<DashboardServices['urls']>

interface Filter {
  endpoint: string | null
  outcome: AuditOutcome | null
}

export const REQUEST_ROUTES = {
  'GET /requests': {
    async answer({ services, tenant, query, request }) {
      const { keys } = services.core
      const { read } = services.core.store
      const { requestLogDays: days, requestLogEntries: entries } = services.config
      const kept = { days, entries }
      const id = query.get('id')
      if (id) {
        const named = await read.requestsNamed(tenant.id, id.slice(0, 128), MAX_NAMED)
        return {
          requests: named.map((record) => requestView(record, keys, services.urls())),
          next_before: null,
          kept,
        }
      }
      const [from, until] = [parseTime(query, 'from'), parseTime(query, 'until')]
      const listing = {
        tenantId: tenant.id,
        environment: query.get('environment') === 'sandbox' ? ('sandbox' as const) : ('production' as const),
        from: from === null ? '' : earliestRequestId(from),
        before:
          parseBefore(query.get('before')) ?? (until === null ? LAST_REQUEST_ID : earliestRequestId(until)),
        limit: READ_AT_ONCE,
        ...(query.get('subject') ? { subject: query.get('subject')! } : {}),
        ...(query.get('code') ? { code: query.get('code')! } : {}),
      }
      const filter = { endpoint: query.get('endpoint') || null, outcome: parseOutcome(query) }
      const { found, nextBefore } = await newestMatching(read, listing, filter, request.signal)
      return {
        requests: found.map((record) => requestView(record, keys, services.urls())),
        next_before: nextBefore,
        kept,
      }
    },
  },

  /** Finds the facts of a verification: in production those of its audit entry, in the sandbox those that are kept for a while. */
  'GET /verification': {
    async answer({ services, tenant, query }) {
      const { read } = services.core.store
      const id = (query.get('id') ?? '').slice(0, 64)
      const kept =
        query.get('environment') === 'sandbox'
          ? (await read.sandboxVerification(tenant.id, id))?.facts
          : (await read.auditedVerification(tenant.id, id))?.entry
      return { facts: kept === undefined ? null : (JSON.parse(kept) as Record<string, unknown>) }
    },
  },

  /** Finds the pseudonym of a user in the log, or null. The user id comes in a body, so that no address holds it. */
  'POST /requests/subject': {
    body: bodies.userQuestion,
    async answer({ services, tenant, input: { user_id, environment } }) {
      const { vault, store } = services.core
      return { subject: await subjectOf({ vault, store }, tenant.id, environment, user_id) }
    },
  },
} satisfies Partial<TenantTable>

/** @returns the entries, and the request id at which the next page begins, or null at the end of the log */
async function newestMatching(
  store: StoreReader,
  listing: RequestListing,
  filter: Filter,
  signal: AbortSignal,
): Promise<{ found: RequestRecord[]; nextBefore: string | null }> {
  const found: RequestRecord[] = []
  let { before } = listing
  for (let looked = 0; looked < MAX_SEARCHED && !signal.aborted; looked += READ_AT_ONCE) {
    const page = await store.requests({ ...listing, before })
    found.push(...page.filter((record) => matches(record, listing, filter)))
    if (found.length > PAGE) {
      const shown = found.slice(0, PAGE)
      return { found: shown, nextBefore: shown.at(-1)!.requestId }
    }
    if (page.length < READ_AT_ONCE) return { found, nextBefore: null }
    before = page.at(-1)!.requestId
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { found, nextBefore: before }
}

function matches(record: RequestRecord, { code }: RequestListing, { endpoint, outcome }: Filter): boolean {
  return (
    (code === undefined || record.code === code) &&
    (endpoint === null || record.endpoint === endpoint) &&
    (outcome === null || outcomeOf(record) === outcome)
  )
}

function requestView(record: RequestRecord, keys: LogKeys, urls: Urls): RequestView {
  const { environment, code } = record
  const error = explained(record)
  return {
    ...requestFacts(record, keys),
    error: error && { ...error, doc_url: new URL(`${ERRORS_PATH}#${code}`, urls[environment]).href },
  }
}

/** @throws DomainError invalid_request */
function parseBefore(text: string | null): string | null {
  if (!text) return null
  if (!REQUEST_ID.test(text))
    throw new DomainError('invalid_request', { details: [{ path: 'before', issue: 'must be a request id' }] })
  return text
}
