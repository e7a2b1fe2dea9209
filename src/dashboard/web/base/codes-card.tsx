/** The reasons why requests were refused and verdicts rejected: the count of each code, with a link to its requests. */
import type { Environment, TrafficView } from '../../contract.js'
import { withQuery } from './address-query.js'
import { Badge, Card, Empty, type Tone } from './parts.js'
import { Table } from './table.js'

export function CodesCard(props: { traffic: TrafficView; environment: Environment; requestsHref: string }) {
  const { traffic, environment, requestsHref } = props
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
        isFigures
        rows={rows}
        keyOf={({ kind, code }) => `${kind} ${code}`}
        columns={[
          {
            name: 'Code or reason',
            isText: true,
            cell: ({ code, outcome }) => (
              <a href={withQuery(requestsHref, { environment, code, outcome, from })}>
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
