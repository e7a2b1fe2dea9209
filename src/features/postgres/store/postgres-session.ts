/** Checks and sets up the session of a new connection. */
import type { ClientBase } from 'pg'

const OLDEST_VERSION = 15

/**
 * Milliseconds for which a statement waits. Each is shorter than the next, and all are shorter than a request's deadline: the server has to
 * give up a statement before the service gives up the server, or it would go on with work that nobody waits for.
 */
export interface Timeouts {
  /** Time in which the server has to grant a lock. */
  lockMs: number
  /** Time in which the server has to execute a statement. */
  statementMs: number
  /** Time in which the answer has to arrive. A connection that is lost without a sign, as in a network that drops packets, is found by it. */
  queryMs: number
}
export const TIMEOUTS: Timeouts = { lockMs: 4000, statementMs: 5000, queryMs: 6000 }

/**
 * A node that stalls or is cut off while it holds lock partitions loses them before the nodes that wait give up. Transactions of this
 * service wait for nothing but the server.
 */
const IDLE_IN_TRANSACTION_MS = 1500
/** The server soon learns of a node that is gone without a word. */
const KEEP_ALIVE = {
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '3',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '15000',
}

/** A setting of ours. When a new connection finds it set, a pooler shares one session between several connections. */
const SESSION_MARK = 'countersign.session'

/** @param timeouts null to set none @throws Error that says why this server cannot be used */
export async function beginSession(
  client: ClientBase,
  { timeouts, settings }: { timeouts: Timeouts | null; settings: Record<string, string> },
): Promise<void> {
  await assertUsable(client)
  await set(client, {
    [SESSION_MARK]: 'ours',
    ...KEEP_ALIVE,
    ...(timeouts && {
      lock_timeout: `${timeouts.lockMs}ms`,
      statement_timeout: `${timeouts.statementMs}ms`,
      idle_in_transaction_session_timeout: `${IDLE_IN_TRANSACTION_MS}ms`,
    }),
    ...settings,
  })
}

async function assertUsable(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{
    version: string
    number: number
    encoding: string
    isReadOnly: boolean
    isShared: boolean
  }>(
    `SELECT version(), current_setting('server_version_num')::int AS number, current_setting('server_encoding') AS encoding,
       pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS "isReadOnly",
       coalesce(current_setting('${SESSION_MARK}', true), '') <> '' AS "isShared"`,
  )
  const { version, number, encoding, isReadOnly, isShared } = rows[0]!
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
  // In a shared session another connection could turn off synchronous commits.
  if (isShared)
    throw new Error(
      'several connections have one session there: a pooler has to keep one for each (PgBouncer: pool_mode = session).',
    )
  // A role or database may set `off`, with which a commit that was answered could be lost. Stricter values than `on` are kept.
  await client.query(
    `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`,
  )
}

/** Set by a statement, because PgBouncer refuses these parameters at the start of a connection. */
async function set(client: ClientBase, settings: Record<string, string>): Promise<void> {
  await client.query('SELECT set_config(key, value, false) FROM json_each_text($1)', [
    JSON.stringify(settings),
  ])
}
