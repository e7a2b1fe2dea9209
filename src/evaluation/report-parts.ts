/** What every report is made of, whatever its format. */

export interface ReportTable {
  columns: string[]
  rows: string[][]
  /** Shown above it. */
  caption?: string
}

export interface ReportSection {
  title: string
  paragraphs: string[]
  tables: ReportTable[]
  /** Drawn where a format can. */
  figure?: 'det' | 'scores' | 'discards'
  list?: string[]
}

/** A figure that is shown large. */
export interface KeyFigure {
  name: string
  value: string
  detail: string
}

export interface ReportContent {
  title: string
  subtitle: string
  /** The sentence that a hurried reader takes away, and whether it is good news. */
  verdict: { text: string; state: 'kept' | 'open' | 'broken' }
  keyFigures: KeyFigure[]
  sections: ReportSection[]
}
