/** Translates PostgreSQL's errors. Every error that the statement itself has not caused becomes a StoreUnavailableError. */
import pg from 'pg'
import { AlreadyExecutedError, StoreCorruptError, StoreUnavailableError } from '../../../storage/store.js'

/**
 * SQLSTATE of errors that the statement itself causes (PostgreSQL manual, appendix A): its data, constraints, syntax and size, and the
 * exceptions of triggers. Trying again does not help. All other errors come from the server, the session or the network, and pass without a
 * change of this program. 42501 is a missing privilege of the role; 42P05 is explained at UNKNOWN_STATE.
 */
const CAUSED_BY_STATEMENT = /^(?:21|22|23|27|38|39|42(?!501|P05)|44|54|P0)/

/** A damaged page or index (data_corrupted, index_corrupted). */
const CORRUPT = /^(?:XX001|XX002)/

/**
 * After these errors the state of the session is unknown, so its connection must be closed: connection failures and shutdowns (08, 57P);
 * transactions that this process believes to be in another state, or that were idle for too long (25, 2D, 3B); prepared statements that are
 * missing, exist already, or have other columns now (26, 34, 42P05, 0A000).
 */
const UNKNOWN_STATE = /^(?:08|57P|25|2D|3B|26|34|42P05|0A000)/

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
  return CAUSED_BY_STATEMENT.test(error.code ?? '')
    ? error
    : new StoreUnavailableError(`PostgreSQL: ${error.code} ${error.message}`, { cause: error })
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
 * Whether the error is an answer of the server after which the connection can still be used. When it is not, statements that were on their
 * way, even a commit, may have happened or not. Judged by the code, because the severity is translated to the server's language.
 */
export function isAnswer(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !UNKNOWN_STATE.test(error.code ?? '')
}
