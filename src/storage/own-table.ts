/**
 * Tables of features. A table is declared once, in the folder of its feature: its columns, whose its rows are, and what ends them. Both
 * databases create it when they are opened, and erasure, the end of a tenant, retention and copies follow from the declaration.
 */
import type { Expiry, Lifetime } from './lifetimes.js'
import { type Table, table } from './table.js'

/** The type of a column by the type of its field. */
type ColumnType<Value> = null extends Value
  ? `${NotNullType<NonNullable<Value>>} or null`
  : NotNullType<NonNullable<Value>>
type NotNullType<Value> = Value extends string
  ? 'text'
  : Value extends number
    ? 'integer' | 'real'
    : Value extends Buffer
      ? 'bytes'
      : never

interface TableDeclaration<Row extends object> {
  name: string
  /**
   * The types of the columns. A column is named for its field, in snake case. One that is added later may be null, since rows without it
   * exist, and since the previous version goes on writing such rows.
   */
  columns: { readonly [Field in keyof Row & string]: ColumnType<Row[Field]> }
  key: ReadonlyArray<keyof Row & string>
  /** Further indexes. Those for erasure and expiry are made without being named. */
  indexes?: ReadonlyArray<ReadonlyArray<keyof Row & string>>
  /**
   * Whose the rows are. Those of a `user` refer to it by `subjectId`, and a foreign key deletes them with it: also where a version erases the
   * user that does not know the table. Those of a `tenant` have its `tenantId`, and end with it or are kept for its audit log. What is about
   * `nobody` is touched by neither.
   */
  belongsTo:
    | (Row extends { subjectId: string } ? 'user' : never)
    | (Row extends { tenantId: string } ? 'tenant' | 'tenant, kept at its end' : never)
    | 'nobody'
  /** The rows that time ends; null for none. */
  expires: (Omit<Expiry, 'at'> & { at: keyof Row & string }) | null
  /** Whether `countersign migrate-store` takes the rows along. */
  isCopied: boolean
  /**
   * The key under which the bytes about a person are sealed. Under the user's data key they are lost with the user in every copy, and a change of the
   * master key leaves them as they are. `nothing`: no field says anything about a person. No table of a feature is sealed under the keys of the service.
   */
  sealedUnder: 'data key' | 'nothing'
}

export interface OwnTable<Row extends object = object> extends Table<Row> {
  lifetime: Lifetime
  isCopied: boolean
  /** SQL that makes what is missing. @param found names of columns and indexes that the database has of the table; empty for no table */
  missing(dialect: Dialect, found: ReadonlySet<string>): string[]
}

export interface Dialect {
  /** Types by those of declarations. */
  types: Record<'text' | 'integer' | 'real' | 'bytes', string>
  /** SQL that follows the columns of a table. */
  suffix: string
}

export const SQLITE: Dialect = {
  types: { text: 'TEXT', integer: 'INTEGER', real: 'REAL', bytes: 'BLOB' },
  suffix: ' STRICT, WITHOUT ROWID',
}
export const POSTGRES: Dialect = {
  // Byte order, as in SQLite.
  types: { text: 'text COLLATE "C"', integer: 'bigint', real: 'double precision', bytes: 'bytea' },
  suffix: '',
}

/** The column that refers to the owner of a row, with what it refers to. */
const OWNERS: Record<string, { column: string; reference: string }> = {
  user: { column: 'subject_id', reference: ' REFERENCES subject (id) ON DELETE CASCADE' },
  tenant: { column: 'tenant_id', reference: ' REFERENCES tenant (id)' },
  'tenant, kept at its end': { column: 'tenant_id', reference: ' REFERENCES tenant (id)' },
}

const columnOf = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Makes a table of a declaration. @template Row the record, whose fields are text, numbers, bytes, or null where a column may be */
export function ownTable<Row extends object>(declared: TableDeclaration<Row>): OwnTable<Row> {
  const { name, belongsTo, expires } = declared
  const types = Object.entries<string>(declared.columns)
  const fields = Object.fromEntries(
    types.map(([field]) => [field, columnOf(field)]),
  ) as Table<Row>['columnOf']
  const key = declared.key.map(columnOf)
  const owner = OWNERS[belongsTo]
  const definition = ([field, type]: [string, string], { types }: Dialect) => {
    const [, base, isNullable] = /^(\w+)( or null)?$/.exec(type)!
    const column = columnOf(field)
    const reference = column === owner?.column ? owner.reference : ''
    return `${column} ${types[base as keyof Dialect['types']]}${isNullable ? '' : ' NOT NULL'}${reference}`
  }
  const indexed = [
    ...(declared.indexes ?? []).map((columns) => columns.map(columnOf)),
    ...(owner && owner.column !== key[0] ? [[owner.column]] : []),
    ...(expires ? [[columnOf(expires.at)]] : []),
  ]
  return {
    ...table<Row>(name, fields, [...declared.key]),
    lifetime: {
      name,
      key,
      user: belongsTo === 'user' ? 'cascade' : null,
      endsWithTenant: belongsTo === 'tenant',
      ...(expires ? { expires: { ...expires, at: columnOf(expires.at) } } : {}),
    },
    isCopied: declared.isCopied,
    missing(dialect, found) {
      const columns = types.map((column) => definition(column, dialect))
      const isThere = found.size > 0
      return [
        ...(isThere
          ? []
          : [
              `CREATE TABLE ${name} (${columns.join(', ')}, PRIMARY KEY (${key.join(', ')}))${dialect.suffix}`,
            ]),
        ...types
          .filter(([field]) => isThere && !found.has(columnOf(field)))
          .map((column) => `ALTER TABLE ${name} ADD COLUMN ${definition(column, dialect)}`),
        ...indexed
          .map((columns) => ({ index: `${name}_${columns.join('_')}`, columns }))
          .filter(({ index }) => !found.has(index))
          .map(({ index, columns }) => `CREATE INDEX ${index} ON ${name} (${columns.join(', ')})`),
      ]
    },
  }
}

/** A column or index that a database has, with the name of its table. */
export interface FoundPart {
  table: string
  part: string
}

/** The SQL that makes what is missing of all tables. */
export function missingOf(
  tables: readonly OwnTable[],
  dialect: Dialect,
  found: readonly FoundPart[],
): string[] {
  return tables.flatMap((one) =>
    one.missing(
      dialect,
      new Set(found.filter(({ table: name }) => name === one.name).map(({ part }) => part)),
    ),
  )
}
