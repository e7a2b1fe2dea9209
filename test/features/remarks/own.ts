/** A feature for tests, which follows the recipe: remarks about a user that a verdict counts. Its own parts are known without loading it. */
import { integer } from '../../../src/config/parsers.js'
import { setting } from '../../../src/config/setting.js'
import type { ListedFeature } from '../../../src/features/feature.js'
import type { Connection, ReadConnection } from '../../../src/storage/connection.js'
import { ownTable } from '../../../src/storage/own-table.js'

export interface RemarkRecord {
  id: string
  subjectId: string
  sealed: Buffer
  createdAt: number
}

const REMARK = ownTable<RemarkRecord>({
  name: 'remark',
  columns: { id: 'text', subjectId: 'text', sealed: 'bytes', createdAt: 'integer' },
  key: ['id'],
  belongsTo: 'user',
  expires: null,
  isCopied: true,
  sealedUnder: 'data key',
})

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
    remarkLength: setting('REMARK_LENGTH', '80', 'Longest remark, in characters.', integer(1, 1000)),
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
