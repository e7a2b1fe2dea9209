/** GET /v1/audit: the tenant's own audit log, oldest or newest first, a page at a time. */

import Type from 'typebox'
import { AUDIT_EVENTS, type AuditEventName } from '../../audit/audit-events.js'
import { AUDIT, type Endpoint, type EndpointDescription } from '../endpoint.js'
import { DIGITS, listOf, nullable, text, time, words } from '../schemas.js'
import type { Services } from '../services.js'

const DEFAULT_LIMIT = 50
const MAX_ENTRIES = 200
/** Entries that one token of the rate limit pays for, so that a tenant's rate bounds what its listings cost the others. */
const ENTRIES_A_TOKEN = 100

const entry = Type.Object(
  {
    sequence: Type.Integer({ minimum: 1, description: '1, 2, 3, … without a gap.' }),
    created_at: time('When it happened.'),
    event: text(`Name of the event: ${AUDIT_EVENTS.join(', ')}.`),
    actor: text(
      'The actor: the id of an API key, `operator` for the command line, or an operator of the dashboard.',
    ),
    request_id: nullable(text('The request that caused the event.')),
    status: nullable(Type.Integer({ description: 'HTTP status of the answer to a call of the API.' })),
    code: nullable(text('Error code of a call that failed.')),
    subject: nullable(text('Pseudonym of the user. Nobody can link it to a user who is erased.')),
    facts: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Further facts that were recorded about the event.',
    }),
    hash: text('Chain value, in hex: it covers every entry up to this one.'),
  },
  { title: 'AuditEntry' },
)

const success = Type.Object(
  {
    ...listOf(
      entry,
      'The entries, in the requested order.',
      text('Send it as `after` to read the entries that follow, now or when more have been written.'),
    ),
    broken_sequence: nullable(
      Type.Integer({
        minimum: 1,
        description:
          'The `sequence` of the first entry that does not fit the chain, found by the daily verification: the log was changed in the database. Null where the verification found none.',
      }),
    ),
  },
  { title: 'AuditPage' },
)

const query = {
  after: {
    schema: Type.String({ pattern: DIGITS, examples: ['0'] }),
    description:
      'A `next_cursor`: the page begins after it. Default: the start of the log, or its end with `order=desc`.',
  },
  order: {
    schema: words(['asc', 'desc'], undefined, 'asc'),
    description: '`asc`: oldest first. `desc`: newest first.',
  },
  limit: {
    schema: Type.Integer({ minimum: 1, maximum: MAX_ENTRIES, default: DEFAULT_LIMIT }),
    description: 'Largest number of entries on the page.',
  },
  event: {
    schema: words(AUDIT_EVENTS),
    description: 'Only entries of this event.',
  },
}

export const listAuditDescription: EndpointDescription = {
  id: 'list_audit',
  topic: AUDIT,
  sdkName: 'auditPage',
  method: 'GET',
  path: '/v1/audit',
  summary: "List the tenant's audit log",
  description:
    'Lists the entries of the tenant’s own audit log, oldest first, or newest first with `order=desc`. Continue with `next_cursor` while `has_more` is true. Each hundred entries that were read cost one token of the rate limit. The sandbox writes no audit log: its list is empty.',
  query,
  success: { status: 200, description: 'A page of the log.', schema: success },
  errors: ['invalid_request'],
  scopes: ['audit'],
}

interface Input {
  after?: string
  order?: 'asc' | 'desc'
  limit?: number
  event?: AuditEventName
}

export function listAudit({ auditPages }: Pick<Services, 'auditPages'>): Endpoint<Input> {
  return {
    ...listAuditDescription,
    async handle({ input, tenant }) {
      const { after, order = 'asc', limit = DEFAULT_LIMIT, event } = input
      const page = await auditPages.list(tenant.id, {
        after: after === undefined ? null : Number(after),
        order,
        limit,
        event,
      })
      return {
        status: 200,
        body: {
          data: page.entries,
          has_more: page.hasMore,
          next_cursor: String(page.cursor),
          broken_sequence: await auditPages.brokenAt(tenant.id),
        },
        furtherTokens: Math.max(0, Math.ceil(page.entriesRead / ENTRIES_A_TOKEN) - 1),
      }
    },
  }
}
