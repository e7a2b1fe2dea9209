/** A table with its statements: the columns of its records, and the SQL that names them. */

export interface Table<Row = unknown> {
  name: string
  columnOf: Record<keyof Row & string, string>
  /** The columns under the names of the fields, to follow SELECT or RETURNING. */
  fields: string
  /** Statement that inserts a record, given by the names of its fields. */
  insert: string
  /** The same statement, which replaces a row with the same key. */
  replace: string
}

/**
 * Makes the statements of a table. They name all columns, because migrations change their order in the database.
 * @param key fields of the primary key, for a table whose rows are replaced
 */
export function table<Row>(
  name: string,
  columnOf: Record<keyof Row & string, string>,
  key: Array<keyof Row & string> = [],
): Table<Row> {
  const pairs = Object.entries<string>(columnOf)
  const columns = pairs.map(([, column]) => column).join(', ')
  const values = pairs.map(([field]) => `@${field}`).join(', ')
  const insert = `INSERT INTO ${name} (${columns}) VALUES (${values})`
  const keyColumns = key.map((field) => columnOf[field])
  const replaced = pairs
    .filter(([, column]) => !keyColumns.includes(column))
    .map(([, column]) => `${column} = excluded.${column}`)
  return {
    name,
    columnOf,
    fields: pairs.map(([field, column]) => `${column} AS "${field}"`).join(', '),
    insert,
    replace: `${insert} ON CONFLICT (${keyColumns.join(', ')}) DO UPDATE SET ${replaced.join(', ')}`,
  }
}

/** Selects rows of several tables in one row, in which each value is named for its table and its field. */
export function joined<Rows extends object>(tables: { [Name in keyof Rows & string]: Table<Rows[Name]> }) {
  const parts = Object.entries<Table<Record<string, unknown>>>(tables).map(([as, { name, columnOf }]) => ({
    as,
    values: Object.entries(columnOf).map(([field, column]) => ({
      field,
      alias: `${as}.${field}`,
      column: `${name}.${column}`,
    })),
  }))
  return {
    /** The columns of all tables, to follow SELECT. */
    fields: parts
      .flatMap(({ values }) => values.map(({ column, alias }) => `${column} AS "${alias}"`))
      .join(', '),
    /** Splits a row by table; null for a table in which an outer join has found nothing. */
    split(row: Record<string, unknown>): { [Name in keyof Rows]: Rows[Name] | null } {
      const rows: Record<string, unknown> = {}
      for (const { as, values } of parts) {
        // The first column of every table takes no NULL.
        if (row[values[0]!.alias] === null) rows[as] = null
        else {
          const one: Record<string, unknown> = {}
          for (const { field, alias } of values) one[field] = row[alias]
          rows[as] = one
        }
      }
      return rows as { [Name in keyof Rows]: Rows[Name] | null }
    },
  }
}
