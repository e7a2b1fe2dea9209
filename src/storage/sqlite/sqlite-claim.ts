/** The claim on a SQLite database, of which only one service may serve. */
import Database from 'better-sqlite3'
import { makeForOwnerOfFolder } from '../../lib/durable-file.js'
import { StoreOpenError } from '../store.js'
import { isBusy } from './sqlite-errors.js'

/** A command that asks whether a service is running reads the claim for a moment. */
const CLAIM_PATIENCE_MS = 200

/**
 * Locks an empty database next to `file`. The lock ends when the claim is closed or the process ends, even by a kill.
 * @throws StoreOpenError when another service has the claim
 */
export function claimDatabase(file: string): Database.Database {
  makeForOwnerOfFolder(`${file}-serving`)
  const claim = new Database(`${file}-serving`, { timeout: CLAIM_PATIENCE_MS })
  try {
    claim.exec('BEGIN EXCLUSIVE')
    return claim
  } catch (error) {
    claim.close()
    if (!isBusy(error)) throw error
    throw new StoreOpenError(
      `Cannot use the database ${file}: another Countersign serves from it. Stop that service first; commands may run while it serves.`,
      { cause: error },
    )
  }
}
