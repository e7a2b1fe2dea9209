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
  /** Name for screen readers. */
  label: string
  columns: ReadonlyArray<Column<Row>>
  rows: readonly Row[]
  keyOf: (row: Row) => string | number
  /** Buttons of a row, in a last column. */
  actions?: (row: Row) => ComponentChildren
  /** Stands below a row, over all columns. */
  below?: (row: Row) => ComponentChildren
  /** Shown instead of a table without rows. */
  empty?: ComponentChildren
  /** Whether the table has only a few narrow columns of figures, and so stays a table on a phone. */
  isFigures?: boolean
  /** Whether the table has many rows: on a phone, each row is then a few lines of text without the names of the columns. */
  isLog?: boolean
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
    <section
      class={`wide ${props.isFigures ? 'figures' : props.isLog ? 'log' : ''}`}
      tabIndex={0}
      aria-label={props.label}
    >
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
          {rows.map((row) => {
            const below = props.below?.(row)
            return (
              <>
                <tr key={keyOf(row)}>
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
                  <tr key={`${keyOf(row)}-below`} class="below">
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
