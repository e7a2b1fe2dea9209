/** The schema that follows from the declarations of tables: what a database lacks of it, and which versions of a database are refused. */
import type { ByDatabase, Column, ColumnType, Table } from './table.js'

export interface Dialect {
  name: 'sqlite' | 'postgres'
  types: Record<ColumnType, string>
  /** SQL that follows the columns of a table. */
  suffix(table: Table): string
  /** The column that numbers rows as they are written; null where every table has it. */
  rowid: string | null
}

export const SQLITE: Dialect = {
  name: 'sqlite',
  types: { text: 'TEXT', integer: 'INTEGER', real: 'REAL', bytes: 'BLOB' },
  suffix: ({ declared }) => (declared.withoutRowId ? ' STRICT, WITHOUT ROWID' : ' STRICT'),
  rowid: null,
}
export const POSTGRES: Dialect = {
  name: 'postgres',
  // Byte order, as in SQLite.
  types: { text: 'text COLLATE "C"', integer: 'bigint', real: 'double precision', bytes: 'bytea' },
  suffix: () => '',
  rowid: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
}

/** A column or index that a database has, with the name of its table. */
export interface FoundPart {
  table: string
  part: string
}

/** The SQL that makes what a database lacks of tables. @param found in the database; empty for a new one */
export function missingOf(tables: readonly Table[], dialect: Dialect, found: readonly FoundPart[]): string[] {
  return tables.flatMap((table) =>
    missing(table, dialect, new Set(found.filter((one) => one.table === table.name).map(({ part }) => part))),
  )
}

function missing(table: Table, dialect: Dialect, found: ReadonlySet<string>): string[] {
  const { name, declared } = table
  const columns = columnsOf(table, dialect)
  const isUnique = (index: string) => declared.uniqueIndexes?.includes(index)
  const added = Object.entries(columns).filter(([column]) => !found.has(column))
  return [
    ...(found.size === 0
      ? [createSql(table, dialect, columns)]
      : added.map(([column, type]) => `ALTER TABLE ${name} ADD COLUMN ${column} ${type}`)),
    ...Object.entries(indexesOf(table, dialect))
      .filter(([index]) => !found.has(index))
      .map(([index, on]) => `CREATE ${isUnique(index) ? 'UNIQUE ' : ''}INDEX ${index} ON ${name} ${on}`),
  ]
}

function createSql(table: Table, dialect: Dialect, columns: Record<string, string>): string {
  const { name, key, declared } = table
  const parts = [
    ...Object.entries(columns).map(([column, type]) => `${column} ${type}`),
    ...(declared.key === 'rowid' ? [] : [`PRIMARY KEY (${key.join(', ')})`]),
    ...(declared.constraints ?? []),
  ]
  return `CREATE TABLE ${name} (${parts.join(', ')})${dialect.suffix(table)}`
}

/** Types and constraints of all columns, by name. */
function columnsOf(table: Table, dialect: Dialect): Record<string, string> {
  const { declared, columnOf } = table
  const columns: Record<string, string> = {}
  if (declared.key === 'rowid' && dialect.rowid) columns.rowid = dialect.rowid
  if (declared.key === 'one') columns.id = `${dialect.types.integer} NOT NULL CHECK (id = 1)`
  for (const [field, column] of Object.entries(declared.columns)) {
    const name = columnOf[field]!
    columns[name] = definition(name, column, dialect)
  }
  for (const [name, sql] of Object.entries(declared.computed ?? {})) columns[name] = ofDialect(sql, dialect)!
  return columns
}

function definition(name: string, { type, isNullable, values, rest }: Column<unknown>, { types }: Dialect) {
  const check = values.length > 0 ? ` CHECK (${name} IN (${values.map((one) => `'${one}'`).join(', ')}))` : ''
  return `${types[type]}${isNullable ? '' : ' NOT NULL'}${rest}${check}`
}

function indexesOf(table: Table, dialect: Dialect): Record<string, string> {
  const indexes = table.declared.indexes ?? neededIndexes(table)
  return Object.fromEntries(
    Object.entries(indexes).flatMap(([index, on]) => {
      const sql = ofDialect(on, dialect)
      return sql === undefined ? [] : [[index, sql]]
    }),
  )
}

/** The indexes that erasure, the end of a tenant and expiry need. */
function neededIndexes({ name, key, columnOf, expires, declared }: Table) {
  const { blindIndex, subjectId, referenceId, tenantId } = columnOf
  const isErased = typeof declared.atErasure === 'string' && declared.atErasure !== 'kept'
  const columns = [
    ...(isErased ? [blindIndex ?? subjectId ?? referenceId!] : []),
    ...(declared.atTenantEnd === 'deleted' ? [tenantId!] : []),
    ...expires.map(({ at }) => at),
  ]
  const constraints = declared.constraints ?? []
  const uniqueColumns = Object.entries(declared.columns).filter(([, { rest }]) => rest.includes('UNIQUE'))
  const covered = [key[0], ...uniqueColumns.map(([field]) => columnOf[field])]
  return Object.fromEntries(
    columns
      .filter(
        (column) =>
          !covered.includes(column) && !constraints.some((one) => one.startsWith(`UNIQUE (${column}`)),
      )
      .map((column) => [`${name}_${column}`, `(${column})`]),
  )
}

function ofDialect(sql: ByDatabase, { name }: Dialect): string | undefined {
  return typeof sql === 'string' ? sql : sql[name]
}

/** @throws Error for a version of neither a release nor this one, from which no way leads to this one's */
export function assertVersionKnown(version: number, known: readonly number[]): void {
  if (!known.includes(version))
    throw new Error(
      `it has schema ${version}, made by a build between two releases, from which this one knows no way to its own. Go on with the build that made it, or restore a backup that a release made.`,
    )
}

export function newerSchema(version: number, own: number): Error {
  return new Error(
    `it has schema ${version}, made by a newer Countersign; this one knows schema ${own}. Start the newer version again, or restore a backup from before the upgrade.`,
  )
}
