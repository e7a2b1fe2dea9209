/** The part of a database driver that statements need: SQLite answers at once, PostgreSQL over a network. */

type Answer<T> = T | Promise<T>

export interface Statement<Parameters extends unknown[], Row> {
  get(...parameters: Parameters): Answer<Row | undefined>
  all(...parameters: Parameters): Answer<Row[]>
  /**
   * Writes. Within a transaction the write happens before every statement that is sent later, whether the caller awaits it or not; when it
   * fails, the transaction fails.
   */
  run(...parameters: Parameters): Answer<{ changes: number }>
  /** The same statement, whose rows are the values of their first column. */
  pluck(): Statement<Parameters, Row>
}

/** A connection that only reads. */
export interface ReadConnection {
  prepare<Parameters extends unknown[] = unknown[], Row = unknown>(
    sql: string,
    kind?: StatementKind,
  ): Pick<Statement<Parameters, Row>, 'get' | 'all'>
}

/** `brief` marks a statement that finds few rows by an index, so that other statements may wait behind it on one connection. */
export type StatementKind = 'brief'

/** Prepares statements. Their parameters are `?` in order, or `@name` of one object. */
export interface Connection {
  /**
   * Clause at the end of a SELECT within a write: locks the rows, and leaves out those that other transactions hold instead of waiting for
   * them. Undefined for SQLite, which has one writer.
   */
  readonly skipLocked?: string
  /** Makes the SQL of a text field in the JSON of an audit entry. Undefined for SQLite, which has functions for JSON that accept any text. */
  readonly entryText?: (entry: string, field: string) => string
  prepare<Parameters extends unknown[] = unknown[], Row = unknown>(
    sql: string,
    kind?: StatementKind,
  ): Statement<Parameters, Row>
}
