/** The SQL of rows that answers about a user show, made of what tables declare: no statement names a table. */
import type { Connection } from '../connection.js'
import type { StoreReader } from '../store.js'
import type { Table } from '../table.js'

export function userRowReader(
  database: Connection,
  tables: readonly Table[],
): Pick<StoreReader, 'credentialsOf' | 'exportOf'> {
  const all = tables.flatMap(({ name, fields, declared: { shown } }) => {
    if (!shown) return []
    const sql = `SELECT ${fields} FROM ${name} WHERE subject_id = ? ORDER BY ${shown.orderedBy}`
    return { ...shown, rows: database.prepare<[string], never>(sql) }
  })
  return {
    credentialsOf: async (subjectId) => {
      const counts: Record<string, number> = {}
      for (const { as, areCredentials, rows } of all)
        if (areCredentials) counts[as] = (await rows.all(subjectId)).length
      return counts
    },
    exportOf: async (subjectId, dataKey) => {
      const views: Record<string, object[]> = {}
      for (const { as, rows, view } of all)
        views[as] = (await rows.all(subjectId)).map((row) => view(row, dataKey))
      return views
    },
  }
}
