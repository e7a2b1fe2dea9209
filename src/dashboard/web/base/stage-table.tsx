/** Shows p50, p95 and p99 of every stage in the chosen window. The person can choose a stage for the chart. */

import type { Percentiles } from '../../../features/insight/traffic/latency-counts.js'
import { STAGES } from '../../../verification/stages.js'
import { Button } from './form.js'
import { Empty } from './parts.js'
import { Table } from './table.js'

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
      isFigures
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
