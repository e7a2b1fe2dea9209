/** Shows p50, p95 and p99 of every stage in the chosen window. The person can choose a stage for the chart. */

import type { Percentiles } from '../../../features/insight/traffic/latency-counts.js'
import { STAGES } from '../../../verification/stages.js'
import { Button } from './form.js'
import { Empty } from './parts.js'
import { Table } from './table.js'

const COLUMNS = [
  { name: 'Stage' },
  { name: 'p50', isNumber: true },
  { name: 'p95', isNumber: true },
  { name: 'p99', isNumber: true },
]

export function StageTable(props: {
  latencies: Record<string, Percentiles>
  chosen: string
  onChoose: (stage: string) => void
}) {
  const { latencies, chosen } = props
  const stages = [...STAGES, 'total'].filter((stage) => latencies[stage])
  if (stages.length === 0) return <Empty title="No request was measured" />
  return (
    <Table
      label="Latency by stage"
      isFigures
      columns={COLUMNS}
      rows={stages.map((stage) => ({
        key: stage,
        cells: [
          <Button
            text={stage}
            class="link"
            aria-pressed={stage === chosen}
            onClick={() => props.onChoose(stage)}
          />,
          ...latencies[stage]!.map((ms) => ms.toFixed(ms < 10 ? 2 : 1)),
        ],
      }))}
    />
  )
}
