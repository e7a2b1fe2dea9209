/** Reads the service's data without the service, as an operator's tool would. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import type { TestDatabase } from './postgres.js'
import type { TestService } from './service.js'

/** A service's database through another connection, whichever it is. */
export interface ServiceDatabase extends Pick<TestDatabase, 'query'> {
  /** Takes the lock under which all writing is done; what comes back lets it go. */
  holdWrites(): Promise<() => Promise<void>>
}

/** The SQLite file of a service, or of a command, through a second connection. */
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

export function sqliteDatabase(dataDir: string): ServiceDatabase {
  return {
    async holdWrites() {
      const holder = new Database(join(dataDir, 'countersign.db'))
      holder.exec('BEGIN IMMEDIATE')
      return async () => void holder.close()
    },
    query: async (text, values = []) =>
      withDatabase({ dataDir }, (database) => {
        const statement = database.prepare<[object], Record<string, unknown>>(text)
        const parameters = Object.fromEntries(values.map((value, i) => [i + 1, value]))
        if (statement.reader) return statement.all(parameters)
        statement.run(parameters)
        return []
      }),
  }
}

export function postgresDatabase({ url, query }: TestDatabase): ServiceDatabase {
  return {
    query,
    async holdWrites() {
      const holder = new pg.Client(url)
      await holder.connect()
      await holder.query('BEGIN')
      await holder.query('SELECT FROM lane FOR UPDATE')
      return () => holder.end()
    },
  }
}

/** @param condition of a WHERE, with $1, $2, … */
export async function countRows(
  { database }: Pick<TestService, 'database'>,
  table: string,
  condition = 'true',
  values?: unknown[],
): Promise<number> {
  const [row] = await database.query(`SELECT count(*) AS count FROM ${table} WHERE ${condition}`, values)
  // PostgreSQL's are 64 bits wide, which its driver leaves as text.
  return Number(row!.count)
}

/** Everything that a service has written, by file or table, to search for data that must not be there. */
export async function keptBytes({ dataDir, database }: TestService): Promise<Map<string, Buffer>> {
  const kept = new Map<string, Buffer>()
  for (const { name } of readdirSync(dataDir, { withFileTypes: true }).filter((entry) => entry.isFile()))
    kept.set(name, readFileSync(join(dataDir, name)))
  if (kept.has('countersign.db')) return kept
  const tables = await database.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
  for (const { tablename } of tables) {
    const values = (await database.query(`SELECT * FROM ${tablename}`)).flatMap(Object.values)
    kept.set(
      `${tablename}`,
      Buffer.concat(values.map((value) => (Buffer.isBuffer(value) ? value : Buffer.from(`${value}\n`)))),
    )
  }
  return kept
}
