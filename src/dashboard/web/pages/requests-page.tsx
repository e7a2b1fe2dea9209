/** The page of the request log: the latest requests in either environment and how they ended. The address holds the filters. */
import { useState } from 'preact/hooks'
import type { Environment, RequestPage, RequestView } from '../../contract.js'
import { AUDIT_OUTCOMES } from '../../lib/audit-contract.js'
import { useAddressQuery, usePager } from '../base/address-query.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { Button } from '../base/form.js'
import { Badge, Card, Empty, type Fact, Facts, Loading, Problem, Segments } from '../base/parts.js'
import { useTenantHref } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { useData } from '../base/use-data.js'
import { EntryInWords } from '../entry-in-words.js'
import { ChoiceField, FilterForm, MoreButton, NOBODY, PagerButtons, Pseudonym } from '../log-parts.js'

/** The endpoints to choose from. Guidance is left out: it is so frequent that it would hide the others. */
const ENDPOINTS = [
  'enroll',
  'verify',
  'delete',
  'get_user',
  'get_verification',
  'create_challenge',
  'create_capture_session',
  'get_capture_session',
  'list_audit',
  'rotate_signing',
  'health',
  'unknown',
]
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
/** Milliseconds between two loads. Entries are written up to 2 s after their request. */
const REFRESH_MS = 5000
const ENVIRONMENTS = [
  ['production', 'Production'],
  ['sandbox', 'Sandbox'],
] as const
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
    // A page of older requests does not change any more.
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
        <Button text="Refresh" onClick={page.reload} />
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
            Unknown in this environment, or erased: requests of an erased user can no longer be found by the
            user id.
          </Empty>
        ) : page.value.requests.length === 0 ? (
          <Nothing query={query} environment={environment} page={page.value} />
        ) : (
          <Entries tenantId={tenantId} requests={page.value.requests} />
        )}
        <PagerButtons entries="requests" pager={pager} before={query.before} next={page.value?.next_before} />
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
    return <Empty title="Nothing matches in this part of the log">Choose “Older requests” to continue.</Empty>
  const isFiltered = NAMES.some((name) => name !== 'environment' && query[name])
  if (isFiltered)
    return (
      <Empty title="Nothing matches">
        Requests with an unknown key belong to no tenant: they appear only in the service's own log.
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
  return (
    <FilterForm
      prefix="request"
      filters={query}
      names={['outcome', 'code', 'endpoint']}
      idHint="also your own X-Request-Id"
      findSubject={(user_id) => callTenant(tenantId, 'POST /requests/subject', { user_id, environment })}
      onChange={onChange}
    >
      <ChoiceField
        id="request-outcome"
        name="outcome"
        label="Outcome"
        value={query.outcome}
        options={AUDIT_OUTCOMES.map((name) => [name, name === 'failed' ? 'refused' : name])}
      />
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
      <ChoiceField
        id="request-endpoint"
        name="endpoint"
        label="Endpoint"
        value={query.endpoint}
        options={ENDPOINTS.map((name) => [name, name])}
      />
    </FilterForm>
  )
}

function Entries({ tenantId, requests }: { tenantId: string; requests: RequestView[] }) {
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
            <MoreButton
              about={`request ${request.request_id}`}
              isOpen={isOpen}
              onToggle={() => setOpen(isOpen ? null : request.request_id)}
            />,
          ],
          below: isOpen && (
            <>
              <Details request={request} />
              {request.verification_id && <Verification tenantId={tenantId} request={request} />}
            </>
          ),
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
  return <Pseudonym subject={subject} whyNone="Not about a user, or about nobody who is enrolled" />
}

/** The facts of the verification that a request made or asked for, as far as they are kept. */
function Verification({ tenantId, request }: { tenantId: string; request: RequestView }) {
  const { verification_id: id, environment } = request
  const { value, error } = useData(tenantAddress(tenantId, 'GET /verification', { id: id!, environment }))
  const href = useTenantHref(tenantId)
  if (value === null) return error ? <Problem message={error} /> : <Loading />
  if (value.facts === null) return <p class="muted">The verification is not kept any more.</p>
  return (
    <>
      <EntryInWords tenantId={tenantId} facts={value.facts} />
      {environment === 'production' && (
        <p>
          <a href={href(`audit?id=${id}`)}>Its entry in the audit log</a>
        </p>
      )}
    </>
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
