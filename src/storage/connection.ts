/** What the statements of a Store need of a database: SQLite answers at once, PostgreSQL over a network. */

type Answer<T> = T | Promise<T>

export interface Statement<Parameters extends unknown[], Row> {
  get(...parameters: Parameters): Answer<Row | undefined>
  all(...parameters: Parameters): Answer<Row[]>
  /**
   * Within a transaction it is done before all that is asked for later, whether it is waited for or not; and when it fails, so does
   * the transaction.
   */
  run(...parameters: Parameters): Answer<{ changes: number }>
  /** The same, whose rows are their first column. */
  pluck(): Statement<Parameters, Row>
}

/** `brief`: finds few rows by an index, so that others may wait behind it. */
export type StatementKind = 'brief'

/** Parameters are `?` in order, or `@name` of one object. */
export interface Connection {
  prepare<Parameters extends unknown[] = unknown[], Row = unknown>(
    sql: string,
    kind?: StatementKind,
  ): Statement<Parameters, Row>
}
