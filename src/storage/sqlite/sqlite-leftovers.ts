/** Removes files of databases that nobody needs any more: with their journals, and those of a backup that was interrupted. */
import { existsSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import Database from 'better-sqlite3'
import { makeForOwnerOfFolder } from '../../lib/durable-file.js'
import { StoreUnavailableError } from '../store.js'
import { isBusy } from './sqlite-errors.js'

/** Deletes the file and its journals: SQLite would write the contents of a journal into the next file of that name. */
export function removeDatabase(file: string): void {
  for (const suffix of ['-journal', '-wal', '-shm', '']) rmSync(`${file}${suffix}`, { force: true })
}

/**
 * Writes down next to the database which files a backup is going to make, and removes those of a backup that was interrupted. The note is
 * locked until `end` is called or the process ends, even by a kill.
 * @throws StoreUnavailableError while another backup of the database is running
 */
export function noteBackup(database: string, files: readonly string[]): { end(): void } {
  const name = `${database}-backup`
  makeForOwnerOfFolder(name)
  const note = new Database(name, { timeout: 0 })
  try {
    note.pragma('locking_mode = EXCLUSIVE')
    note.exec('BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS unfinished (file TEXT NOT NULL)')
    for (const left of note.prepare<[], string>('SELECT file FROM unfinished').pluck().all())
      removeDatabase(left)
    note.exec('DELETE FROM unfinished')
    const insert = note.prepare('INSERT INTO unfinished (file) VALUES (?)')
    for (const file of files) insert.run(resolve(file))
    note.exec('COMMIT')
  } catch (cause) {
    note.close()
    if (!isBusy(cause)) throw cause
    throw new StoreUnavailableError(`Another backup of ${database} is running: wait until it has ended.`, {
      cause,
    })
  }
  return {
    end() {
      removeDatabase(name)
      note.close()
    },
  }
}

/** Removes what an interrupted backup has left, unless one is running. */
export function removeUnfinished(database: string): void {
  if (!existsSync(`${database}-backup`)) return
  try {
    noteBackup(database, []).end()
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
  }
}
