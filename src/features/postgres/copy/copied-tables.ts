/** The tables that a copy to the other kind of database takes along, read in an order that both kinds share. */
import type { Connection } from '../../../storage/connection.js'
import type { Table } from '../../../storage/table.js'

export type CopiedTable = Pick<Table, 'name' | 'key'>

export type Value = string | number | Buffer | null
/** A row's values by the name of their column. */
export type Row = Record<string, Value>

/**
 * Tables that exist only in PostgreSQL and are not copied: what services agree on while they run, the epochs under which they wrap data
 * keys, and the operator's password, which SQLite leaves to a file and which is copied separately.
 */
export const TABLES_OF_POSTGRES: readonly string[] = [
  'schema_version',
  'lane',
  'duty',
  'node',
  'epoch',
  'claim',
  'bucket',
  'operator_password',
]

/** Rows in memory at once, of each side. */
const PAGE_ROWS = 500

export async function rowCount(connection: Connection, { name }: CopiedTable): Promise<number> {
  return (await connection.prepare<[], { count: number }>(`SELECT count(*) AS count FROM ${name}`).get())!
    .count
}

export async function hasRows(connection: Connection, { name }: CopiedTable): Promise<boolean> {
  return (await connection.prepare<[]>(`SELECT 1 AS one FROM ${name} LIMIT 1`).get()) !== undefined
}

/** All rows in the order of the key, page by page; the last page has fewer rows than the others, or none. */
export async function* pagesOf(
  connection: Connection,
  { name, key }: CopiedTable,
  columns: readonly string[],
): AsyncGenerator<Row[], undefined> {
  const order = key.join(', ')
  const select = (where: string) =>
    connection.prepare<unknown[], Row>(
      `SELECT ${columns.join(', ')} FROM ${name} ${where} ORDER BY ${order} LIMIT ${PAGE_ROWS}`,
    )
  let rows: Row[] = await select('').all()
  yield rows
  const next = select(`WHERE (${order}) > (${key.map(() => '?').join(', ')})`)
  while (rows.length === PAGE_ROWS) {
    const last: Row = rows.at(-1)!
    rows = await next.all(...key.map((column) => last[column]))
    yield rows
  }
  return undefined
}
