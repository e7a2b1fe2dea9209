/** What happens now: requests, verdicts, latencies, scores, and how much of the rate limit is left. */
import { useMemo, useState } from 'preact/hooks'
import {
  type KeyView,
  type TenantOverview,
  TRAFFIC_WINDOWS,
  type TrafficView,
  type TrafficWindow,
} from '../contract.js'
import { tenantAddress } from './api.js'
import { Chart } from './chart.js'
import { Card, Empty, Facts, Loading, Problem, Segments, timeZone } from './parts.js'
import { StageTable } from './stage-table.js'
import { distribution, sum, type Total, timeline } from './traffic-series.js'
import { useData } from './use-data.js'

const REFRESH_MS = 5000
const WINDOW_TEXT: Record<TrafficWindow, string> = {
  quarter: '15 minutes',
  hour: '1 hour',
  day: '24 hours',
  week: '7 days',
}
const WINDOWS = TRAFFIC_WINDOWS.map((name) => [name, WINDOW_TEXT[name]] as const)

export function OverviewPage({ tenantId }: { tenantId: string }) {
  const [window, setWindow] = useState<TrafficWindow>('hour')
  const tenant = useData(tenantAddress(tenantId, 'GET /'), REFRESH_MS)
  const traffic = useData(tenantAddress(tenantId, 'GET /traffic', { window }), REFRESH_MS)
  const problem = <Problem message={tenant.error ?? traffic.error} />
  if (!tenant.value || !traffic.value)
    return (
      <>
        {problem}
        <Loading />
      </>
    )
  const total = sum(traffic.value.slots)
  return (
    <>
      {problem}
      <div class="toolbar">
        <Segments label="Window" options={WINDOWS} value={window} onChange={setWindow} />
        <span class="muted small">Times in {timeZone()}</span>
      </div>
      <Tiles total={total} />
      {total.production + total.sandbox === 0 ? (
        <div class="grid">
          <NothingYet tenant={tenant.value} window={WINDOW_TEXT[window]} />
          <div>
            <RateLimit keys={tenant.value.keys} limited={total.limited} />
            <TenantCard tenant={tenant.value} />
          </div>
        </div>
      ) : (
        <Charts tenant={tenant.value} traffic={traffic.value} total={total} />
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
      <Tile
        name="Requests"
        value={total.production + total.sandbox}
        detail={`${total.production} production, ${total.sandbox} sandbox`}
      />
      <Tile name="Approved" value={total.approved} detail={share(total.approved)} />
      <Tile name="Rejected" value={total.rejected} detail={share(total.rejected)} />
      <Tile
        name="Errors"
        value={total.errors}
        detail={total.limited ? `${total.limited} over the rate limit` : ' '}
      />
    </div>
  )
}

function Tile({ name, value, detail }: { name: string; value: number; detail: string }) {
  return (
    <div class="tile">
      <span class="muted">{name}</span>
      <strong>{value.toLocaleString()}</strong>
      <span class="muted small">{detail}</span>
    </div>
  )
}

function NothingYet({ tenant, window }: { tenant: TenantOverview; window: string }) {
  return (
    <Card title="Traffic">
      <Empty title={`No requests within ${window}`}>
        {tenant.production_key === 'not issued'
          ? 'Send a first verify to the sandbox, from your backend or on the page “Try it”: when it is approved, your production key is issued.'
          : 'Charts of requests, verdicts, latencies and scores appear here with the first one.'}
      </Empty>
    </Card>
  )
}

function Charts({ tenant, traffic, total }: { tenant: TenantOverview; traffic: TrafficView; total: Total }) {
  const [stage, setStage] = useState('total')
  const { x, requests, verdicts, latency } = useMemo(() => timeline(traffic, stage), [traffic, stage])
  const scores = useMemo(
    () => distribution(traffic.slots, tenant.threshold),
    [traffic.slots, tenant.threshold],
  )
  const step = stepName(traffic.step_ms)
  // Two columns of their own: cards of unlike height side by side would leave gaps.
  return (
    <div class="grid">
      <div>
        <Card title="Requests" hint={`per ${step}`}>
          <Chart
            title={`Requests per ${step}: ${total.production} in production, ${total.sandbox} in the sandbox, ${total.errors} errors`}
            x={x}
            series={requests}
          />
        </Card>
        <Card title="Verdicts" hint={`per ${step}`}>
          <Chart
            title={`Verdicts per ${step}: ${total.approved} approved, ${total.rejected} rejected`}
            x={x}
            series={verdicts}
          />
        </Card>
        <Card
          title="Scores"
          hint={`of verdicts in production; the threshold stands for a false match rate of ${tenant.fmr_in_force}`}
        >
          <Chart
            title={`Scores of verdicts: ${scores.below} below the threshold of ${tenant.threshold}, ${scores.above} above`}
            x={scores.x}
            series={scores.series}
            numeric
            mark={{ at: tenant.threshold, label: `threshold ${tenant.threshold}` }}
          />
        </Card>
        <TenantCard tenant={tenant} />
      </div>
      <div>
        <Card title={`Latency, ${stage}`} hint={`percentiles per ${step}`}>
          <Chart title={`Latency percentiles of stage ${stage}`} x={x} series={latency} unit="ms" />
        </Card>
        <Card title="Latency by stage" hint={`in ms, of all requests within ${WINDOW_TEXT[traffic.window]}`}>
          <StageTable latencies={traffic.latencies} chosen={stage} onChoose={setStage} />
        </Card>
        <RateLimit keys={tenant.keys} limited={total.limited} />
      </div>
    </div>
  )
}

function RateLimit({ keys, limited }: { keys: KeyView[]; limited: number }) {
  const live = keys.filter(({ state }) => state === 'active' || state === 'grace')
  return (
    <Card
      title="Rate limit"
      hint={`Of the tenant in each environment, whichever key asks. ${limited || 'No'} requests were refused in this window.`}
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
