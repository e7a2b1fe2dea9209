/** The SQL of rows that answers about a user show, made of what tables declare: no statement names a table. */
import { type ReadConnection, reading } from '../connection.js'
import type { Table } from '../table.js'

export function userRowReader(database: ReadConnection, tables: readonly Table[]) {
  const all = tables.flatMap((table) => {
    const { shown } = table.declared
    if (!shown) return []
    const { rows } = reading(database).from(table as Table<never>)
    return { ...shown, rows: rows<[subjectId: string]>(`WHERE subject_id = ? ORDER BY ${shown.orderedBy}`) }
  })
  return {
    /** How many credentials besides the face a user has, by the fields of answers. */
    credentialsOf: async (subjectId: string) => {
      const counts: Record<string, number> = {}
      for (const { as, areCredentials, rows } of all)
        if (areCredentials) counts[as] = (await rows(subjectId)).length
      return counts
    },
    /** The user's rows as an export shows them, by its fields. @param dataKey of the user */
    exportOf: async (subjectId: string, dataKey: Buffer) => {
      const views: Record<string, object[]> = {}
      for (const { as, rows, view } of all)
        views[as] = (await rows(subjectId)).map((row) => view(row, dataKey))
      return views
    },
  }
}
