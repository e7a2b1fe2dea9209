/** Looks into a database without opening it as the service does: nothing is migrated, written or waited for. */
import Database from 'better-sqlite3'

export interface BackupsSeen {
  /** Null where there was none yet. */
  lastBackupAt: number | null
  oldestTenantAt: number | null
}

/** Null for a file that tells nothing: another application's, an older release's, or one that cannot be read. */
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
