/**
 * The part of a database driver that statements need, and methods that are one statement each. SQLite answers at once, PostgreSQL over a
 * network.
 */
import type { Table } from './table.js'

type Answer<T> = T | Promise<T>

export interface Statement<Parameters extends unknown[], Row> {
  get(...parameters: Parameters): Answer<Row | undefined>
  all(...parameters: Parameters): Answer<Row[]>
  /**
   * Writes. Within a transaction the write happens before every statement that is sent later, whether the caller awaits it or not; when it
   * fails, the transaction fails.
   */
  run(...parameters: Parameters): Answer<{ changes: number }>
}

/** A connection that only reads. It prepares statements, whose parameters are `?` in order, or `@name` of one object. */
export interface ReadConnection {
  /** Makes the SQL of a text field in the JSON of an audit entry. Undefined for SQLite, which has functions for JSON that accept any text. */
  readonly entryText?: (entry: string, field: string) => string
  prepare<Parameters extends unknown[] = unknown[], Row = unknown>(
    sql: string,
    kind?: StatementKind,
  ): Pick<Statement<Parameters, Row>, 'get' | 'all'>
}

/** `brief` marks a statement that finds few rows by an index, so that other statements may wait behind it on one connection. */
export type StatementKind = 'brief'

export interface Connection extends ReadConnection {
  /**
   * Clause at the end of a SELECT within a write: locks the rows, and leaves out those that other transactions hold instead of waiting for
   * them. Undefined for SQLite, which has one writer.
   */
  readonly skipLocked?: string
  prepare<Parameters extends unknown[] = unknown[], Row = unknown>(
    sql: string,
    kind?: StatementKind,
  ): Statement<Parameters, Row>
}

/** Makes something of a key when it is first asked for, such as a statement of which there are several. */
export function onceEach<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new Map<Key, Made>()
  return (key) => {
    const found = made.get(key) ?? make(key)
    made.set(key, found)
    return found
  }
}

/** Makes methods that each read by one statement, which is prepared once. Their parameters are those of the statement. */
export function reading(database: ReadConnection) {
  const row = <Given extends unknown[], Row>(sql: string, kind?: StatementKind) => {
    const statement = database.prepare<Given, Row>(sql, kind)
    return async (...given: Given) => statement.get(...given)
  }
  const rows = <Given extends unknown[], Row>(sql: string, kind?: StatementKind) => {
    const statement = database.prepare<Given, Row>(sql, kind)
    return async (...given: Given) => statement.all(...given)
  }
  return {
    /** The first row; undefined for none. */
    row,
    rows,
    /** How many rows there are. @param from SQL that begins with FROM */
    count: <Given extends unknown[]>(from: string) => {
      const statement = database.prepare<Given, { count: number }>(`SELECT count(*) AS count ${from}`)
      return async (...given: Given) => (await statement.get(...given))!.count
    },
    /** Makes methods that read whole records of a table. Their SQL follows the name of the table. */
    from: <Own extends object>({ name, fields }: Table<Own>) => ({
      row: <Given extends unknown[]>(rest: string, kind?: StatementKind) =>
        row<Given, Own>(`SELECT ${fields} FROM ${name} ${rest}`, kind),
      rows: <Given extends unknown[]>(rest: string, kind?: StatementKind) =>
        rows<Given, Own>(`SELECT ${fields} FROM ${name} ${rest}`, kind),
    }),
  }
}

/** Makes methods that each write by one statement. Those without an answer do not wait for the database, as `Statement.run` says. */
export function writing(database: Connection) {
  const run = <Given extends unknown[]>(sql: string) => {
    const statement = database.prepare<Given>(sql)
    return async (...given: Given) => void statement.run(...given)
  }
  return {
    run,
    /** Answers whether a row was changed. */
    hits: <Given extends unknown[]>(sql: string) => {
      const statement = database.prepare<Given>(sql)
      return async (...given: Given) => (await statement.run(...given)).changes > 0
    },
    /** Answers with the number of rows that were changed. */
    changes: <Given extends unknown[]>(sql: string) => {
      const statement = database.prepare<Given>(sql)
      return async (...given: Given) => (await statement.run(...given)).changes
    },
    insert: <Own extends object>({ insert }: Table<Own>) => run<[record: Own]>(insert),
    /** Inserts a record, or replaces the one with the same key. */
    put: <Own extends object>({ replace }: Table<Own>) => run<[record: Own]>(replace),
    /** Sets one field of the row with an id. */
    set: <Own extends { id: string }, Field extends keyof Own & string>(
      { name, columnOf }: Table<Own>,
      field: Field,
    ) => {
      const statement = database.prepare(`UPDATE ${name} SET ${columnOf[field]} = ? WHERE id = ?`)
      return async (id: string, value: Own[Field]) => void statement.run(value, id)
    },
  }
}
