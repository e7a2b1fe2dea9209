/** Tables that stay readable on a phone. */
import type { ComponentChildren } from 'preact'

export interface Column {
  name: string
  isNumber?: boolean
  /** Whether long text may wrap; other cells stay on one line. */
  isText?: boolean
  /** Whether only screen readers get the heading. */
  isSilent?: boolean
}

/** A table. On a phone, each row becomes a block of names and values. */
export function Table(props: {
  label: string
  columns: Column[]
  /** Whether the table has only a few narrow columns of figures, and so stays a table on a phone. */
  isFigures?: boolean
  /** Whether the table has many rows: on a phone, each row is then a few lines of text without the names of the columns. */
  isLog?: boolean
  rows: Array<{ key: string | number; cells: ComponentChildren[]; below?: ComponentChildren }>
}) {
  const { columns } = props
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
          {props.rows.map(({ key, cells, below }) => (
            <>
              <tr key={key}>
                {cells.map((cell, index) => {
                  const column = columns[index]!
                  return (
                    <td
                      key={column.name}
                      class={column.isNumber ? 'number' : column.isText ? 'text' : undefined}
                      data-name={column.isSilent ? undefined : column.name}
                    >
                      {cell}
                    </td>
                  )
                })}
              </tr>
              {below && (
                <tr key={`${key}-below`} class="below">
                  <td colSpan={columns.length}>{below}</td>
                </tr>
              )}
            </>
          ))}
        </tbody>
      </table>
    </section>
  )
}
