/** The routes that show the request log. */

import type { Environment } from '../../../config/config.js'
import { earliestRequestId } from '../../../crypto/identifiers.js'
import { outcomeOf, parseOutcome, parseTime } from '../../../dashboard/lib/audit-query.js'
import { userQuestion } from '../../../dashboard/lib/bodies.js'
import { asks, consoleRoute, READS, type Urls } from '../../../dashboard/lib/route.js'
import { ERRORS_PATH } from '../../../http/routing/routes.js'
import { invalidField } from '../../../lib/domain-error.js'
import type { FeatureHost } from '../../feature.js'
import { LAST_REQUEST_ID, type RequestListing, type RequestRecord, requestReader } from './request-table.js'
import { explained, MAX_NAMED, requestFacts, subjectOf } from './request-view.js'

/** Filters of a log. An empty or missing field filters nothing. */
interface RequestQuery {
  /** Environment of the requests; production by default. */
  environment?: Environment
  /** Request id, client request id or verification id, in either environment. All other filters are then ignored. */
  id?: string
  /** Pseudonym of a user, as `POST /requests/subject` answers it. */
  subject?: string
  /** Error code, or reason of a rejection. */
  code?: string
  endpoint?: string
  outcome?: string
  /** Start of the range, inclusive (ISO 8601). */
  from?: string
  /** End of the range, exclusive (ISO 8601). */
  until?: string
  /** Request id before which the page begins. */
  before?: string
}

/** Entries of one page: as many as a person can look through, also on a phone. */
const PAGE = 20
/** Entries read at once: the API's callers wait for about a millisecond meanwhile. */
const READ_AT_ONCE = 200
/** Most entries that are searched for one page. The next page continues the search. */
const MAX_SEARCHED = 5000
const REQUEST_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type LogKeys = Parameters<typeof requestFacts>[1]

type Filter = Record<'endpoint' | 'outcome', string | null>

export const requestRoutes = ({ config, store, keys, vault }: FeatureHost) => ({
  'GET /requests': consoleRoute({
    right: 'read',
    query: asks<RequestQuery>(),
    async answer({ tenant, query, request, urls }) {
      const requests = store.read.statements(requestReader)
      const { requestLogDays: days, requestLogEntries: entries } = config
      // How many days entries are kept, and how many entries of each kind.
      const kept = { days, entries }
      const id = query.get('id')
      if (id) {
        const named = await requests.named(tenant.id, id.slice(0, 128), MAX_NAMED)
        const views = named.map((record) => requestView(record, keys, urls()))
        return { requests: views, next_before: null, kept }
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
      const { found, nextBefore } = await newestMatching(requests, listing, filter, request.signal)
      return {
        /** Newest first. The list may be empty although older entries match, since a page searches a bounded part of the log. */
        requests: found.map((record) => requestView(record, keys, urls())),
        next_before: nextBefore,
        kept,
      }
    },
  }),

  /** Finds the pseudonym of a user in the log, or null. */
  'POST /requests/subject': consoleRoute({
    right: 'read',
    harmless: READS,
    body: userQuestion,
    async answer({ tenant, input: { user_id, environment } }) {
      return { subject: await subjectOf({ vault, store }, tenant.id, environment, user_id) }
    },
  }),
})

/** @returns the entries, and the request id at which the next page begins, or null at the end of the log */
async function newestMatching(
  requests: ReturnType<typeof requestReader>,
  listing: RequestListing,
  filter: Filter,
  signal: AbortSignal,
): Promise<{ found: RequestRecord[]; nextBefore: string | null }> {
  const found: RequestRecord[] = []
  let { before } = listing
  for (let looked = 0; looked < MAX_SEARCHED && !signal.aborted; looked += READ_AT_ONCE) {
    const page = await requests.list({ ...listing, before })
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

function requestView(record: RequestRecord, keys: LogKeys, urls: Urls) {
  const { environment, code } = record
  const error = explained(record)
  return {
    ...requestFacts(record, keys),
    /** Meaning of the error code, with the address of its page; null when the request was not refused. */
    error: error && { ...error, doc_url: new URL(`${ERRORS_PATH}#${code}`, urls[environment]).href },
  }
}

/** @throws DomainError invalid_request */
function parseBefore(text: string | null): string | null {
  if (!text) return null
  if (!REQUEST_ID.test(text)) throw invalidField('before', 'must be a request id')
  return text
}
