/** What a session has to be, and is made: looked at once, when its connection is new. */
import type { ClientBase } from 'pg'

const OLDEST_VERSION = 15
/**
 * Each shorter than the next, and all shorter than a request's deadline: the server gives a statement up before we give the server up,
 * or it would go on with what nobody waits for.
 */
const LOCK_MS = 5000
export const STATEMENT_MS = 6000
export const QUERY_MS = 8000
/**
 * A node that stands still, or is cut off, with the lane in its hand loses it, before those who wait give up; our own transactions
 * never wait for anything but the server.
 */
const IDLE_IN_TRANSACTION_MS = 1500
/** Of a node that is gone without a word the server learns soon. */
const KEEP_ALIVE = {
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '3',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '15000',
}
const BOUNDS = {
  lock_timeout: `${LOCK_MS}ms`,
  statement_timeout: `${STATEMENT_MS}ms`,
  idle_in_transaction_session_timeout: `${IDLE_IN_TRANSACTION_MS}ms`,
}

/** Found set where a connection has only just been made, it tells that others have the same session. */
const SESSION_MARK = 'countersign.session'

/**
 * @param isPatient gives no statement up
 * @param settings more of the server's, for this session
 * @returns the server's process
 * @throws Error that says what keeps this server from being used
 */
export async function beginSession(
  client: ClientBase,
  { isLongRunning, settings }: { isLongRunning: boolean; settings: Record<string, string> },
): Promise<number> {
  const { pid } = await assertUsable(client)
  await set(client, {
    [SESSION_MARK]: 'ours',
    ...KEEP_ALIVE,
    ...(isLongRunning ? {} : BOUNDS),
    ...settings,
  })
  return pid
}

/** @throws Error that says what keeps this server from being used */
async function assertUsable(client: ClientBase): Promise<{ pid: number }> {
  const { rows } = await client.query<{
    pid: number
    version: string
    number: number
    encoding: string
    isReadOnly: boolean
    isShared: boolean
  }>(
    `SELECT pg_backend_pid() AS pid, version(), current_setting('server_version_num')::int AS number, current_setting('server_encoding') AS encoding,
       pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS "isReadOnly",
       coalesce(current_setting('${SESSION_MARK}', true), '') <> '' AS "isShared"`,
  )
  const { pid, version, number, encoding, isReadOnly, isShared } = rows[0]!
  if (!/^PostgreSQL /.test(version) || /-YB-|Yugabyte|Cockroach/i.test(version))
    throw new Error(
      `it is ${version.split(' ').slice(0, 4).join(' ')}: only PostgreSQL itself keeps what Countersign relies on.`,
    )
  if (Math.floor(number / 10_000) < OLDEST_VERSION)
    throw new Error(
      `it is ${version.split(' ').slice(0, 2).join(' ')}; Countersign needs ${OLDEST_VERSION} or later.`,
    )
  if (encoding !== 'UTF8') throw new Error(`its encoding is ${encoding}; Countersign needs UTF8.`)
  if (isReadOnly) throw new Error('it can only be read: it is a standby, or set to be read-only.')
  // One connection's commits would be as durable as another has set them.
  if (isShared)
    throw new Error(
      'several connections have one session there: a pooler has to keep one for each (PgBouncer: pool_mode = session).',
    )
  // Where a role or database says otherwise, what was answered could be lost. More than `on` may be asked for, and stays.
  await client.query(
    `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`,
  )
  return { pid }
}

/** By a statement: PgBouncer takes no such parameter with the start of a connection. */
async function set(client: ClientBase, settings: Record<string, string>): Promise<void> {
  await client.query('SELECT set_config(key, value, false) FROM json_each_text($1)', [
    JSON.stringify(settings),
  ])
}
