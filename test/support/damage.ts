/** Damages a database file as a failing disk does. */
import { closeSync, openSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'

/** Overwrites the first pages of a table and of its indexes. Nobody may have the file open. */
export function damageTable(file: string, table: string): void {
  const database = new Database(file)
  database.pragma('wal_checkpoint(TRUNCATE)')
  const roots = database
    .prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE tbl_name = ? AND rootpage > 0')
    .pluck()
    .all(table)
  const size = database.pragma('page_size', { simple: true }) as number
  database.close()
  const descriptor = openSync(file, 'r+')
  for (const root of roots) writeSync(descriptor, Buffer.alloc(size, 0xff), 0, size, (root - 1) * size)
  closeSync(descriptor)
}
