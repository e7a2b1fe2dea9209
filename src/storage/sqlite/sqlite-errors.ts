/** Translates SQLite's errors for callers of a store and for people. */

import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { docPath } from '../../lib/doc-path.js'
import { AlreadyExecutedError, StoreCorruptError, StoreOpenError, StoreUnavailableError } from '../store.js'
import { isDamage } from './sqlite-integrity.js'

/** @param cause why the database does not open */
export function unusable(cause: unknown, file: string): StoreOpenError {
  return new StoreOpenError(`Cannot use the database ${file}: ${obstacleOf(cause as Error, file)}`, { cause })
}

/** Why a database does not open: for a folder or file without write permission SQLite only says that it cannot. */
function obstacleOf(cause: Error, file: string): string {
  if (isDamage(cause))
    return `${cause.message}; ${docPath('operations/runbooks.md#database_corrupt')} says what to do`
  if (!(cause instanceof Database.SqliteError) || !/^SQLITE_(CANTOPEN|READONLY)/.test(cause.code))
    return cause.message
  const obstacle = [dirname(file), file].find((path) => existsSync(path) && !isWritable(path))
  return obstacle ? `${obstacle} is not writable for this user (${cause.message})` : cause.message
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Whether another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')
}

const UNAVAILABLE = /^SQLITE_(BUSY|LOCKED|FULL|READONLY|IOERR|CANTOPEN)/

/** Names the file of a backup that cannot be written for lack of permission or room; returns any other error as it is. */
export function unwritable(error: unknown, file: string): unknown {
  if (!(error instanceof Database.SqliteError) || !UNAVAILABLE.test(error.code)) return error
  return new StoreUnavailableError(`Cannot write ${file}: ${error.message} (${error.code})`, { cause: error })
}

/** Makes a StoreUnavailableError, StoreCorruptError or AlreadyExecutedError of an error of SQLite; returns any other error as it is. */
export function translateSqlite(error: unknown, file: string): unknown {
  if (!(error instanceof Database.SqliteError)) return error
  const { code, message } = error
  if (isDamage(error)) return new StoreCorruptError(`SQLite: ${code} ${message}`, { cause: error })
  if (code.startsWith('SQLITE_READONLY')) return unwritable(error, file)
  if (UNAVAILABLE.test(code)) return new StoreUnavailableError(`SQLite: ${code}`, { cause: error })
  // The insert of a kept response writes NULL where one that has not expired exists.
  return /^NOT NULL .* idempotency\./.test(message) ? new AlreadyExecutedError() : error
}
