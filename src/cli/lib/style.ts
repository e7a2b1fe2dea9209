/** Color and layout for people: only on a terminal, or where FORCE_COLOR asks for it. */
import { styleText } from 'node:util'
import { Help } from 'commander'

export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red'

/** A cell of a table: plain text, or text with a style. */
export type Cell = string | { text: string; style: Style }

/** A name with its value. */
export type Field = readonly [string, Cell]

const GAP = '  '
/** Below this width a last column is harder to read than lines of its own. */
const MIN_COLUMN = 30

/** The stream to write to: stdout or stderr. */
type Output = Pick<typeof process.stdout, 'isTTY' | 'hasColors'>

/** Follows https://no-color.org and https://force-color.org; NO_COLOR wins. */
function showsColour(stream: Output): boolean {
  const { NO_COLOR, FORCE_COLOR } = process.env
  if (NO_COLOR) return false
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return stream.isTTY && stream.hasColors()
}

export function paint(style: Style, text: string, stream: Output = process.stdout): string {
  // Pass the stream: Node 20 ignores it, and later versions would ask stdout for text on stderr.
  return showsColour(stream) ? styleText(style, text, { validateStream: false }) : text
}

/** Replaces control characters and those that change the direction of writing: a text may come from a file. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, ' ')
}

/** Prints a table under the names of its columns. */
export function listing(names: string[], rows: Cell[][]): string {
  return table([names.map((text) => ({ text, style: 'bold' })), ...rows])
}

/** Prints a line for each name and its value. */
export function fields(rows: Field[]): string {
  return table(rows.map(([text, value]) => [{ text, style: 'dim' }, value]))
}

/** Left-aligned columns, two spaces apart. On a terminal, text too long for its column continues below itself. */
export function table(rows: Cell[][]): string {
  const textOf = (cell: Cell) => printable(typeof cell === 'string' ? cell : cell.text)
  const natural = rows.reduce<number[]>(
    (widest, row) => row.map((cell, column) => Math.max(widest[column] ?? 0, textOf(cell).length)),
    [],
  )
  const { isTTY, columns } = process.stdout
  const terminal = isTTY && columns ? columns : Number.POSITIVE_INFINITY
  const widths = widthsFor(natural, terminal)
  const last = widths.length - 1
  const indent = indentOf(widths.slice(0, last))
  const styled = (cell: Cell, text: string) => (typeof cell === 'string' ? text : paint(cell.style, text))
  return rows
    .flatMap((row) => {
      const texts = row.map(textOf)
      // The other columns may leave no room for the last one.
      const isUnder = indent + Math.min(texts[last]!.length, widths[last]!) > terminal
      const under = isUnder ? broken(texts[last]!, terminal - 2 * GAP.length) : []
      const beside = row.slice(0, isUnder ? last : undefined)
      const pieces = beside.map((_, column) => broken(texts[column]!, widths[column]!))
      const lines = Array.from({ length: Math.max(...pieces.map(({ length }) => length)) }, (_, line) =>
        beside
          .map((cell, column) => {
            const piece = pieces[column]![line] ?? ''
            const padded = column === last ? piece : piece.padEnd(widths[column]!)
            return piece === '' ? padded : styled(cell, padded)
          })
          .join(GAP)
          .trimEnd(),
      )
      return [...lines, ...under.map((line) => GAP + GAP + styled(row[last]!, line))]
    })
    .join('\n')
}

const indentOf = (widths: number[]) => widths.reduce((sum, width) => sum + width + GAP.length, 0)

/** Narrows the widest columns to the terminal. The last column keeps a readable width, or goes below its row. */
function widthsFor(natural: number[], terminal: number): number[] {
  const before = natural.slice(0, -1)
  const wanted = natural.at(-1)!
  const least = Math.min(wanted, MIN_COLUMN)
  const beside = narrowed(before, terminal - least, MIN_COLUMN)
  if (beside) return [...beside, Math.min(wanted, terminal - indentOf(beside))]
  return [...(narrowed(before, terminal, 1) ?? before), wanted]
}

/** The widths within `room`, none narrowed to less than `least`; null where that cannot be. */
function narrowed(natural: number[], room: number, least: number): number[] | null {
  const widths = [...natural]
  for (;;) {
    if (indentOf(widths) <= room) return widths
    const widest = Math.max(...widths)
    if (widest <= least) return null
    widths[widths.indexOf(widest)] = widest - 1
  }
}

/** Lines of at most `width`, broken between words where that is possible. */
function broken(text: string, width: number): string[] {
  if (text.length <= width) return [text]
  const help = new Help()
  // Commander leaves narrow columns unbroken, which then run past the edge.
  help.minWidthToWrap = 1
  return help
    .boxWrap(text, width)
    .split('\n')
    .flatMap((line) => line.match(new RegExp(`.{1,${width}}`, 'g')) ?? [])
}

/** `1 user`, `2 users`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
