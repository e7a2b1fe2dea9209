/** Tables that people make with a spreadsheet: a line of column names, then cells, quoted where they hold a comma (RFC 4180). */

export interface Table {
  /** Lower case. */
  columns: string[]
  rows: string[][]
}

export function parseCsv(text: string): Table {
  const [header = [], ...rows] = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map(cellsOf)
  return { columns: header.map((name) => name.toLowerCase()), rows }
}

function cellsOf(line: string): string[] {
  return [...`,${line}`.matchAll(/,(?:\s*"((?:[^"]|"")*)"\s*|([^,]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? plain!.trim() : quoted.replaceAll('""', '"'),
  )
}
