/** Connections to whichever of the hosts can be written, each looked at when it is made. */
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

/** A host that does not answer within this time is left out when the newest primary is looked for. */
const PROBE_MS = 1500

/** As pg-pool says that none of its connections became free in time. */
const QUEUE_TIMEOUT = 'timeout exceeded when trying to connect'

/** Which host is the one to be written: of all pools of a store. */
export class Hosts {
  private index = 0
  private firstChoice: Promise<void> | null = null

  constructor(
    private readonly all: PostgresTarget['hosts'],
    /** The known failovers of these hosts. */
    readonly timelines: Timelines = new Timelines(null),
  ) {}

  get current(): PostgresTarget['hosts'][number] {
    return this.all[this.index]!
  }

  get count(): number {
    return this.all.length
  }

  /** Looks for the newest primary before the first connection is made: an older one may stand first in the list. */
  chooseOnce(look: () => Promise<void>): Promise<void> {
    this.firstChoice ??= this.all.length > 1 ? look() : Promise.resolve()
    return this.firstChoice
  }

  /**
   * Makes the primary with the highest timeline the current host; without any that can be reached, the current one stays.
   * @param ask gives null for a standby and rejects for a host that cannot be reached
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

  /** Of several that found out the same, the first one moves on. */
  leave(host: PostgresTarget['hosts'][number]): void {
    if (host === this.current) this.index = (this.index + 1) % this.all.length
  }
}

export interface PoolOptions {
  /** The most connections at once. */
  size: number
  /** For work that may take long: no statement is given up, and none is sent before the one before it is answered. */
  isLongRunning?: boolean
  /** Of the server, for these connections. */
  settings?: Record<string, string>
  /** Ends those that are lost without a sign. */
  silence?: DeadConnectionDetector | undefined
}

/** Where the server stands, and how one signs in there. */
export interface PostgresAccess {
  target: PostgresTarget
  hosts: Hosts
  /** Read for every connection: it may be replaced meanwhile. */
  passwordFile: string | undefined
}

export interface PostgresQuery extends pg.QueryConfig {
  /** Is answered at once, so that others may wait behind it. */
  isQuick?: boolean
}

export class PostgresPool {
  private readonly pool: pg.Pool
  private readonly hostOf = new WeakMap<ClientBase, PostgresTarget['hosts'][number]>()
  private readonly watched = new WeakMap<ClientBase, WatchedConnection>()
  private pipeline: Pipeline | null = null
  /** A connection to the present host that is none of the pool's. */
  private readonly makeSeparateClient: (
    timeoutMs: number,
    host?: PostgresTarget['hosts'][number],
  ) => pg.Client

  /** @throws ConfigError when a file of the TLS options cannot be read */
  constructor(
    private readonly access: PostgresAccess,
    { size, isLongRunning = false, settings = {}, silence }: PoolOptions,
  ) {
    const { target, hosts, passwordFile } = access
    const { hostOf, watched } = this
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
      constructor(config?: pg.ClientConfig, at = hosts.current) {
        super({ ...config, ...at, password, ssl: at.host.startsWith('/') ? false : readTls() })
        hostOf.set(this, at)
        // A connection that breaks shows in what is sent next; without a listener it would end the process.
        this.on('error', () => {})
      }
    }
    /** Of the pool. */
    class PooledClient extends HostClient {
      private readonly watched = silence?.watch(() => this.connection.stream.destroy())
      private readonly known: KnownStatements = new Map()
      private isHeld = false

      constructor(config?: pg.ClientConfig) {
        super(config)
        leaveRowsAsTheyArrive(this.connection)
        if (this.watched) {
          watched.set(this, this.watched)
          this.on('end', this.watched.forget)
        }
        const submit = this.query.bind(this)
        this.query = ((given: pg.QueryConfig | string, values?: unknown[]) => {
          if (!isLongRunning) this.hold()
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

      /** What is asked for in one turn leaves in one piece: else each statement costs a system call here, and a wake-up at the server. */
      private hold(): void {
        if (this.isHeld) return
        const { stream } = this.connection
        stream.cork()
        this.isHeld = true
        process.nextTick(() => {
          this.isHeld = false
          stream.uncork()
        })
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

  /** @throws Error of pg, of the host that was tried last */
  async acquire(): Promise<PoolClient> {
    const { hosts } = this.access
    await hosts.chooseOnce(() => this.findNewestPrimary())
    for (let tries = 1; ; ) {
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

  /** Whether the connection leads to the host that is written now. */
  leadsToCurrent(client: ClientBase): boolean {
    return this.hostOf.get(client) === this.access.hosts.current
  }

  /** Asks every host, each over a connection of its own, and goes on with the primary of the highest timeline. Never rejects. */
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

  /** Outside a transaction. @throws as translatePostgres makes it */
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
        // A connection that has stood idle may be lost without a sign; a server that hangs does not get the same twice.
        if (isRetry || isAnswer(error) || performance.now() - startedMs > STATEMENT_MS)
          throw translatePostgres(error)
      }
    }
  }

  /** Null where it leads to a host that has been left. */
  private readonly silentMs = (client: PoolClient): number | null =>
    this.hostOf.get(client) === this.access.hosts.current ? (this.watched.get(client)?.silentMs() ?? 0) : null

  /** Another one where something on the present one takes long. */
  private openPipeline(): Pipeline {
    if (!this.pipeline?.isOpen(this.silentMs)) this.pipeline = new Pipeline(this.acquire())
    return this.pipeline
  }

  /** Over a connection of its own, which is made for it. @throws Error of pg */
  async queryApart(query: pg.QueryConfig, timeoutMs: number): Promise<pg.QueryResult> {
    const client = this.makeSeparateClient(timeoutMs)
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
