/** Tables that stay readable on a phone. */
import type { ComponentChildren } from 'preact'

/** A column with its heading. A cell without anything is hidden on a phone. */
export interface Column<Row> {
  name: string
  cell: (row: Row) => ComponentChildren
  isNumber?: boolean
  /** Whether long text may wrap; other cells stay on one line. */
  isText?: boolean
  /** Whether only screen readers get the heading. */
  isSilent?: boolean
}

export interface TableProps<Row> {
  label: string
  columns: ReadonlyArray<Column<Row>>
  rows: readonly Row[]
  /** Identifies a row that has buttons or opens: what is pressed stays with its row when others come and go. By default its place does. */
  keyOf?: (row: Row) => string | number
  /** Buttons of a row, in a last column. */
  actions?: (row: Row) => ComponentChildren
  /** Stands below a row, over all columns. */
  below?: (row: Row) => ComponentChildren
  empty?: ComponentChildren
  /** On a phone, `figures` in a few narrow columns stay a table, and a `log` of many rows has a few lines of text for each. */
  kind?: 'figures' | 'log'
}

/** A table. On a phone, each row becomes a block of names and values. */
export function Table<Row>(props: TableProps<Row>) {
  const { rows, keyOf, actions, empty } = props
  if (rows.length === 0 && empty) return <>{empty}</>
  const columns = [...props.columns]
  if (actions) {
    const cell = (row: Row) => {
      const buttons = actions(row)
      return buttons && <span class="buttons">{buttons}</span>
    }
    columns.push({ name: 'Actions', isSilent: true, cell })
  }
  return (
    <section class={`wide ${props.kind ?? ''}`} tabIndex={0} aria-label={props.label}>
      <table>
        <thead>
          <tr>
            {columns.map(({ name, isNumber, isSilent }) => (
              <th key={name} scope="col" class={isNumber ? 'number' : undefined}>
                {isSilent ? <span class="for-readers">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => {
            const below = props.below?.(row)
            const key = keyOf?.(row) ?? place
            return (
              <>
                <tr key={key}>
                  {columns.map(({ name, cell, isNumber, isText, isSilent }) => (
                    <td
                      key={name}
                      class={isNumber ? 'number' : isText ? 'text' : undefined}
                      data-name={isSilent ? undefined : name}
                    >
                      {cell(row)}
                    </td>
                  ))}
                </tr>
                {below && (
                  <tr key={`${key}-below`} class="below">
                    <td colSpan={columns.length}>{below}</td>
                  </tr>
                )}
              </>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}
