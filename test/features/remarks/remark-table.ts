/** The table of remarks, and its statements. */
import { open } from '../../../src/crypto/sealed-box.js'
import type { Connection, ReadConnection } from '../../../src/storage/connection.js'
import { bytes, declareTable, integer, ofSubject, type Row, text } from '../../../src/storage/table.js'

export const REMARK = declareTable({
  name: 'remark',
  columns: { id: text, subjectId: ofSubject, sealed: bytes, createdAt: integer },
  key: ['id'],
  atErasure: 'deleted by foreign key',
  atTenantEnd: 'kept',
  expires: null,
  withoutRowId: true,
  sealedUnder: 'data key',
  shown: {
    as: 'remarks',
    orderedBy: 'created_at, id',
    view: ({ id, sealed }, dataKey) => ({ text: open(dataKey, sealed, id).toString() }),
  },
})
export type RemarkRecord = Row<typeof REMARK>

export function remarkReader(database: ReadConnection) {
  const sql = database.prepare<[string], RemarkRecord>(
    `SELECT ${REMARK.fields} FROM remark WHERE subject_id = ? ORDER BY created_at, id`,
  )
  return { of: async (subjectId: string) => sql.all(subjectId) }
}

export function remarkWriter(database: Connection) {
  const insert = database.prepare(REMARK.insert)
  return { add: async (remark: RemarkRecord) => void insert.run(remark) }
}
