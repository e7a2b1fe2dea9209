/**
 * Every table of the core, and the statements that delete what is at its end: with its user, with its tenant, or in time. They follow from the
 * declarations of tables.
 */
import type { Connection } from './connection.js'
import type { Expiry, Table } from './table.js'
import * as core from './tables/index.js'

/** Each comes after those that it refers to. A copy to the other kind of database goes by this order, and a deletion by the reverse. */
export const TABLES: readonly Table[] = inOrder(Object.values<Table>(core))

/** The tables of the core, then those of features. */
export function tablesWith(own: readonly Table[]): Table[] {
  return [...TABLES, ...own]
}

function inOrder(tables: readonly Table[]): Table[] {
  const ordered: Table[] = []
  const add = (table: Table) => {
    if (ordered.includes(table)) return
    for (const other of tables) if (refersTo(table, other)) add(other)
    ordered.push(table)
  }
  tables.forEach(add)
  return ordered
}

function refersTo({ declared }: Table, { name }: Table): boolean {
  return Object.values(declared.columns).some(({ rest }) => rest.includes(`REFERENCES ${name} (`))
}

/** Rows of a table deleted in one transaction: other writers wait meanwhile, and SQLite deletes on the thread that serves. */
export const EXPIRED_AT_ONCE = 250

/** The statements that delete what is at its end. A row is deleted before the one that it refers to. */
export function endings(database: Connection, all: readonly Table[]) {
  const tables = all.toReversed()
  /** Deletes in the order of an index: otherwise PostgreSQL would start each batch by reading the dead rows of the batches before. */
  const expire = ({ name, key }: Table, { at, when }: Expiry) =>
    database.prepare<[number]>(
      `WITH expired AS (SELECT ${key.join(', ')} FROM ${name} WHERE ${at} <= ? ${when ? `AND ${when}` : ''} ORDER BY ${at}
         LIMIT ${EXPIRED_AT_ONCE} ${database.skipLocked ?? ''})
       DELETE FROM ${name} WHERE (${key.join(', ')}) IN (SELECT * FROM expired)`,
    )
  const ofUser = tables.flatMap((table) =>
    table.erase === null
      ? []
      : { table, statement: database.prepare<[{ lookup: Buffer; hex: string }]>(table.erase) },
  )
  const ofTenant = tables
    .filter(({ endsWithTenant }) => endsWithTenant)
    .map(({ name }) => database.prepare<[string]>(`DELETE FROM ${name} WHERE tenant_id = ?`))
  const old = tables.flatMap((table) =>
    table.expires.map((expiry) => ({
      keptMs: expiry.keptMs ?? 0,
      statement: expire(table, expiry),
    })),
  )
  return { ofUser, ofTenant, old }
}
