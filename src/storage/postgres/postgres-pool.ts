/** A pool of connections to the host that can be written. Each connection is checked when it is made. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import pg, { type ClientBase, type PoolClient } from 'pg'
import { ConfigError } from '../../config/config-error.js'
import type { PostgresTarget } from '../../config/postgres-url.js'
import type { DeadConnectionDetector, WatchedConnection } from './postgres-dead-connections.js'
import { isAnswer, isStalePlan, translatePostgres } from './postgres-errors.js'
import { Pipeline } from './postgres-pipeline.js'
import { type KnownStatements, queryOf } from './postgres-prepared.js'
import { leaveRowsAsTheyArrive, types } from './postgres-rows.js'
import { beginSession, QUERY_MS, STATEMENT_MS } from './postgres-session.js'
import { type PrimaryTimeline, Timelines, timelineOf } from './postgres-timeline.js'

const KEEP_ALIVE_MS = 10_000

/** Milliseconds after which a host that does not answer is left out of the search for the newest primary. */
const PROBE_MS = 1500

/** The error by which pg-pool reports that no connection became free in time. */
const QUEUE_TIMEOUT = 'timeout exceeded when trying to connect'

/** The hosts of the database and which of them is written, shared by all pools of a store. */
export class Hosts {
  private index = 0
  private firstChoice: Promise<void> | null = null

  constructor(
    private readonly all: PostgresTarget['hosts'],
    /** Failovers of these hosts that are known. */
    readonly timelines: Timelines = new Timelines(null),
  ) {}

  get current(): PostgresTarget['hosts'][number] {
    return this.all[this.index]!
  }

  get count(): number {
    return this.all.length
  }

  /** Chooses the newest primary before the first connection is made, because an older one may come first in the list. */
  chooseOnce(poll: () => Promise<void>): Promise<void> {
    this.firstChoice ??= this.all.length > 1 ? poll() : Promise.resolve()
    return this.firstChoice
  }

  /**
   * Makes the primary with the highest timeline the current host; when none can be reached, the current host stays.
   * @param ask resolves with null for a standby, and rejects for a host that cannot be reached
   */
  async chooseNewest(
    ask: (host: PostgresTarget['hosts'][number]) => Promise<PrimaryTimeline | null>,
  ): Promise<void> {
    const found = await Promise.all(this.all.map((host) => ask(host).catch(() => null)))
    const system = (found[this.index] ?? found.find((one) => one !== null))?.system
    const timelines = found.map((one) => (one?.system === system ? (one?.timeline ?? 0) : 0))
    const highest = Math.max(...timelines)
    if (highest > 0 && timelines[this.index] !== highest) this.index = timelines.indexOf(highest)
  }

  /** Moves on to the next host, unless another caller has done so already. */
  leave(host: PostgresTarget['hosts'][number]): void {
    if (host === this.current) this.index = (this.index + 1) % this.all.length
  }
}

export interface PoolOptions {
  /** Maximum number of connections. */
  size: number
  /** True for work that may take long: no statement times out, and none is sent before the one before it is answered. False by default. */
  isLongRunning?: boolean
  /** Settings of the server for these connections. */
  settings?: Record<string, string>
  /** Drops connections that are lost without a sign. */
  deadConnections?: DeadConnectionDetector | undefined
}

/** Location of the server, and the credentials. */
export interface PostgresAccess {
  target: PostgresTarget
  hosts: Hosts
  /** File of the password. Read for every connection, because it may be replaced while the service runs. */
  passwordFile: string | undefined
}

export interface PostgresQuery extends pg.QueryConfig {
  /** Whether the statement is answered at once, so that others may wait behind it. */
  isQuick?: boolean
}

export class PostgresPool {
  private readonly pool: pg.Pool
  private readonly hostOf = new WeakMap<ClientBase, PostgresTarget['hosts'][number]>()
  private readonly watched = new WeakMap<ClientBase, WatchedConnection>()
  private pipeline: Pipeline | null = null
  /** Makes a connection to the current host, or to `host`, that does not belong to the pool. */
  private readonly makeSeparateClient: (
    timeoutMs: number,
    host?: PostgresTarget['hosts'][number],
  ) => pg.Client

  /** @throws ConfigError when a file of the TLS options cannot be read */
  constructor(
    private readonly access: PostgresAccess,
    { size, isLongRunning = false, settings = {}, deadConnections }: PoolOptions,
  ) {
    const { target, hosts, passwordFile } = access
    const { hostOf, watched } = this
    let ssl = tlsOptions(target)
    /** Certificates may be replaced while the service runs. While the files cannot be read, the last ones stay in use. */
    const readTls = () => {
      try {
        ssl = tlsOptions(target)
      } catch {
        // Connecting fails once the last certificate has expired.
      }
      return ssl
    }
    // Never undefined, because pg would then look for a password in the environment and in home folders.
    const password = passwordFile
      ? async () => (await readFile(passwordFile, 'utf8')).trimEnd()
      : (target.password ?? '')
    class HostClient extends pg.Client {
      constructor(config?: pg.ClientConfig, at = hosts.current) {
        super({ ...config, ...at, password, ssl: at.host.startsWith('/') ? false : readTls() })
        hostOf.set(this, at)
        // The next statement reports that the connection is broken. Without a listener the event would end the process.
        this.on('error', () => {})
      }
    }
    /** A connection of the pool. */
    class PooledClient extends HostClient {
      private readonly watched = deadConnections?.watch(() => this.connection.stream.destroy())
      private readonly known: KnownStatements = new Map()
      private isCorked = false

      constructor(config?: pg.ClientConfig) {
        super(config)
        leaveRowsAsTheyArrive(this.connection)
        if (this.watched) {
          watched.set(this, this.watched)
          this.on('end', this.watched.forget)
        }
        const submit = this.query.bind(this)
        this.query = ((given: pg.QueryConfig | string, values?: unknown[]) => {
          if (!isLongRunning) this.corkUntilNextTick()
          const answered = this.watched?.ask()
          return new Promise((resolve, reject) => {
            submit(
              queryOf(this.known, given, values, (error, result) => {
                answered?.()
                if (isStalePlan(error)) this.connection.stream.destroy()
                if (error) reject(error)
                else resolve(result)
              }),
            )
          })
        }) as typeof this.query
      }

      /** Sends the statements of one turn of the event loop in one write: otherwise each costs a system call here and wakes the server. */
      private corkUntilNextTick(): void {
        if (this.isCorked) return
        const { stream } = this.connection
        stream.cork()
        this.isCorked = true
        process.nextTick(() => {
          this.isCorked = false
          stream.uncork()
        })
      }

      /** Closes the connection when the login fails; pg would leave it open. */
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
    this.makeSeparateClient = (timeoutMs, host) =>
      new HostClient({ ...session, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs }, host)
    this.pool = new pg.Pool({
      ...session,
      Client: PooledClient,
      max: size,
      connectionTimeoutMillis: target.connectTimeoutMs,
      idleTimeoutMillis: 0,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      pipeline: !isLongRunning,
      types,
      ...(isLongRunning ? {} : { query_timeout: QUERY_MS }),
      onConnect: async (client) => {
        const pid = await beginSession(client, { isLongRunning, settings })
        const timeline = await timelineOf(client)
        if (timeline) hosts.timelines.admit(timeline)
        const connection = watched.get(client)
        if (connection) connection.pid = pid
      },
    })
    this.pool.on('error', () => {})
  }

  /**
   * Takes a connection to the current host, and tries the other hosts when it fails. @throws Error of pg from the host that was tried last
   */
  async acquire(): Promise<PoolClient> {
    const { hosts } = this.access
    await hosts.chooseOnce(() => this.findNewestPrimary())
    for (let tries = 1; ; ) {
      const tried = hosts.current
      try {
        const client = await this.pool.connect()
        if (this.hostOf.get(client) === hosts.current) return client
        // The connection leads to a host that is not the current one any more.
        client.release(true)
      } catch (error) {
        // All connections are in use, which says nothing about the host.
        if ((error as Error).message === QUEUE_TIMEOUT) throw error
        hosts.leave(tried)
        if (++tries > hosts.count) throw error
      }
    }
  }

  /** Whether the connection leads to the current host. */
  leadsToCurrent(client: ClientBase): boolean {
    return this.hostOf.get(client) === this.access.hosts.current
  }

  /** Asks every host over a separate connection, and makes the primary with the highest timeline the current one. Never rejects. */
  findNewestPrimary(): Promise<void> {
    return this.access.hosts.chooseNewest(async (host) => {
      const client = this.makeSeparateClient(PROBE_MS, host)
      try {
        await client.connect()
        return await timelineOf(client)
      } finally {
        ;(client.connection.stream as Socket).unref()
        client.end().catch(() => {})
      }
    })
  }

  /** Runs a statement outside of a transaction. @throws errors as translatePostgres makes them */
  async query(query: PostgresQuery): Promise<pg.QueryResult> {
    for (let isRetry = false; ; isRetry = true) {
      const pipeline = query.isQuick ? this.openPipeline() : null
      const client = await (pipeline?.join() ?? this.acquire()).catch((error) => {
        throw translatePostgres(error)
      })
      const end = (isLost: boolean) => (pipeline ? pipeline.leave(isLost) : client.release(isLost))
      const startedMs = performance.now()
      try {
        const result = await client.query(query)
        end(false)
        return result
      } catch (error) {
        end(!isAnswer(error))
        // An idle connection may be lost without a sign, so the statement is tried once more; but not after a timeout, because a server
        // that hangs must not get it twice.
        if (isRetry || isAnswer(error) || performance.now() - startedMs > STATEMENT_MS)
          throw translatePostgres(error)
      }
    }
  }

  /** Milliseconds for which the connection has owed an answer; null when it leads to another host than the current one. */
  private readonly silentMs = (client: PoolClient): number | null =>
    this.hostOf.get(client) === this.access.hosts.current ? (this.watched.get(client)?.silentMs() ?? 0) : null

  /** The shared connection, or a new one while a statement on the present one takes long. */
  private openPipeline(): Pipeline {
    if (!this.pipeline?.isOpen(this.silentMs)) this.pipeline = new Pipeline(this.acquire())
    return this.pipeline
  }

  /** Runs a statement over a new connection. @throws Error of pg */
  async queryApart(query: pg.QueryConfig, timeoutMs: number): Promise<pg.QueryResult> {
    const client = this.makeSeparateClient(timeoutMs)
    try {
      await client.connect()
      return await client.query(query)
    } finally {
      // `end` sends a goodbye, and the server closes the connection. The process may end before that.
      ;(client.connection.stream as Socket).unref()
      client.end().catch(() => {})
    }
  }

  /** Waits for the statements under way, and closes all connections. */
  end(): Promise<void> {
    return this.pool.end()
  }
}

function tlsOptions({ tls, rootCertFile, certFile, keyFile }: PostgresTarget): false | ConnectionOptions {
  if (tls === 'disable') return false
  const ca = rootCertFile === undefined ? undefined : readPem(rootCertFile)
  return {
    // Certificates are verified when authorities are named, as in libpq.
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
