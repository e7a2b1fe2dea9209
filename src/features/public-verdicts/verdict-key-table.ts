/** The table of the keys that sign public verdicts, with its statements. */
import { type Connection, type ReadConnection, reading, writing } from '../../storage/connection.js'
import { declareTable, type Row, signingKeyColumns } from '../../storage/table.js'

/** Keys whose public halves check the verdicts of an environment. */
export const VERDICT_KEY = declareTable({
  name: 'verdict_key',
  columns: signingKeyColumns,
  key: ['id'],
  atErasure: 'kept',
  atTenantEnd: 'kept',
  expires: { at: 'goneAt' },
  sealedUnder: { key: 'secrets', column: 'sealed' },
})
export type VerdictKeyRecord = Row<typeof VERDICT_KEY>

export function verdictKeyReader(database: ReadConnection) {
  return {
    /** The keys of both environments in the order in which they begin to sign. */
    all: reading(database).from(VERDICT_KEY).rows<[]>('ORDER BY signs_from, id'),
  }
}

export function verdictKeyWriter(database: Connection) {
  const { insert, set } = writing(database)
  return {
    ...verdictKeyReader(database),
    insert: insert(VERDICT_KEY),
    setEnd: set(VERDICT_KEY, 'goneAt'),
  }
}
