/** The request log: what was called lately in either environment, how it ended, and for whom; filters stand in the address. */
import { useState } from 'preact/hooks'
import {
  AUDIT_OUTCOMES,
  type Environment,
  LOGGED_ENDPOINTS,
  type RequestPage,
  type RequestView,
} from '../contract.js'
import { localTime, useAddressQuery, usePager } from './address-query.js'
import { callTenant, tenantAddress } from './api.js'
import {
  Badge,
  Card,
  Empty,
  type Fact,
  Facts,
  Loading,
  Problem,
  Segments,
  Table,
  Time,
  timeZone,
} from './parts.js'
import { useAction } from './use-action.js'
import { useData } from './use-data.js'

const NAMES = [
  'environment',
  'outcome',
  'code',
  'endpoint',
  'id',
  'subject',
  'from',
  'until',
  'before',
] as const
type Query = Record<(typeof NAMES)[number], string>
/** Entries are written up to 2 s after their request. */
const REFRESH_MS = 5000
const ENVIRONMENTS = [
  ['production', 'Production'],
  ['sandbox', 'Sandbox'],
] as const
/** In the address for a user whom the log cannot name. */
const NOBODY = 'nobody'
const COLUMNS = [
  { name: 'Time' },
  { name: 'Endpoint' },
  { name: 'Outcome' },
  { name: 'Duration', isNumber: true },
  { name: 'User' },
  { name: 'Request id' },
  { name: 'Details', isSilent: true },
]

export function RequestsPage({ tenantId }: { tenantId: string }) {
  const [query, change] = useAddressQuery(NAMES)
  const environment: Environment = query.environment === 'sandbox' ? 'sandbox' : 'production'
  const page = useData(
    tenantAddress(tenantId, 'GET /requests', { ...query, environment } as Query & {
      environment: Environment
    }),
    // A page of older requests changes no more.
    query.before ? undefined : REFRESH_MS,
  )
  const pager = usePager(change)
  // An id is looked for in both environments.
  const found = query.id ? page.value?.requests[0] : undefined
  const apply = (changes: Partial<Query>) => change({ before: '', ...changes })
  return (
    <>
      <div class="toolbar">
        <Segments
          label="Environment"
          options={ENVIRONMENTS}
          value={found?.environment ?? environment}
          onChange={(chosen) => apply({ environment: chosen, subject: '', id: '' })}
        />
        <button type="button" onClick={page.reload}>
          Refresh
        </button>
      </div>
      <Card title="Latest requests" hint={page.value && keptText(page.value.kept)}>
        <Filters
          key={JSON.stringify(query)}
          tenantId={tenantId}
          environment={environment}
          query={query}
          onChange={apply}
        />
        <Problem message={page.error} onRetry={page.reload} />
        {!page.value ? (
          !page.error && <Loading />
        ) : query.subject === NOBODY ? (
          <Empty title="No such user">
            Unknown in this environment, or erased: what the log says of an erased user can no longer be
            found.
          </Empty>
        ) : page.value.requests.length === 0 ? (
          <Nothing query={query} environment={environment} page={page.value} />
        ) : (
          <Entries requests={page.value.requests} />
        )}
        {(page.value?.next_before || query.before) && (
          <div class="pager">
            <button type="button" disabled={!query.before} onClick={pager.newer}>
              Newer requests
            </button>
            <button
              type="button"
              disabled={!page.value?.next_before}
              onClick={() => pager.older(page.value!.next_before!)}
            >
              Older requests
            </button>
          </div>
        )}
      </Card>
    </>
  )
}

function keptText({ days, entries }: RequestPage['kept']): string {
  if (days === 0) return 'The request log is turned off: COUNTERSIGN_REQUEST_LOG_DAYS is 0.'
  const most = entries.toLocaleString()
  return `Kept for ${days} days: of each environment the last ${most} that were refused or rejected, and the last ${most} others. New requests appear within seconds.`
}

function Nothing(props: { query: Query; environment: Environment; page: RequestPage }) {
  const { query, environment, page } = props
  if (page.next_before)
    return <Empty title="Nothing matches in this part of the log">It goes on with “Older requests”.</Empty>
  const isFiltered = NAMES.some((name) => name !== 'environment' && query[name])
  if (isFiltered)
    return (
      <Empty title="Nothing matches">
        Requests with a key that nobody has belong to no tenant: they stand in the log of the service only.
      </Empty>
    )
  return (
    <Empty
      title={
        environment === 'production' ? 'No requests in production yet' : 'No requests in the sandbox yet'
      }
    />
  )
}

function Filters(props: {
  tenantId: string
  environment: Environment
  query: Query
  onChange: (changes: Partial<Query>) => void
}) {
  const { tenantId, environment, query, onChange } = props
  const { problem, run } = useAction()
  const apply = (form: HTMLFormElement) =>
    run(async () => {
      const given = new FormData(form)
      const text = (name: string) => String(given.get(name) ?? '').trim()
      const time = (name: string) => (text(name) ? new Date(text(name)).toISOString() : '')
      const userId = text('user')
      // The id goes in a body: addresses end up in histories and logs.
      const subject = userId
        ? ((await callTenant(tenantId, 'POST /requests/subject', { user_id: userId, environment })).subject ??
          NOBODY)
        : query.subject
      onChange({
        id: text('id'),
        outcome: text('outcome'),
        code: text('code'),
        endpoint: text('endpoint'),
        from: time('from'),
        until: time('until'),
        subject,
      })
    })
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault()
        void apply(event.currentTarget)
      }}
    >
      <div class="when">
        <label for="request-id">Request or verification id</label>
        <input
          id="request-id"
          name="id"
          autocomplete="off"
          maxLength={128}
          placeholder="also your own X-Request-Id"
          defaultValue={query.id}
        />
      </div>
      <div>
        <label for="request-user">User id</label>
        <input
          id="request-user"
          name="user"
          autocomplete="off"
          maxLength={128}
          placeholder={query.subject && query.subject !== NOBODY ? 'one user is chosen' : ''}
        />
      </div>
      <div>
        <label for="request-outcome">Outcome</label>
        <select id="request-outcome" name="outcome" defaultValue={query.outcome}>
          <option value="">all</option>
          {AUDIT_OUTCOMES.map((name) => (
            <option key={name} value={name} selected={name === query.outcome}>
              {name === 'failed' ? 'refused' : name}
            </option>
          ))}
        </select>
      </div>
      <div>
        <label for="request-code">Code or reason</label>
        <input
          id="request-code"
          name="code"
          autocomplete="off"
          maxLength={64}
          placeholder="such as image_unreadable"
          defaultValue={query.code}
        />
      </div>
      <div>
        <label for="request-endpoint">Endpoint</label>
        <select id="request-endpoint" name="endpoint">
          <option value="">all</option>
          {LOGGED_ENDPOINTS.map((name) => (
            <option key={name} selected={name === query.endpoint}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <div class="when">
        <label for="request-from">From ({timeZone()})</label>
        <input
          id="request-from"
          name="from"
          type="datetime-local"
          step="1"
          defaultValue={localTime(query.from)}
        />
      </div>
      <div class="when">
        <label for="request-until">Until ({timeZone()})</label>
        <input
          id="request-until"
          name="until"
          type="datetime-local"
          step="1"
          defaultValue={localTime(query.until)}
        />
      </div>
      <div class="buttons">
        <button type="submit" class="primary">
          Apply
        </button>
        <button
          type="button"
          onClick={() =>
            onChange({ id: '', outcome: '', code: '', endpoint: '', from: '', until: '', subject: '' })
          }
        >
          Clear
        </button>
      </div>
      <Problem message={problem} />
    </form>
  )
}

function Entries({ requests }: { requests: RequestView[] }) {
  const [open, setOpen] = useState<string | null>(null)
  return (
    <Table
      label="Requests"
      isLog
      columns={COLUMNS}
      rows={requests.map((request) => {
        const isOpen = request.request_id === open
        return {
          key: request.request_id,
          cells: [
            <Time at={request.at} />,
            request.endpoint,
            <Outcome request={request} />,
            `${request.duration_ms} ms`,
            <User request={request} />,
            <code title={request.request_id}>…{request.request_id.slice(-12)}</code>,
            <button
              type="button"
              class="link"
              aria-expanded={isOpen}
              onClick={() => setOpen(isOpen ? null : request.request_id)}
            >
              {isOpen ? 'Less' : 'More'}
              <span class="for-readers"> about request {request.request_id}</span>
            </button>,
          ],
          below: isOpen && <Details request={request} />,
        }
      })}
    />
  )
}

function Outcome({ request: { verdict, code, status, is_replay } }: { request: RequestView }) {
  return (
    <span>
      {verdict ? (
        <Badge tone={verdict === 'approved' ? 'good' : 'bad'}>{verdict}</Badge>
      ) : (
        <Badge tone={status >= 400 ? 'warn' : 'plain'}>
          {status >= 400 ? `refused (status ${status})` : `done (status ${status})`}
        </Badge>
      )}
      {code && <span class="muted small"> {code}</span>}
      {is_replay && <span class="muted small"> kept answer</span>}
    </span>
  )
}

function User({ request: { user_id, subject } }: { request: RequestView }) {
  if (user_id) return <span>{user_id}</span>
  if (subject) return <code title={subject}>{subject.slice(0, 12)}</code>
  return (
    <span title="Not about a user, or about nobody who is enrolled">
      <span aria-hidden="true">–</span>
      <span class="for-readers">Not about a user, or about nobody who is enrolled</span>
    </span>
  )
}

function Details({ request }: { request: RequestView }) {
  const rows: Array<[string, string | null]> = [
    ['Request id', request.request_id],
    ['Your X-Request-Id', request.client_request_id],
    ['Verification id', request.verification_id],
    ['Environment', request.environment],
    ['Status', String(request.status)],
    ['Code or reason', request.code],
    ['User', request.user_id ?? request.subject],
    ['API key', request.key_id],
    ['Address', request.address],
  ]
  const { error } = request
  const explained: Fact[] = error
    ? [
        ['Message', error.message],
        ['Remedy', error.remedy],
        [
          'Explained at',
          <a href={error.doc_url} target="_blank" rel="noreferrer">
            {error.doc_url}
          </a>,
        ],
      ]
    : []
  return (
    <Facts
      rows={[
        ...explained,
        ...rows
          .filter(([, value]) => value !== null)
          .map(([name, value]): Fact => [name, <code>{value}</code>]),
      ]}
    />
  )
}
