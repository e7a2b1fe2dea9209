/** Connections to whichever of the hosts can be written, each looked at when it is made. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import pg, { type ClientBase, type PoolClient } from 'pg'
import { ConfigError } from '../config/config-error.js'
import type { PostgresTarget } from '../config/postgres-url.js'
import { isAnswer, translatePostgres } from './postgres-errors.js'
import type { SilenceWatch, WatchedConnection } from './postgres-silence.js'

const OLDEST_VERSION = 15
/**
 * Each shorter than the next, and all shorter than a request's deadline: the server gives a statement up before we give the server up,
 * or it would go on with what nobody waits for.
 */
const LOCK_MS = 5000
const STATEMENT_MS = 6000
const QUERY_MS = 8000
/**
 * A node that stands still, or is cut off, with the lane in its hand loses it, before those who wait give up; our own transactions
 * never wait for anything but the server.
 */
const IDLE_IN_TRANSACTION_MS = 1500
const KEEP_ALIVE_MS = 10_000
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
/** As pg-pool says that none of its connections became free in time. */
const QUEUE_TIMEOUT = 'timeout exceeded when trying to connect'
const INT8 = pg.types.builtins.INT8

/** Times are milliseconds, far below 2^53: numbers, not the strings that pg makes of bigint. */
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/** Which host is the one to be written: of all pools of a store. */
export class Hosts {
  private index = 0

  constructor(private readonly all: PostgresTarget['hosts']) {}

  get current(): PostgresTarget['hosts'][number] {
    return this.all[this.index]!
  }

  get count(): number {
    return this.all.length
  }

  /** Of several that found out the same, the first one moves on. */
  leave(host: PostgresTarget['hosts'][number]): void {
    if (host === this.current) this.index = (this.index + 1) % this.all.length
  }
}

export interface PoolOptions {
  /** The most connections at once. */
  size: number
  /** Sends without waiting for what was sent before. */
  pipeline?: boolean
  /** For work that may take long: no statement is given up. */
  isPatient?: boolean
  /** Of the server, for these connections. */
  settings?: Record<string, string>
  /** Ends those that are lost without a sign. */
  silence?: SilenceWatch | undefined
}

/** Where the server stands, and how one signs in there. */
export interface PostgresAccess {
  target: PostgresTarget
  hosts: Hosts
  /** Read for every connection: it may be replaced meanwhile. */
  passwordFile: string | undefined
}

/** What is asked for in one turn leaves in one piece: else each statement costs a system call here, and a wake-up at the server. */
function sendTogether(client: pg.Client): void {
  const query = client.query.bind(client) as (...given: unknown[]) => unknown
  let isHeld = false
  client.query = ((...given: unknown[]) => {
    if (!isHeld) {
      const { stream } = client.connection
      stream.cork()
      isHeld = true
      process.nextTick(() => {
        isHeld = false
        stream.uncork()
      })
    }
    return query(...given)
  }) as typeof client.query
}

export class PostgresPool {
  private readonly pool: pg.Pool
  private readonly hostOf = new WeakMap<ClientBase, PostgresTarget['hosts'][number]>()
  /** A connection to the present host that is none of the pool's. */
  private readonly makeApart: (timeoutMs: number) => pg.Client

  /** @throws ConfigError when a file of the TLS options cannot be read */
  constructor(
    private readonly access: PostgresAccess,
    { size, pipeline = false, isPatient = false, settings = {}, silence }: PoolOptions,
  ) {
    const { target, hosts, passwordFile } = access
    const { hostOf } = this
    const watched = new WeakMap<ClientBase, WatchedConnection>()
    let ssl = tlsOptions(target)
    /** Certificates are replaced while the service runs; files that cannot be read just now leave those from before. */
    const readTls = () => {
      try {
        ssl = tlsOptions(target)
      } catch {
        // Shows when what is there has expired.
      }
      return ssl
    }
    // Never undefined: pg would look for one in the environment and in home folders.
    const password = passwordFile
      ? async () => (await readFile(passwordFile, 'utf8')).trimEnd()
      : (target.password ?? '')
    class HostClient extends pg.Client {
      constructor(config?: pg.ClientConfig) {
        const at = hosts.current
        super({ ...config, ...at, password, ssl: at.host.startsWith('/') ? false : readTls() })
        hostOf.set(this, at)
        // A connection that breaks shows in what is sent next; without a listener it would end the process.
        this.on('error', () => {})
      }
    }
    /** Of the pool. */
    class PooledClient extends HostClient {
      private readonly watched = silence?.watch(() => this.connection.stream.destroy())

      constructor(config?: pg.ClientConfig) {
        super(config)
        if (pipeline) sendTogether(this)
        if (!this.watched) return
        watched.set(this, this.watched)
        this.on('end', this.watched.forget)
        const query = this.query.bind(this) as (...given: unknown[]) => Promise<unknown>
        this.query = ((...given: unknown[]) => {
          const answered = this.watched!.ask()
          const answer = query(...given)
          answer.then(answered, answered)
          return answer
        }) as typeof this.query
      }

      /** pg would leave a connection open on which it could not sign in. */
      override connect(): Promise<pg.Client>
      override connect(callback: (error: Error) => void): void
      override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
        if (!callback) return super.connect()
        const answered = this.watched?.ask()
        super.connect((error: Error) => {
          answered?.()
          if (error) this.connection.stream.destroy()
          callback(error)
        })
        return undefined
      }
    }
    const session = {
      user: target.user,
      database: target.database,
      ...(target.options === undefined ? {} : { options: target.options }),
      application_name: 'countersign',
    }
    this.makeApart = (timeoutMs) =>
      new HostClient({ ...session, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs })
    this.pool = new pg.Pool({
      ...session,
      Client: PooledClient,
      max: size,
      connectionTimeoutMillis: target.connectTimeoutMs,
      idleTimeoutMillis: 0,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      pipeline,
      types,
      ...(isPatient ? {} : { query_timeout: QUERY_MS }),
      onConnect: async (client) => {
        const { pid } = await assertUsable(client)
        const connection = watched.get(client)
        if (connection) connection.pid = pid
        await set(client, {
          [SESSION_MARK]: 'ours',
          ...KEEP_ALIVE,
          ...(isPatient ? {} : BOUNDS),
          ...settings,
        })
      },
    })
    this.pool.on('error', () => {})
  }

  /** @throws Error of pg, of the host that was tried last */
  async acquire(): Promise<PoolClient> {
    for (let tries = 1; ; ) {
      const { hosts } = this.access
      const tried = hosts.current
      try {
        const client = await this.pool.connect()
        if (this.hostOf.get(client) === hosts.current) return client
        // It leads to a host that has been left meanwhile.
        client.release(true)
      } catch (error) {
        // All connections are at work, which says nothing of the host.
        if ((error as Error).message === QUEUE_TIMEOUT) throw error
        hosts.leave(tried)
        if (++tries > hosts.count) throw error
      }
    }
  }

  /** Outside a transaction. @throws as translatePostgres makes it */
  async query(query: pg.QueryConfig): Promise<pg.QueryResult> {
    for (let isRetry = false; ; isRetry = true) {
      const client = await this.acquire().catch((error) => {
        throw translatePostgres(error)
      })
      const startedMs = performance.now()
      try {
        const result = await client.query(query)
        client.release()
        return result
      } catch (error) {
        client.release(isAnswer(error) ? undefined : true)
        // A connection that has stood idle may be lost without a sign; a server that hangs does not get the same twice.
        if (isRetry || isAnswer(error) || performance.now() - startedMs > STATEMENT_MS)
          throw translatePostgres(error)
      }
    }
  }

  /** Over a connection of its own, which is made for it. @throws Error of pg */
  async queryApart(query: pg.QueryConfig, timeoutMs: number): Promise<pg.QueryResult> {
    const client = this.makeApart(timeoutMs)
    try {
      await client.connect()
      return await client.query(query)
    } finally {
      // In order, or at once where nothing is heard of the server; the process may end before it hangs up.
      ;(client.connection.stream as Socket).unref()
      client.end().catch(() => {})
    }
  }

  /** Waits for what is under way. */
  end(): Promise<void> {
    return this.pool.end()
  }
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

function tlsOptions({ tls, rootCertFile, certFile, keyFile }: PostgresTarget): false | ConnectionOptions {
  if (tls === 'disable') return false
  const ca = rootCertFile === undefined ? undefined : readPem(rootCertFile)
  return {
    // As libpq has it: whoever names authorities wants them asked.
    rejectUnauthorized: tls !== 'require' || ca !== undefined,
    ...(ca === undefined ? {} : { ca }),
    ...(certFile && keyFile ? { cert: readPem(certFile), key: readPem(keyFile) } : {}),
    ...(tls === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  }
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new ConfigError(`COUNTERSIGN_DATABASE cannot be used: ${(cause as Error).message}.`)
  }
}
