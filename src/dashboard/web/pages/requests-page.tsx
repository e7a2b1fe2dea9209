/** The page of the request log: the latest requests in either environment and how they ended. The address holds the filters. */
import type { Environment, QueryOf, RequestPage, RequestView, TenantRoutes } from '../../contract.js'
import { AUDIT_OUTCOMES } from '../../lib/audit-contract.js'
import { useAddressQuery } from '../base/address-query.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { useData } from '../base/data.js'
import { Button, Choice, ENVIRONMENTS, Field, Segments } from '../base/form.js'
import { Badge, Card, Empty, type Fact, Facts, Loading, Problem } from '../base/parts.js'
import { useTenantHref } from '../base/session.js'
import { Time } from '../base/times.js'
import { EntryInWords } from '../entry-in-words.js'
import { ALL, FilterForm, LogTable, Pseudonym, useLog, VerdictBadge } from '../log-parts.js'

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
const OUTCOMES = [ALL, ...AUDIT_OUTCOMES.map((name) => [name, name === 'failed' ? 'refused' : name] as const)]
/** Milliseconds between two loads. Entries are written up to 2 s after their request. */
const REFRESH_MS = 5000

export function RequestsPage({ tenantId }: { tenantId: string }) {
  const log = useLog(['outcome', 'code', 'endpoint'])
  const { filters } = log
  const [{ environment: named }] = useAddressQuery(['environment'])
  const environment: Environment = named === 'sandbox' ? 'sandbox' : 'production'
  const query = { ...filters, environment } as QueryOf<TenantRoutes['GET /requests']>
  // A page of older requests does not change any more.
  const page = useData(
    tenantAddress(tenantId, 'GET /requests', query),
    filters.before ? undefined : REFRESH_MS,
  )
  // An id is looked for in both environments.
  const found = filters.id ? page.value?.requests[0] : undefined
  return (
    <>
      <div class="toolbar">
        <Segments
          label="Environment"
          options={ENVIRONMENTS}
          value={found?.environment ?? environment}
          onChange={(chosen) => log.apply({ environment: chosen, subject: '', id: '' })}
        />
        <Button text="Refresh" onClick={page.reload} />
      </div>
      <Card title="Latest requests" hint={page.value && keptText(page.value.kept)}>
        <FilterForm
          key={JSON.stringify(log.filters)}
          log={log}
          idHint="also your own X-Request-Id"
          findSubject={(user_id) => callTenant(tenantId, 'POST /requests/subject', { user_id, environment })}
        >
          <Choice id="outcome" label="Outcome" options={OUTCOMES} initial={filters.outcome} />
          <Field
            id="code"
            label="Code or reason"
            maxLength={64}
            placeholder="such as image_unreadable"
            defaultValue={filters.code}
          />
          <Choice id="endpoint" label="Endpoint" options={[ALL, ...ENDPOINTS]} initial={filters.endpoint} />
        </FilterForm>
        <LogTable
          label="Requests"
          log={log}
          data={page}
          rowsIn={({ requests }) => requests}
          entries="requests"
          keyOf={({ request_id }) => request_id}
          columns={[
            { name: 'Time', cell: ({ at }) => <Time at={at} /> },
            { name: 'Endpoint', cell: ({ endpoint }) => endpoint },
            { name: 'Outcome', cell: (request) => <Outcome request={request} /> },
            { name: 'Duration', isNumber: true, cell: ({ duration_ms }) => `${duration_ms} ms` },
            { name: 'User', cell: (request) => <User request={request} /> },
            {
              name: 'Request id',
              cell: ({ request_id: id }) => <code title={id}>…{id.slice(-12)}</code>,
            },
          ]}
          about={({ request_id }) => `request ${request_id}`}
          details={(request) => (
            <>
              <Details request={request} />
              {request.verification_id && <Verification tenantId={tenantId} request={request} />}
            </>
          )}
          unknownUser="Unknown in this environment, or erased: requests of an erased user can no longer be found by the user id."
          noMatch={
            <Empty title="Nothing matches">
              Requests with an unknown key belong to no tenant: they appear only in the service's own log.
            </Empty>
          }
          empty={
            <Empty title={`No requests in ${environment === 'sandbox' ? 'the sandbox' : environment} yet`} />
          }
        />
      </Card>
    </>
  )
}

function keptText({ days, entries }: RequestPage['kept']): string {
  if (days === 0) return 'The request log is turned off: COUNTERSIGN_REQUEST_LOG_DAYS is 0.'
  const most = entries.toLocaleString()
  return `Kept for ${days} days: of each environment the last ${most} that were refused or rejected, and the last ${most} others. New requests appear within seconds.`
}

function Outcome({ request: { verdict, code, status, is_replay } }: { request: RequestView }) {
  return (
    <span>
      {verdict ? (
        <VerdictBadge verdict={verdict} />
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
  const { error } = request
  const code = (name: string, value: string | null): Fact | null =>
    value === null ? null : [name, <code>{value}</code>]
  return (
    <Facts
      rows={[
        error && ['Message', error.message],
        error && ['Remedy', error.remedy],
        error && [
          'Explained at',
          <a href={error.doc_url} target="_blank" rel="noreferrer">
            {error.doc_url}
          </a>,
        ],
        code('Request id', request.request_id),
        code('Your X-Request-Id', request.client_request_id),
        code('Verification id', request.verification_id),
        code('Environment', request.environment),
        code('Status', String(request.status)),
        code('Code or reason', request.code),
        code('User', request.user_id ?? request.subject),
        code('API key', request.key_id),
        code('Address', request.address),
      ]}
    />
  )
}
