/** Colour and layout for people: on a terminal only, or where FORCE_COLOR asks for it. */
import { styleText } from 'node:util'
import { Help } from 'commander'

export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red'

/** A cell of a table: text, or text in a style. */
export type Cell = string | { text: string; style: Style }

/** A name and its value. */
export type Field = readonly [string, Cell]

const GAP = '  '
/** A last column narrower than this is harder to read than lines of its own. */
const LEAST_COLUMN = 30

/** stdout or stderr. */
type Output = Pick<typeof process.stdout, 'isTTY' | 'hasColors'>

/** NO_COLOR and FORCE_COLOR as https://no-color.org and https://force-color.org have them; NO_COLOR is stronger. */
function showsColour(stream: Output): boolean {
  const { NO_COLOR, FORCE_COLOR } = process.env
  if (NO_COLOR) return false
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return stream.isTTY && stream.hasColors()
}

export function paint(style: Style, text: string, stream: Output = process.stdout): string {
  // The stream is judged here: Node 20 does not, and later ones would ask stdout for what goes to stderr.
  return showsColour(stream) ? styleText(style, text, { validateStream: false }) : text
}

/** Without characters that move the cursor or mean something to a terminal: texts come from files, too. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
}

/** A table under column names. */
export function listing(names: string[], rows: Cell[][]): string {
  return table([names.map((text) => ({ text, style: 'bold' })), ...rows])
}

/** A line for each name and its value. */
export function fields(rows: Field[]): string {
  return table(rows.map(([text, value]) => [{ text, style: 'dim' }, value]))
}

/** Left-aligned columns, two spaces apart; on a terminal the last one wraps. */
export function table(rows: Cell[][]): string {
  const textOf = (cell: Cell) => printable(typeof cell === 'string' ? cell : cell.text)
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, column) => Math.max(widest[column] ?? 0, textOf(cell).length)),
    [],
  )
  const indent = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0)
  const last = widths.length - 1
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const text = column === last ? wrap(textOf(cell), indent) : textOf(cell)
          const padded = column === last ? text : text.padEnd(widths[column]!)
          return typeof cell === 'string' ? padded : paint(cell.style, padded)
        })
        .join(GAP)
        .trimEnd(),
    )
    .join('\n')
}

/** Breaks what does not fit beside `indent` columns of the terminal: under itself, or under the row where there is no room. */
function wrap(text: string, indent: number): string {
  const { isTTY, columns } = process.stdout
  if (!isTTY || !columns || indent + text.length <= columns) return text
  const lines = (width: number) => new Help().boxWrap(text, width).split('\n')
  if (columns - indent >= LEAST_COLUMN) return lines(columns - indent).join(`\n${' '.repeat(indent)}`)
  return ['', ...lines(columns - 2 * GAP.length)].join(`\n${GAP}${GAP}`)
}

/** `1 user`, `2 users`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
