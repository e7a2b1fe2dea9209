/** Reads facts from a database file without opening it as a store: migrates and writes nothing. */
import Database from 'better-sqlite3'

/**
 * Opens the file to read it, and closes it.
 * @param patienceMs milliseconds for which it waits for a lock of another process
 * @throws SqliteError
 */
export function peek<T>(file: string, read: (database: Database.Database) => T, patienceMs = 5000): T {
  const database = new Database(file, { readonly: true, fileMustExist: true, timeout: patienceMs })
  try {
    return read(database)
  } finally {
    database.close()
  }
}

const BACKUPS =
  'SELECT (SELECT at FROM last_backup) AS lastBackupAt, (SELECT min(created_at) FROM tenant) AS oldestTenantAt'

/** @returns null for a file that is another application's, of an older schema, or unreadable */
export function peekBackups(
  file: string,
): { lastBackupAt: number | null; oldestTenantAt: number | null } | null {
  try {
    return peek(file, (database) => database.prepare(BACKUPS).get(), 0) as ReturnType<typeof peekBackups>
  } catch {
    return null
  }
}
