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
const MIN_COLUMN = 30

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

/** Replaces characters that move the cursor, mean something to a terminal or change the direction of writing: texts come from files, too. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, ' ')
}

/** A table under column names. */
export function listing(names: string[], rows: Cell[][]): string {
  return table([names.map((text) => ({ text, style: 'bold' })), ...rows])
}

/** A line for each name and its value. */
export function fields(rows: Field[]): string {
  return table(rows.map(([text, value]) => [{ text, style: 'dim' }, value]))
}

/** Left-aligned columns, two spaces apart; on a terminal what does not fit into its column is broken, under itself. */
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
      // Beside the others the last one may have no room at all.
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

/** Takes from the widest columns what the terminal lacks; the last one keeps a readable width, or is put under its row. */
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
