/** Parts of a report in every format. */

export interface ReportTable {
  columns: string[]
  rows: string[][]
  /** Title above the table. */
  caption?: string
}

/** A table with a row for each item, made of the heads of its columns and the texts in them. */
export function tableOf<Item>(
  items: readonly Item[],
  columns: ReadonlyArray<readonly [head: string, cell: (item: Item) => string]>,
): ReportTable {
  return {
    columns: columns.map(([head]) => head),
    rows: items.map((item) => columns.map(([, cell]) => cell(item))),
  }
}

export interface ReportSection {
  title: string
  paragraphs?: string[]
  tables?: ReportTable[]
  /** Figure, for formats that can draw it. */
  figure?: 'det' | 'scores' | 'discards'
  list?: string[]
}

export interface ReportContent {
  title: string
  subtitle: string
  /** The main sentence of the report, and whether it is good news. */
  verdict: { text: string; state: 'kept' | 'open' | 'broken' }
  /** Values that are shown large. */
  keyFigures: Array<{ name: string; value: string; detail: string }>
  sections: ReportSection[]
}
