/** The SQL of the service's own keys, and of everything that is sealed under them. */
import type { Connection } from '../connection.js'
import type { KeyringRecord, VerdictKeyRecord } from '../records.js'
import type { StoreReader, StoreTransaction } from '../store.js'
import type { Table } from '../table.js'
import { KEYRING, VERDICT_KEY } from '../tables/index.js'

type KeysReader = Pick<StoreReader, 'keyrings' | 'sealedRows' | 'verdictKeys'>
type KeysWriter = Pick<
  StoreTransaction,
  'putKeyring' | 'deleteKeyring' | 'putSealed' | 'insertVerdictKey' | 'setVerdictKeyEnd' | 'deleteVerdictKeys'
>

export function keysReader(database: Connection, tables: readonly Table[]): KeysReader {
  const sealed = sealedStatements(database, tables)
  const sql = {
    keyrings: database.prepare<[], KeyringRecord>(
      `SELECT ${KEYRING.fields} FROM keyring ORDER BY created_at`,
    ),
    verdictKeys: database.prepare<[], VerdictKeyRecord>(
      `SELECT ${VERDICT_KEY.fields} FROM verdict_key ORDER BY signs_from, id`,
    ),
  }
  return {
    keyrings: async () => sql.keyrings.all(),
    verdictKeys: async () => sql.verdictKeys.all(),
    sealedRows: async (table, after, limit) => {
      const { id, read } = sealed(table)
      const rows = await read.all(id.toColumn(after), limit)
      return rows.map((row) => ({ id: id.fromColumn(row.id), sealed: row.sealed }))
    },
  }
}

/** @param onErase called when a value that was sealed under an old key was replaced */
export function keysWriter(database: Connection, onErase: () => void, tables: readonly Table[]): KeysWriter {
  const sealed = sealedStatements(database, tables)
  const sql = {
    putKeyring: database.prepare(KEYRING.replace),
    deleteKeyring: database.prepare('DELETE FROM keyring WHERE master_key_id = ?'),
    insertVerdictKey: database.prepare(VERDICT_KEY.insert),
    setVerdictKeyEnd: database.prepare('UPDATE verdict_key SET gone_at = ? WHERE id = ?'),
    deleteVerdictKeys: database.prepare('DELETE FROM verdict_key WHERE environment = ?'),
  }
  return {
    putKeyring: async (keyring) => void sql.putKeyring.run(keyring),
    deleteKeyring: async (masterKeyId) => {
      sql.deleteKeyring.run(masterKeyId)
      onErase()
    },
    insertVerdictKey: async (key) => void sql.insertVerdictKey.run(key),
    setVerdictKeyEnd: async (id, goneAt) => void sql.setVerdictKeyEnd.run(goneAt, id),
    deleteVerdictKeys: async (environment) => {
      sql.deleteVerdictKeys.run(environment)
      onErase()
    },
    putSealed: async (table, row) => {
      const { id, put } = sealed(table)
      put.run({ id: id.toColumn(row.id), sealed: row.sealed })
      onErase()
    },
  }
}

/** Makes, for a table when it is first asked for, the statements of what is sealed under the keys of the service. */
function sealedStatements(database: Connection, tables: readonly Table[]) {
  const made = new Map<string, ReturnType<typeof statementsOf>>()
  return (name: string) => {
    const found = made.get(name) ?? statementsOf(database, tables.find((table) => table.name === name)!)
    made.set(name, found)
    return found
  }
}

function statementsOf(database: Connection, { name, key, sealing, declared }: Table) {
  const [id] = key
  const { column, when = 'true' } = sealing!
  const isBytes = declared.columns[declared.key[0]!]!.type === 'bytes'
  return {
    id: {
      fromColumn: (value: string | Buffer) => (typeof value === 'string' ? value : value.toString('hex')),
      toColumn: (id: string) => (isBytes ? Buffer.from(id, 'hex') : id),
    },
    read: database.prepare<[string | Buffer, number], { id: string | Buffer; sealed: Buffer }>(
      `SELECT ${id} AS id, ${column} AS sealed FROM ${name} WHERE ${id} > ? AND ${when} ORDER BY ${id} LIMIT ?`,
    ),
    put: database.prepare<[{ id: string | Buffer; sealed: Buffer }]>(
      `UPDATE ${name} SET ${column} = @sealed WHERE ${id} = @id AND ${when}`,
    ),
  }
}
