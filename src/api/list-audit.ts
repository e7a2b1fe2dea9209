/** GET /v1/audit: the tenant's own audit log, oldest or newest first, a page at a time. */
import Type from 'typebox'
import { AUDIT_EVENTS, type AuditEventName } from '../audit/audit-events.js'
import type { AuditRecord } from '../storage/records.js'
import type { StoreReader } from '../storage/store.js'
import { type Endpoint, type EndpointDescription, SMALL_BODY_BYTES } from './endpoint.js'
import { DIGITS, nullable, time } from './schemas.js'
import type { Services } from './services.js'

const DEFAULT_LIMIT = 50
const MAX_ENTRIES = 200
/** Entries read for one token of the rate, so that a tenant's rate bounds what its listings cost the others. */
const ENTRIES_A_TOKEN = 100

const entry = Type.Object(
  {
    sequence: Type.Integer({ minimum: 1, description: '1, 2, 3, … without a gap.' }),
    at: time('When it happened.'),
    event: Type.String({ description: `What happened: ${AUDIT_EVENTS.join(', ')}.` }),
    actor: Type.String({
      description: 'Who: the id of an API key, `operator` at the command line, or somebody at the dashboard.',
    }),
    request_id: nullable(Type.String({ description: 'The request by which it happened.' })),
    status: nullable(Type.Integer({ description: 'HTTP status, of a call of the API.' })),
    code: nullable(Type.String({ description: 'Error code, where it failed.' })),
    subject: nullable(
      Type.String({ description: 'Pseudonym of the user, which nobody can link to a user who is erased.' }),
    ),
    facts: Type.Record(Type.String(), Type.Unknown(), {
      description: 'What else was recorded of this event.',
    }),
    hash: Type.String({ description: 'Chain value, in hex: it covers every entry up to this one.' }),
  },
  { title: 'AuditEntry' },
)

const success = Type.Object(
  {
    data: Type.Array(entry, { description: 'In the order that was asked for.' }),
    has_more: Type.Boolean({ description: 'Whether the log goes on with entries that were asked for.' }),
    next_cursor: Type.String({
      description: 'What to send as `after` for what follows: now, or later, when more has happened.',
    }),
    broken_at: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'The log was changed in the database: the `sequence` of the first entry that does not fit, as the daily verification found. Left out where it found none.',
      }),
    ),
  },
  { title: 'AuditPage' },
)

const query = {
  after: {
    schema: Type.String({ pattern: DIGITS, examples: ['0'] }),
    description:
      'A `next_cursor`: what follows is listed. The start of the log where it is left out, or its end with `order=desc`.',
  },
  order: {
    schema: Type.Union([Type.Literal('asc'), Type.Literal('desc')], { default: 'asc' }),
    description: '`asc`: oldest first. `desc`: newest first.',
  },
  limit: {
    schema: Type.Integer({ minimum: 1, maximum: MAX_ENTRIES, default: DEFAULT_LIMIT }),
    description: 'At most how many entries.',
  },
  event: {
    schema: Type.Union(AUDIT_EVENTS.map((name) => Type.Literal(name))),
    description: 'Only entries of this event.',
  },
}

export const listAuditDescription: EndpointDescription = {
  id: 'list_audit',
  method: 'GET',
  path: '/v1/audit',
  summary: "List the tenant's audit log",
  description:
    'The entries of the tenant’s own audit log, oldest first, or newest first with `order=desc`. Go on with `next_cursor` while `has_more` is true. Each hundred entries that were read cost a token of the rate limit. The sandbox writes no audit log: there it is empty.',
  query,
  success: { status: 200, description: 'A page of the log.', schema: success },
  errors: ['invalid_request'],
  usesEngine: false,
  maxBodyBytes: SMALL_BODY_BYTES,
  answersWithSecret: false,
  idempotent: false,
  auditEvent: null,
  answersWithoutStore: false,
  scopes: ['audit'],
}

interface Input {
  after?: string
  order?: 'asc' | 'desc'
  limit?: number
  event?: AuditEventName
}

export function listAudit({ store, auditBreak }: Services): Endpoint<Input> {
  return {
    ...listAuditDescription,
    async handle({ input, tenant, environment }) {
      const { after, order = 'asc', limit = DEFAULT_LIMIT, event } = input
      const list = order === 'desc' ? newestFirst : oldestFirst
      const page =
        environment === 'sandbox'
          ? { data: [], hasMore: false, cursor: Number(after ?? 0), read: 0 }
          : await list(store.read, tenant.id, {
              after: after === undefined ? null : Number(after),
              limit,
              event,
            })
      const brokenAt = environment === 'sandbox' ? null : await auditBreak(tenant.id)
      return {
        status: 200,
        body: {
          data: page.data,
          has_more: page.hasMore,
          next_cursor: String(page.cursor),
          ...(brokenAt !== null && { broken_at: brokenAt }),
        },
        furtherTokens: Math.max(0, Math.ceil(page.read / ENTRIES_A_TOKEN) - 1),
      }
    },
  }
}

interface PageQuery {
  /** Null where the listing begins. */
  after: number | null
  limit: number
  event: AuditEventName | undefined
}

/** Reads one entry more than it lists, which shows whether the log goes on. */
async function newestFirst(store: StoreReader, tenantId: string, { after, limit, event }: PageQuery) {
  const before = after ?? Number.MAX_SAFE_INTEGER
  const records =
    event === undefined
      ? await store.recentAuditEntries(tenantId, before, limit + 1)
      : await store.recentAuditEntriesOfEvent(tenantId, event, before, limit + 1)
  const listed = records.slice(0, limit)
  return {
    data: listed.map(entryView),
    hasMore: records.length > limit,
    cursor: listed.at(-1)?.sequence ?? after ?? 0,
    read: records.length,
  }
}

/** Reads one entry more than it lists as well. */
async function oldestFirst(store: StoreReader, tenantId: string, query: PageQuery) {
  const { limit, event } = query
  const after = query.after ?? 0
  // The end is read first: an entry that is appended meanwhile lies beyond it, and is not passed over by the cursor.
  const end = event === undefined ? undefined : await store.auditHead(tenantId)
  const records =
    event === undefined
      ? await store.auditEntries(tenantId, after, limit + 1)
      : await store.auditEntriesOfEvent(tenantId, event, after, limit + 1)
  const listed = records.slice(0, limit)
  const hasMore = records.length > limit
  const last = listed.at(-1)?.sequence ?? after
  return {
    data: listed.map(entryView),
    hasMore,
    // Where no entry of the event is left, the next page begins after the last entry of the log.
    cursor: hasMore ? last : Math.max(last, end?.sequence ?? 0),
    read: records.length,
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
    at,
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
