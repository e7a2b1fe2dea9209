/** Translates PostgreSQL's errors. A failure that may pass without help, or with a new connection, becomes a StoreUnavailableError. */
import pg from 'pg'
import { AlreadyExecutedError, StoreCorruptError, StoreUnavailableError } from '../store.js'

/**
 * SQLSTATE (PostgreSQL manual, appendix A): connections, resources, the operator's intervention and the system's errors; standbys,
 * locks, deadlocks and serialization; statements that took too long; passwords, which may be changed while the service runs.
 */
const UNAVAILABLE = /^(?:08|53|57|58|28|40001|40P01|25006|25P03|55P03)/

/** A damaged page or index (data_corrupted, index_corrupted). */
const CORRUPT = /^(?:XX001|XX002)/

/** Connections, shutdowns, and what has been idle or has taken too long (25P03, 25P04, 57P05). */
const ENDS_CONNECTION = /^(?:08|57P|25P03|25P04)/

/**
 * Prepared statements are not what this process assumes: the type of a column was changed, or the first of several that left together could
 * not be parsed. A new connection has none.
 */
const STALE_STATEMENTS = /^(?:0A000|26000|42P05)/

/** A lock was not granted in time. */
const LOCK_TIMEOUT = '55P03'

/** The insert of a kept response writes NULL where one that has not expired exists. */
const NOT_NULL_VIOLATION = '23502'

/** @param error of pg; without an SQLSTATE it is an error of the connection */
export function translatePostgres(error: unknown): Error {
  if (error instanceof StoreUnavailableError) return error
  if (!(error instanceof pg.DatabaseError))
    return new StoreUnavailableError(`PostgreSQL: ${(error as Error).message}`, { cause: error })
  if (error.code === NOT_NULL_VIOLATION && error.table === 'idempotency') return new AlreadyExecutedError()
  if (CORRUPT.test(error.code ?? ''))
    return new StoreCorruptError(`PostgreSQL: ${error.code} ${error.message}`, { cause: error })
  return UNAVAILABLE.test(error.code ?? '') || STALE_STATEMENTS.test(error.code ?? '')
    ? new StoreUnavailableError(`PostgreSQL: ${error.code} ${error.message}`, { cause: error })
    : error
}

/** Node's codes for a server that cannot be reached, or whose name cannot be looked up, at this moment. */
const UNREACHABLE = [
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'ETIMEDOUT',
]

/** SQLSTATE of a server that has no connection left (53300), starts, stops or recovers (57P01 to 57P03), or is a standby (25006). */
const NOT_NOW = /^(?:08|53300|57P0[123]|25006)/

/**
 * Whether a connection that failed may succeed later without anybody's help. False for a wrong password, a missing database or an untrusted
 * certificate.
 */
export function isOutOfReach(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isOutOfReach)
  const { code, message, syscall } = error as NodeJS.ErrnoException
  if (error instanceof pg.DatabaseError) return NOT_NOW.test(error.code ?? '')
  // ENOENT of a file is a missing certificate or password; ENOENT of a socket is a server that is not running.
  if (code === 'ENOENT') return syscall === 'connect'
  return (
    (code !== undefined && UNREACHABLE.includes(code)) ||
    /timeout expired|connection timeout|timeout exceeded|Connection terminated|standby/.test(message)
  )
}

export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === LOCK_TIMEOUT
}

/**
 * Whether the error is an answer of the server after which the connection can still be used. False when the server ends the connection:
 * statements that were on their way, even a commit, may have happened or not. Judged by the code, because the severity is translated to the
 * server's language.
 */
export function isAnswer(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false
  return !ENDS_CONNECTION.test(error.code ?? '') && !STALE_STATEMENTS.test(error.code ?? '')
}
