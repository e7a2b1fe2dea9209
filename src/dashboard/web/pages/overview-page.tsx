/** The overview of a tenant: requests, verdicts, latencies, scores, and the rest of the rate limit. */
import { useMemo, useState } from 'preact/hooks'
import { CALL_KINDS, type CallKind } from '../../../contract/call-kinds.js'
import type { Environment, KeyView, TenantOverview, TrafficView, TrafficWindow } from '../../contract.js'
import { useAddressQuery } from '../base/address-query.js'
import { tenantAddress } from '../base/api.js'
import { Chart } from '../base/chart.js'
import { useData } from '../base/data.js'
import { ENVIRONMENTS, Segments } from '../base/form.js'
import { Card, Empty, Facts, Problem, Tile, Waiting } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { useShownZone } from '../base/times.js'
import { CodesCard, StageTable } from '../cards/traffic-tables.js'
import { distribution, sum, type Total, timeline } from '../traffic-series.js'

const REFRESH_MS = 5000
const WINDOW_TEXT = {
  quarter: '15 minutes',
  hour: '1 hour',
  day: '24 hours',
  week: '7 days',
} satisfies Record<TrafficWindow, string>
const WINDOWS = Object.entries(WINDOW_TEXT) as Array<[TrafficWindow, string]>
const KIND_TEXT: Record<CallKind, string> = {
  verify: 'Verify',
  verify_challenge: 'Verify, challenge',
  enroll: 'Enroll',
  enroll_challenge: 'Enroll, challenge',
  other: 'Other calls',
}

export function OverviewPage(props: { tenantId: string }) {
  return useRights().tenant('GET /traffic') ? <WithTraffic {...props} /> : <WithoutTraffic {...props} />
}

function WithoutTraffic({ tenantId }: { tenantId: string }) {
  const tenant = useData(tenantAddress(tenantId, 'GET /'), REFRESH_MS)
  return tenant.value ? <TenantCard tenant={tenant.value} /> : <Waiting data={tenant} />
}

function WithTraffic({ tenantId }: { tenantId: string }) {
  const [query, change] = useAddressQuery(['environment', 'window'])
  const environment: Environment = query.environment === 'sandbox' ? 'sandbox' : 'production'
  const window = WINDOWS.find(([name]) => name === query.window)?.[0] ?? 'hour'
  const zone = useShownZone()
  const tenant = useData(tenantAddress(tenantId, 'GET /'), REFRESH_MS)
  const traffic = useData(tenantAddress(tenantId, 'GET /traffic', { window }), REFRESH_MS)
  const retry = () => {
    tenant.reload()
    traffic.reload()
  }
  if (!tenant.value || !traffic.value) return <Waiting data={tenant.error === null ? traffic : tenant} />
  const total = sum(traffic.value.slots, environment)
  const shown = { tenant: tenant.value, traffic: traffic.value, total, environment }
  return (
    <>
      <Problem message={tenant.error ?? traffic.error} onRetry={retry} />
      <div class="toolbar">
        <Segments
          label="Environment"
          options={ENVIRONMENTS}
          value={environment}
          onChange={(chosen) => change({ environment: chosen })}
        />
        <Segments
          label="Window"
          options={WINDOWS}
          value={window}
          onChange={(chosen) => change({ window: chosen })}
        />
        <span class="muted small">Times in {zone}</span>
      </div>
      {total.requests === 0 ? (
        <div class="grid">
          <NothingYet {...shown} />
          <div>
            <RateLimit {...shown} />
            <TenantCard tenant={tenant.value} />
          </div>
        </div>
      ) : (
        <>
          <Tiles total={total} />
          <Charts {...shown} />
        </>
      )}
    </>
  )
}

function TenantCard({ tenant }: { tenant: TenantOverview }) {
  return (
    <Card title="Tenant">
      <Facts
        rows={[
          ['Id', <code>{tenant.id}</code>],
          ['Production', <code>{tenant.urls.production}</code>],
          ['Sandbox', <code>{tenant.urls.sandbox}</code>],
          ['Production key', tenant.production_key],
          ['Model pack', tenant.model],
        ]}
      />
    </Card>
  )
}

function Tiles({ total }: { total: Total }) {
  const verdicts = total.approved + total.rejected
  const share = (part: number) => (verdicts ? `${Math.round((100 * part) / verdicts)} % of verdicts` : ' ')
  return (
    <div class="tiles">
      <Tile name="Requests" value={total.requests.toLocaleString()} detail=" " />
      <Tile name="Approved" value={total.approved.toLocaleString()} detail={share(total.approved)} />
      <Tile name="Rejected" value={total.rejected.toLocaleString()} detail={share(total.rejected)} />
      <Tile
        name="Errors"
        value={total.errors.toLocaleString()}
        detail={total.limited ? `${total.limited} over the rate limit` : ' '}
      />
    </div>
  )
}

interface Shown {
  tenant: TenantOverview
  traffic: TrafficView
  total: Total
  environment: Environment
}

function NothingYet({ tenant, traffic, environment }: Shown) {
  const other = environment === 'production' ? 'sandbox' : 'production'
  const elsewhere = sum(traffic.slots, other).requests
  const where = { production: 'in production', sandbox: 'in the sandbox' }
  return (
    <Card title="Traffic">
      <Empty title={`No requests ${where[environment]} within ${WINDOW_TEXT[traffic.window]}`}>
        {elsewhere > 0 && `There were ${elsewhere.toLocaleString()} ${where[other]}. `}
        {tenant.production_key === 'not issued'
          ? 'Send a first verification to the sandbox, from your backend or on the page “Try it”: when it is approved, your production key is issued.'
          : 'Charts of requests, verdicts and latencies appear here with the first one.'}
      </Empty>
    </Card>
  )
}

function Charts(shown: Shown) {
  const { tenant, traffic, total, environment } = shown
  const [stage, setStage] = useState('total')
  const [chosen, setKind] = useState<CallKind | null>(null)
  const latencies = traffic.environments[environment].latencies
  const kinds = CALL_KINDS.filter((kind) => latencies[kind])
  const kind = kinds.find((name) => name === chosen) ?? kinds[0] ?? 'other'
  const { x, requests, verdicts, latency } = useMemo(
    () => timeline(traffic, { environment, kind, stage }),
    [traffic, environment, kind, stage],
  )
  const scores = useMemo(
    () => distribution(traffic.slots, tenant.threshold),
    [traffic.slots, tenant.threshold],
  )
  const step = stepName(traffic.step_ms)
  // Each column stacks its own cards: in common rows, cards of different height would leave gaps.
  return (
    <div class="grid">
      <div>
        <Card title="Requests" hint={`per ${step}`}>
          <Chart
            title={`Requests in ${environment} per ${step}: ${total.requests}, of these ${total.errors} errors`}
            x={x}
            series={requests}
          />
        </Card>
        <Card title="Verdicts" hint={`per ${step}`}>
          <Chart
            title={`Verdicts in ${environment} per ${step}: ${total.approved} approved, ${total.rejected} rejected`}
            x={x}
            series={verdicts}
          />
        </Card>
        {environment === 'production' && (
          <Card
            title="Scores"
            hint={`of verdicts; the threshold stands for a false match rate of ${tenant.fmr_in_force}`}
          >
            <Chart
              title={`Scores of verdicts: ${scores.below} below the threshold of ${tenant.threshold}, ${scores.above} above`}
              x={scores.x}
              series={scores.series}
              xName="Score"
              mark={{ at: tenant.threshold, label: `threshold ${tenant.threshold}` }}
            />
          </Card>
        )}
        <TenantCard tenant={tenant} />
      </div>
      <div>
        <CodesCard tenantId={tenant.id} traffic={traffic} environment={environment} />
        <Card title={`Latency, ${stage}`} hint={`percentiles per ${step}`}>
          <Segments
            label="Kind of call"
            options={kinds.map((name) => [name, KIND_TEXT[name]] as const)}
            value={kind}
            onChange={setKind}
          />
          <Chart
            title={`Latency percentiles of ${KIND_TEXT[kind]}, stage ${stage}`}
            x={x}
            series={latency}
            unit="ms"
          />
        </Card>
        <Card
          title="Latency by stage"
          hint={`in ms; ${KIND_TEXT[kind]}, within ${WINDOW_TEXT[traffic.window]}`}
        >
          <StageTable latencies={latencies[kind] ?? {}} chosen={stage} onChoose={setStage} />
        </Card>
        <RateLimit {...shown} />
      </div>
    </div>
  )
}

function RateLimit({ tenant, total: { limited }, environment }: Shown) {
  const live = tenant.keys.filter(
    ({ type, state }: KeyView) => type === environment && (state === 'active' || state === 'grace'),
  )
  return (
    <Card
      title="Rate limit"
      hint={`It applies to the tenant in this environment, with all keys together. ${limited || 'No'} requests were refused in this window.`}
    >
      {live.length === 0 && <Empty title="No key is active" />}
      {live.map(({ id, type, hint, rate }) => (
        <div class="meter" key={id}>
          <label for={`rate-${id}`}>
            <span>
              {type} <code>…{hint}</code>
            </span>
            <span class="muted">
              {rate.burst - rate.remaining} of {rate.burst} used now
            </span>
          </label>
          <meter
            id={`rate-${id}`}
            min={0}
            max={rate.burst}
            high={rate.burst * 0.8}
            value={rate.burst - rate.remaining}
          />
          <span class="muted small">
            {rate.burst} requests at once, {rate.per_second} a second after that
          </span>
        </div>
      ))}
    </Card>
  )
}

function stepName(stepMs: number): string {
  const seconds = stepMs / 1000
  if (seconds < 60) return `${seconds} seconds`
  return seconds === 60 ? 'minute' : seconds === 3600 ? 'hour' : `${seconds / 3600} hours`
}
