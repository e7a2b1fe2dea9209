/** A feature for tests, which follows the recipe: remarks about a user that a verdict counts. Its own parts are known without loading it. */
import { integer as wholeNumber } from '../../../src/config/parsers.js'
import { setting } from '../../../src/config/setting.js'
import type { ListedFeature } from '../../../src/features/feature.js'
import type { Connection, ReadConnection } from '../../../src/storage/connection.js'
import { bytes, declareTable, integer, ofSubject, type Row, text } from '../../../src/storage/table.js'

const REMARK = declareTable({
  name: 'remark',
  columns: { id: text, subjectId: ofSubject, sealed: bytes, createdAt: integer },
  key: ['id'],
  atErasure: 'deleted by foreign key',
  atTenantEnd: 'kept',
  expires: null,
  isCopied: true,
  sealedUnder: 'data key',
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

export const REMARK_SETTINGS = {
  group: 'Remarks',
  settings: {
    remarkLength: setting('REMARK_LENGTH', '80', 'Longest remark, in characters.', wholeNumber(1, 1000)),
  },
}

export const remarks: ListedFeature = {
  name: 'remarks',
  settings: REMARK_SETTINGS,
  tables: [REMARK],
  commands: [
    {
      usage: 'remarks <tenant> <user>',
      description: 'print the remarks about a user of the sandbox',
      load: async () => (await import('./remarks-command.js')).registerRemarksCommand,
    },
  ],
  load: async () => (await import('./feature.js')).remarks,
}
