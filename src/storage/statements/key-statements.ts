/** The SQL of the service's own keys, and of everything that is sealed under them. */
import { type Connection, onceEach, type ReadConnection, reading, writing } from '../connection.js'
import type { SealedRow } from '../records.js'
import type { Table } from '../table.js'
import { KEYRING } from '../tables/index.js'

export function keysReader(database: ReadConnection, tables: readonly Table[]) {
  const { rows, from } = reading(database)
  const sealed = onceEach((named: string) => {
    const { name, id, column, when, textOf, keyOf } = sealedTable(tables, named)
    const page = rows<[string | Buffer, number], { id: string | Buffer; sealed: Buffer }>(
      `SELECT ${id} AS id, ${column} AS sealed FROM ${name} WHERE ${id} > ? AND ${when} ORDER BY ${id} LIMIT ?`,
    )
    return { page, textOf, keyOf }
  })
  return {
    /** One keyring for each master key that opens the database, oldest first. */
    keyrings: from(KEYRING).rows<[]>('ORDER BY created_at'),
    /** Rows of a table whose values are sealed under a working key, ordered by id, from `after` (exclusive; empty for the start). */
    sealedRows: async (table: string, after: string, limit: number): Promise<SealedRow[]> => {
      const { page, textOf, keyOf } = sealed(table)
      return (await page(keyOf(after), limit)).map(({ id, sealed }) => ({ id: textOf(id), sealed }))
    },
  }
}

/** @param onErase called when a value that was sealed under an old key was replaced */
export function keysWriter(database: Connection, onErase: () => void, tables: readonly Table[]) {
  const { put } = writing(database)
  const sealed = onceEach((named: string) => {
    const { name, id, column, when, keyOf } = sealedTable(tables, named)
    return {
      put: database.prepare(`UPDATE ${name} SET ${column} = @sealed WHERE ${id} = @id AND ${when}`),
      delete: database.prepare(`DELETE FROM ${name} WHERE ${id} = ?`),
      keyOf,
    }
  })
  const deleteKeyring = database.prepare('DELETE FROM keyring WHERE master_key_id = ?')
  return {
    putKeyring: put(KEYRING),
    deleteKeyring: async (masterKeyId: string) => {
      deleteKeyring.run(masterKeyId)
      onErase()
    },
    /** Deletes a row with its sealed value, in the write-ahead log too. */
    deleteSealed: async (table: string, id: string) => {
      const statements = sealed(table)
      statements.delete.run(statements.keyOf(id))
      onErase()
    },
    /** Stores a newly sealed value; the old one is overwritten, in the write-ahead log too. */
    putSealed: async (table: string, row: SealedRow) => {
      const { put, keyOf } = sealed(table)
      put.run({ id: keyOf(row.id), sealed: row.sealed })
      onErase()
    },
  }
}

/** A table whose rows are sealed under a key of the service, and its key as text. */
function sealedTable(tables: readonly Table[], named: string) {
  const { name, key, sealing, declared } = tables.find((table) => table.name === named)!
  const { column, when = 'true' } = sealing!
  const isBytes = declared.columns[declared.key[0]!]!.type === 'bytes'
  return {
    name,
    id: key[0]!,
    column,
    when,
    textOf: (value: string | Buffer) => (typeof value === 'string' ? value : value.toString('hex')),
    keyOf: (text: string) => (isBytes ? Buffer.from(text, 'hex') : text),
  }
}
