/** What happens now: requests, verdicts, latencies, scores, and how much of the rate limit is left. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { TenantOverview, TrafficSlot, TrafficView } from './api.js'
import { Chart } from './chart.js'
import { Card, Facts, Loading, Problem } from './parts.js'
import { useData } from './use-data.js'

const REFRESH_MS = 5000
const STAGES = [
  'total',
  'auth',
  'queue',
  'decode',
  'detect',
  'align',
  'liveness',
  'embed',
  'match',
  'store',
  'sign',
]

export function OverviewPage({ tenantId }: { tenantId: string }) {
  const [window, setWindow] = useState<'hour' | 'day'>('hour')
  const [stage, setStage] = useState('total')
  const tenant = useData<TenantOverview>(`/tenants/${tenantId}`, REFRESH_MS)
  const traffic = useData<TrafficView>(`/tenants/${tenantId}/traffic?window=${window}`, REFRESH_MS)
  const theme = useThemeChange()
  const series = useMemo(() => traffic.value && timeline(traffic.value, stage), [traffic.value, stage, theme])
  const scores = useMemo(() => traffic.value && distribution(traffic.value.slots), [traffic.value, theme])
  if (!tenant.value || !traffic.value || !series || !scores)
    return (
      <>
        <Problem message={tenant.error ?? traffic.error} />
        <Loading />
      </>
    )
  const total = sum(traffic.value.slots)
  const live = tenant.value.keys.filter(({ state }) => state === 'active' || state === 'grace')
  return (
    <>
      <div class="toolbar">
        {(['hour', 'day'] as const).map((name) => (
          <button type="button" key={name} aria-pressed={window === name} onClick={() => setWindow(name)}>
            {name === 'hour' ? 'Last hour' : 'Last day'}
          </button>
        ))}
      </div>
      <div class="tiles">
        <Tile name="Requests" value={String(total.production + total.sandbox)} />
        <Tile name="Approved" value={String(total.approved)} />
        <Tile name="Rejected" value={String(total.rejected)} />
        <Tile name="Errors" value={String(total.errors)} />
      </div>
      <div class="grid">
        <Card title="Requests">
          <Chart
            title="Requests over time, by environment"
            x={series.x}
            values={series.requests}
            lines={[
              { label: 'Production', colour: '--accent' },
              { label: 'Sandbox', colour: '--muted' },
              { label: 'Errors', colour: '--bad' },
            ]}
          />
        </Card>
        <Card title="Verdicts">
          <Chart
            title="Verdicts over time"
            x={series.x}
            values={series.verdicts}
            lines={[
              { label: 'Approved', colour: '--good' },
              { label: 'Rejected', colour: '--bad' },
            ]}
          />
        </Card>
        <Card
          title="Latency, ms"
          actions={
            <label class="inline">
              Stage{' '}
              <select value={stage} onChange={(event) => setStage(event.currentTarget.value)}>
                {STAGES.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </label>
          }
        >
          <Chart
            title={`Latency percentiles of stage ${stage}`}
            x={series.x}
            values={series.latency}
            lines={[
              { label: 'p50', colour: '--good' },
              { label: 'p95', colour: '--warn' },
              { label: 'p99', colour: '--bad' },
            ]}
          />
        </Card>
        <Card title="Scores in production">
          <Chart
            title={`Distribution of scores; the threshold is ${tenant.value.threshold}`}
            x={scores.x}
            values={scores.counts}
            numeric
            mark={tenant.value.threshold}
            lines={[{ label: 'Verdicts', colour: '--accent', bars: true }]}
          />
          <p class="muted">
            The line marks the threshold {tenant.value.threshold}: a false match rate of{' '}
            {tenant.value.fmr_in_force}.
          </p>
        </Card>
        <Card title="Rate limit">
          {live.map(({ id, type, hint, rate }) => (
            <div class="meter" key={id}>
              <label for={`rate-${id}`}>
                {type} …{hint}: {rate.remaining} of {rate.burst} left, {rate.per_second}/s sustained
              </label>
              <meter id={`rate-${id}`} min={0} max={rate.burst} value={rate.burst - rate.remaining} />
            </div>
          ))}
        </Card>
        <Card title="Tenant">
          <Facts
            rows={[
              ['Id', <code>{tenant.value.id}</code>],
              ['Production', <code>{tenant.value.urls.production}</code>],
              ['Sandbox', <code>{tenant.value.urls.sandbox}</code>],
              ['Model pack', tenant.value.model],
              ['Production key', tenant.value.production_key],
            ]}
          />
        </Card>
      </div>
    </>
  )
}

function Tile({ name, value }: { name: string; value: string }) {
  return (
    <div class="tile">
      <span class="muted">{name}</span>
      <strong>{value}</strong>
    </div>
  )
}

function useThemeChange(): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const bump = () => setCount((before) => before + 1)
    addEventListener('themechange', bump)
    return () => removeEventListener('themechange', bump)
  }, [])
  return count
}

function sum(slots: TrafficSlot[]) {
  const total = { production: 0, sandbox: 0, approved: 0, rejected: 0, errors: 0 }
  for (const slot of slots)
    for (const name of Object.keys(total) as Array<keyof typeof total>) total[name] += slot[name]
  return total
}

/** Steps without requests are zeros for counts and gaps for latencies. */
function timeline({ now, step_ms, span_ms, slots }: TrafficView, stage: string) {
  const bySlot = new Map(slots.map((slot) => [slot.at, slot]))
  const last = Math.floor(now / step_ms) * step_ms
  const steps = Array.from({ length: span_ms / step_ms }, (_, i) => last - span_ms + (i + 1) * step_ms)
  const pick = (read: (slot: TrafficSlot) => number) =>
    steps.map((at) => (bySlot.has(at) ? read(bySlot.get(at)!) : 0))
  const percentile = (index: number) => steps.map((at) => bySlot.get(at)?.latencies[stage]?.[index] ?? null)
  return {
    x: steps.map((at) => at / 1000),
    requests: [pick((slot) => slot.production), pick((slot) => slot.sandbox), pick((slot) => slot.errors)],
    verdicts: [pick((slot) => slot.approved), pick((slot) => slot.rejected)],
    latency: [percentile(0), percentile(1), percentile(2)],
  }
}

function distribution(slots: TrafficSlot[]) {
  const bins = slots[0]?.scores.length ?? 50
  const counts = Array.from({ length: bins }, (_, i) => slots.reduce((n, { scores }) => n + scores[i]!, 0))
  return { x: counts.map((_, i) => (i + 0.5) / bins), counts: [counts] }
}
