/** Parts of a report in every format. */

export interface ReportTable {
  columns: string[]
  rows: string[][]
  /** Title above the table. */
  caption?: string
}

export interface ReportSection {
  title: string
  paragraphs: string[]
  tables: ReportTable[]
  /** Figure, for formats that can draw it. */
  figure?: 'det' | 'scores' | 'discards'
  list?: string[]
}

/** A value that is shown large. */
export interface KeyFigure {
  name: string
  value: string
  detail: string
}

export interface ReportContent {
  title: string
  subtitle: string
  /** The main sentence of the report, and whether it is good news. */
  verdict: { text: string; state: 'kept' | 'open' | 'broken' }
  keyFigures: KeyFigure[]
  sections: ReportSection[]
}
