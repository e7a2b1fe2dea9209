/** The service's SQLite file through a second connection, as an operator's tool would open it. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { TestService } from './service.js'

export function withDatabase<T>(
  { dataDir }: Pick<TestService, 'dataDir'>,
  work: (database: Database.Database) => T,
): T {
  const database = new Database(join(dataDir, 'countersign.db'))
  try {
    return work(database)
  } finally {
    database.close()
  }
}

export function countRows(running: Pick<TestService, 'dataDir'>, table: string): number {
  return withDatabase(
    running,
    (database) => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number,
  )
}
