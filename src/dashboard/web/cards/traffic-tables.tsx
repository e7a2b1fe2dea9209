/** Tables of a tenant's traffic: the reasons why requests were refused and verdicts rejected, and the latency of each stage. */
import type { Percentiles } from '../../../features/insight/traffic/latency-counts.js'
import { STAGES } from '../../../verification/stages.js'
import type { Environment, TrafficView } from '../../contract.js'
import { withQuery } from '../base/address-query.js'
import { Button } from '../base/form.js'
import { Badge, Card, Empty, type Tone } from '../base/parts.js'
import { useTenantHref } from '../base/session.js'
import { Table } from '../base/table.js'

/** The count of each code and reason, with a link to its requests. */
export function CodesCard(props: { tenantId: string; traffic: TrafficView; environment: Environment }) {
  const { traffic, environment } = props
  const href = useTenantHref(props.tenantId)
  const { codes, reasons } = traffic.environments[environment]
  const from = new Date(traffic.now - traffic.span_ms).toISOString()
  const rowsOf = (counts: Record<string, number>, kind: string, tone: Tone, outcome: string) =>
    Object.entries(counts).map(([code, count]) => ({ code, count, kind, tone, outcome }))
  const rows = [
    ...rowsOf(reasons, 'rejection', 'bad', 'rejected'),
    ...rowsOf(codes, 'error', 'warn', 'failed'),
  ].sort((a, b) => b.count - a.count)
  return (
    <Card title="Errors and rejections" hint="Each leads to the requests behind it.">
      <Table
        label="Errors and rejections by code"
        kind="figures"
        rows={rows}
        keyOf={({ kind, code }) => `${kind} ${code}`}
        columns={[
          {
            name: 'Code or reason',
            isText: true,
            cell: ({ code, outcome }) => (
              <a href={withQuery(href('requests'), { environment, code, outcome, from })}>
                <code>{code}</code>
              </a>
            ),
          },
          { name: 'Kind', cell: ({ kind, tone }) => <Badge tone={tone}>{kind}</Badge> },
          { name: 'Requests', isNumber: true, cell: ({ count }) => count.toLocaleString() },
        ]}
        empty={<Empty title="None in this window" />}
      />
    </Card>
  )
}

/** Shows p50, p95 and p99 of every stage in the chosen window. The person can choose a stage for the chart. */
export function StageTable(props: {
  latencies: Record<string, Percentiles>
  chosen: string
  onChoose: (stage: string) => void
}) {
  const { latencies, chosen } = props
  const stages = [...STAGES, 'total'].filter((stage) => latencies[stage])
  const percentile = (name: string, index: number) => ({
    name,
    isNumber: true,
    cell: (stage: string) => {
      const ms = latencies[stage]![index]!
      return ms.toFixed(ms < 10 ? 2 : 1)
    },
  })
  return (
    <Table
      label="Latency by stage"
      kind="figures"
      rows={stages}
      keyOf={(stage) => stage}
      columns={[
        {
          name: 'Stage',
          cell: (stage) => (
            <Button
              text={stage}
              class="link"
              aria-pressed={stage === chosen}
              onClick={() => props.onChoose(stage)}
            />
          ),
        },
        percentile('p50', 0),
        percentile('p95', 1),
        percentile('p99', 2),
      ]}
      empty={<Empty title="No request was measured" />}
    />
  )
}
