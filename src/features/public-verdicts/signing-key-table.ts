/** Tables of keys that sign for an environment and are published before they sign, with their statements. */
import { type Connection, type ReadConnection, reading, writing } from '../../storage/connection.js'
import { declareTable, type Row, signingKeyColumns } from '../../storage/table.js'

export function signingKeyTable(name: string) {
  const table = declareTable({
    name,
    columns: signingKeyColumns,
    key: ['id'],
    atErasure: 'kept',
    atTenantEnd: 'kept',
    expires: { at: 'goneAt' },
    sealedUnder: { key: 'secrets', column: 'sealed' },
  })
  const reader = (database: ReadConnection) => ({
    /** The keys of both environments in the order in which they begin to sign. */
    all: reading(database).from(table).rows<[]>('ORDER BY signs_from, id'),
  })
  const writer = (database: Connection) => {
    const { insert, set } = writing(database)
    return { ...reader(database), insert: insert(table), setEnd: set(table, 'goneAt') }
  }
  return { table, reader, writer }
}
export type SigningKeyTable = ReturnType<typeof signingKeyTable>
export type SigningKeyRecord = Row<SigningKeyTable['table']>

/** Keys whose public halves check the verdicts of an environment. */
export const VERDICT_KEYS = signingKeyTable('verdict_key')
