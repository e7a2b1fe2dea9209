/** The figures of a chart as a table, for people who cannot see the chart or want the numbers. */
import { useState } from 'preact/hooks'
import { Empty } from './parts.js'
import { Table } from './table.js'

/** Steps at which every series is 0 or missing are left out. @param props.nameOf returns the text of a step, such as a time */
export function ChartTable(props: {
  title: string
  stepName: string
  x: number[]
  nameOf: (at: number) => string
  series: Array<{ label: string; values: Array<number | null> }>
  unit: string | undefined
}) {
  const { title, stepName, x, nameOf, series, unit } = props
  // A closed table is not drawn: it can have hundreds of rows, and follows the chart every few seconds.
  const [isOpen, setOpen] = useState(false)
  const steps = isOpen
    ? x.flatMap((at, i) => (series.some(({ values }) => values[i]) ? [{ at, i }] : []))
    : []
  return (
    <details class="chart-table muted small" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Show as table<span class="for-readers">: {title}</span>
      </summary>
      {isOpen && (
        <Table
          label={title}
          isFigures
          rows={steps}
          keyOf={({ at }) => at}
          columns={[
            { name: stepName, cell: ({ at }) => nameOf(at) },
            ...series.map(({ label, values }) => ({
              name: unit ? `${label}, ${unit}` : label,
              isNumber: true,
              cell: ({ i }: { i: number }) => values[i]?.toLocaleString() ?? '–',
            })),
          ]}
          empty={<Empty title="No figures yet" />}
        />
      )}
    </details>
  )
}
