/** Reads facts from a database file without opening it as a store: migrates, writes and waits for nothing. */
import Database from 'better-sqlite3'

export interface BackupsSeen {
  /** Null when no backup was made yet. */
  lastBackupAt: number | null
  oldestTenantAt: number | null
}

/** @returns null for a file that is another application's, of an older schema, or unreadable */
export function peekBackups(file: string): BackupsSeen | null {
  let database: Database.Database | null = null
  try {
    database = new Database(file, { readonly: true, fileMustExist: true, timeout: 0 })
    return database
      .prepare<[], BackupsSeen>(
        'SELECT (SELECT at FROM last_backup) AS lastBackupAt, (SELECT min(created_at) FROM tenant) AS oldestTenantAt',
      )
      .get()!
  } catch {
    return null
  } finally {
    database?.close()
  }
}

/** Ids of the master keys that open a database of this version's schema. @throws Error of SQLite */
export function peekMasterKeys(file: string): string[] {
  const database = new Database(file, { readonly: true, fileMustExist: true, timeout: 5000 })
  try {
    return database.prepare<[], string>('SELECT master_key_id FROM keyring ORDER BY created_at').pluck().all()
  } finally {
    database.close()
  }
}
