/**
 * Tables. Each is declared once: its columns with their types, and what ends its rows. The record's type, both databases' schemas, statements,
 * erasure, the end of a tenant, retention, copies and the change of keys follow from the declaration; a missing answer does not compile.
 */
import { HOUR_MS } from '../lib/clock.js'
import { snakeCase } from '../lib/wire.js'

export type ColumnType = 'text' | 'integer' | 'real' | 'bytes'

/** A column, and the type of its values. @template Value text, number, bytes, or null where it may be */
export class Column<Value> {
  declare readonly value: Value

  constructor(
    readonly type: ColumnType,
    readonly isNullable = false,
    /** Values that it is held to; empty for any. */
    readonly values: readonly string[] = [],
    /** SQL that follows the type: a reference, a default. */
    readonly rest: string = '',
    /** Its name in the databases, where that is not the field's in snake case. */
    readonly name?: string,
  ) {}

  /** Also takes null. A column that is added later has to, unless it has a default: rows without it exist, and an earlier version adds more. */
  get orNull(): Column<Value | null> {
    return new Column<Value | null>(this.type, true, this.values, this.rest, this.name)
  }

  /** Takes only these values, by a constraint. */
  oneOf<One extends Value & string>(...values: One[]): Column<One> {
    return new Column<One>(this.type, this.isNullable, values, this.rest, this.name)
  }

  /** Has only these values, and no constraint: an earlier version would refuse a further one. */
  as<One extends Value & string>(): Column<One> {
    return this as unknown as Column<One>
  }

  /** @param sql follows the type in both databases */
  with(sql: string): Column<Value> {
    return new Column<Value>(this.type, this.isNullable, this.values, `${this.rest} ${sql}`, this.name)
  }

  named(name: string): Column<Value> {
    return new Column<Value>(this.type, this.isNullable, this.values, this.rest, name)
  }
}

export const text = new Column<string>('text')
/** Times are milliseconds since the Unix epoch. */
export const integer = new Column<number>('integer')
export const real = new Column<number>('real')
export const bytes = new Column<Buffer>('bytes')

export const environment = text.oneOf('sandbox', 'production')
/** The field `tenantId` of rows of a tenant. */
export const ofTenant = text.with('REFERENCES tenant (id)')
/** The field `subjectId` of rows of a user, which go with the user also where a version erases that does not know the table. */
export const ofSubject = text.with('REFERENCES subject (id) ON DELETE CASCADE')
/** The field `blindIndex`, by which a row of a user is found. */
export const blindIndex = bytes.named('lookup')

/**
 * The columns of keys that sign for an environment. The state of a key follows from its times, so that all services agree on it: published from
 * `publishedAt`, signing from `signsFrom` until the next key's `signsFrom`, and gone at `goneAt`.
 */
export const signingKeyColumns = {
  /** The `kid` of the signatures. */
  id: text,
  environment,
  /** The key as a JWK, or its public half and the place of the private one. */
  sealed: bytes,
  publishedAt: integer,
  signsFrom: integer,
  /** When the key leaves the published set; null until a next key is published. */
  goneAt: integer.orNull,
}

type Columns = Readonly<Record<string, Column<unknown>>>
type RowOf<Own extends Columns> = { -readonly [Field in keyof Own]: Own[Field]['value'] }

/** The records of a table. */
export type Row<Of> = Of extends Table<infer Own> ? Own : never

/** How long what a caller may still ask about is kept after its end, so that a late caller learns that it has expired. */
export const LATE_MS = HOUR_MS

/** The rows that time ends: those whose column `at` lies at least `keptMs` back (default: 0), if `when` is true of them as well. */
export interface Expiry<Field extends string = string> {
  at: Field
  keptMs?: number
  /** SQL. */
  when?: string
}

/** A column that is sealed under a key of the service, so that a change of the working keys seals it again; the row's key is its context. */
export interface ServiceSealing {
  /** Which of the working keys. */
  key: 'secrets' | 'idempotency' | 'wrapping'
  column: string
  /** SQL: the rows of which this is true. Default: all. */
  when?: string
}

/** A change of the rows of a user, in SQL. */
export interface Change {
  set: string
  /** Finds them by `@lookup`, the blind index, or by `@hex`, the same in hex. */
  where: string
}

/** SQL by database, where they differ. */
export type ByDatabase = string | { readonly sqlite?: string; readonly postgres?: string }

/** The counts in the receipt of an erasure that has deleted nothing. */
export const NOTHING_ERASED = { references: 0, captures: 0, passkeys: 0, idempotencyRecords: 0 }
export type Erased = typeof NOTHING_ERASED

/** How answers about a user show the user's rows. */
interface Shown<Row> {
  /** Field of the user's export, which has each row as `view` shows it. */
  as: string
  /** SQL that follows ORDER BY. */
  orderedBy: string
  /** @param dataKey of the user */
  view(row: Row, dataKey: Buffer): object
  /**
   * The rows are credentials besides the face: a look-up of the user has their number in the same field, and a user who has one needs a
   * verdict before the reference is replaced.
   */
  areCredentials?: true
}

interface Declaration<Own extends Columns> {
  name: string
  /** Columns by their fields, in snake case. */
  columns: Own
  /** The fields of the primary key. `rowid`: the number that counts rows as they are written. `one`: there is one row. */
  key: ReadonlyArray<keyof Own & string> | 'rowid' | 'one'
  /** Columns that the database computes. */
  computed?: Readonly<Record<string, ByDatabase>>
  /** Further constraints of the table. */
  constraints?: readonly string[]
  /** The SQL that follows `ON table`, by the name of the index. Default: those that erasure, the end of a tenant and expiry need. */
  indexes?: Readonly<Record<string, ByDatabase>>
  /** The names of the unique ones among `indexes`. */
  uniqueIndexes?: readonly string[]
  /** SQLite keeps rows by key instead of by number: for those of less than some hundred bytes. */
  withoutRowId?: true
  /**
   * How an erasure treats the user's rows. `deleted` by `blindIndex`, `subjectId` or `referenceId`, whichever the record has;
   * `deleted by foreign key` with what they refer to; changed, where something is left.
   */
  atErasure: keyof Own & ('blindIndex' | 'subjectId' | 'referenceId') extends never
    ? 'kept' | Change
    : 'deleted' | 'deleted by foreign key' | 'kept' | Change
  /** The count to which an erasure adds the rows that it deletes. Default: none. */
  countedAs?: keyof Erased
  /** How answers about a user show the rows, by their `subjectId`. Default: not at all. */
  shown?: Shown<RowOf<Own>>
  /**
   * How the end of a tenant treats its rows: `deleted` by their `tenantId`, or by SQL in which `@tenants` stands for the ids of tenants, where
   * no column of their own names the tenant. Those of its users have been erased before.
   */
  atTenantEnd: 'kept' | { where: string } | ('tenantId' extends keyof Own ? 'deleted' : never)
  /** Rows that a tenant has left which a version without the feature has deleted go by their time: no index finds them by tenant. */
  leavesToTime?: true
  /** The rows that time ends; null for none. */
  expires: Expiry<keyof Own & string> | ReadonlyArray<Expiry<keyof Own & string>> | null
  /**
   * SQL that a backup runs on its copy, in which an erasure reaches only what is sealed under a data key: it removes what the service's key
   * seals about users, and what is worthless in a restore, such as sign-ins that were under way. Default: nothing.
   */
  atBackup?: string
  /**
   * The key under which bytes are sealed. Under the `data key` of the user they are lost with the user in every copy. An `own key` is not in
   * the database. A change of the working keys leaves both as they are. `nothing`: no field is secret.
   */
  sealedUnder: 'data key' | 'own key' | 'nothing' | ServiceSealing
}

/** Rows that neither an erasure, nor the end of a tenant, nor time ends. */
export const LASTING = { atErasure: 'kept', atTenantEnd: 'kept', expires: null } as const

export interface Table<Own extends object = Record<string, unknown>> {
  readonly name: string
  readonly columnOf: Readonly<Record<keyof Own & string, string>>
  /** The columns under the names of the fields, to follow SELECT or RETURNING. */
  readonly fields: string
  /** Statement that inserts a record, given by the names of its fields. */
  readonly insert: string
  /** The same statement, which replaces a row with the same key. */
  readonly replace: string
  /** Columns that are unique together, and by which both databases order rows alike. */
  readonly key: readonly string[]
  /** `at` is a column. */
  readonly expires: readonly Expiry[]
  /** Null where nothing is sealed under a key of the service. */
  readonly sealing: ServiceSealing | null
  readonly declared: Declaration<Columns>
}

/** Makes a table of its declaration. */
export function declareTable<Own extends Columns>(declared: Declaration<Own>): Table<RowOf<Own>> {
  const { name, columns } = declared
  const columnOf = Object.fromEntries(
    Object.entries(columns).map(([field, column]) => [field, column.name ?? snakeCase(field)]),
  ) as Record<keyof Own & string, string>
  const pairs = Object.entries<string>(columnOf)
  const key =
    declared.key === 'rowid'
      ? ['rowid']
      : declared.key === 'one'
        ? ['id']
        : declared.key.map((field) => columnOf[field])
  const given = [
    ...(declared.key === 'one' ? [['id', '1']] : []),
    ...pairs.map(([field, column]) => [column, `@${field}`]),
  ]
  // Named, because migrations change the order of columns in the database.
  const insert = `INSERT INTO ${name} (${given.map(([column]) => column).join(', ')}) VALUES (${given.map(([, value]) => value).join(', ')})`
  const replaced = pairs
    .filter(([, column]) => !key.includes(column))
    .map(([, column]) => `${column} = excluded.${column}`)
  const { sealedUnder, expires } = declared
  return {
    name,
    columnOf,
    fields: pairs.map(([field, column]) => `${column} AS "${field}"`).join(', '),
    insert,
    replace: `${insert} ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${replaced.join(', ')}`,
    key,
    expires: (expires === null ? [] : [expires].flat()).map((expiry) => ({
      ...expiry,
      at: columnOf[expiry.at],
    })),
    sealing: typeof sealedUnder === 'object' ? sealedUnder : null,
    declared: declared as unknown as Declaration<Columns>,
  }
}

/** Selects rows of several tables in one row, in which each value is named for its table and its field. */
export function joined<Rows extends Record<keyof Rows, object>>(
  tables: {
    [Name in keyof Rows]: Table<Rows[Name]>
  },
) {
  const parts = Object.entries<Table>(tables).map(([as, { name, columnOf }]) => ({
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
