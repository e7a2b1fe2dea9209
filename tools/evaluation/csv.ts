/** Reads tables of spreadsheets: a line of column names, then cells, quoted if they hold a comma (RFC 4180). */

export interface Table {
  /** Column names in lower case. */
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
