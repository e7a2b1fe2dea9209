/** A pool of connections to the host that can be written. Each connection is checked when it is made. */
import pg, { type PoolClient } from 'pg'
import { StoreUnavailableError } from '../../../storage/store.js'
import { clientOptions, type OptionsOf, type PostgresAccess, PostgresClient } from './postgres-client.js'
import { isAnswer, translatePostgres } from './postgres-errors.js'
import { Pipeline } from './postgres-pipeline.js'
import { beginSession, type Timeouts } from './postgres-session.js'
import { timelineOf } from './postgres-timeline.js'

const KEEP_ALIVE_MS = 10_000
/** Milliseconds after which a host that does not answer is left out of the search for the newest primary. */
const PROBE_MS = 1500
/** How long a process that ends waits for an answer, or for the server to close the connections. */
const GOODBYE_MS = 2000
const LEAVING_POLL_MS = 200
/** An answer that has taken longer than this counts as silence of the server. */
const SILENT_MS = 1000

/** The error by which pg-pool reports that no connection became free in time. */
const QUEUE_TIMEOUT = 'timeout exceeded when trying to connect'

export interface PoolOptions {
  /** Maximum number of connections. */
  size: number
  /** Null for work that may take long: no statement times out, and none is sent before the one before it is answered. */
  timeouts: Timeouts | null
  /** Settings of the server for these connections. */
  settings?: Record<string, string>
}

export interface PostgresQuery extends pg.QueryConfig {
  /** Whether the statement is answered at once, so that others may wait behind it. */
  isQuick?: boolean
}

export class PostgresPool {
  private readonly pool: pg.Pool
  private pipeline: Pipeline | null = null
  /** Times at which statements were sent that have no answer yet, the oldest first; on the axis of `performance.now()`. */
  private readonly unanswered = new Set<{ sinceMs: number }>()
  /** When an answer last came after a silence, or failed to come. */
  private lastSilentMs = Number.NEGATIVE_INFINITY
  private readonly optionsOf: OptionsOf
  private readonly clients = new Set<PostgresClient>()
  private leaving: NodeJS.Timeout | undefined
  private hasGivenUp = false

  /** @throws ConfigError when a file of the TLS options cannot be read */
  constructor(
    private readonly access: PostgresAccess,
    { size, timeouts, settings = {} }: PoolOptions,
  ) {
    const { target, hosts } = access
    const { clients, heard, unanswered } = this
    const optionsOf = clientOptions(access)
    this.optionsOf = optionsOf
    class PooledClient extends PostgresClient {
      constructor(config: pg.ClientConfig) {
        super({ ...config, ...optionsOf() })
        clients.add(this)
        this.on('end', () => clients.delete(this))
      }

      override query: pg.Client['query'] = (...given: unknown[]) => {
        if (timeouts) this.corkUntilNextTick()
        const asked = { sinceMs: performance.now() }
        unanswered.add(asked)
        const answer = (super.query as (...given: unknown[]) => Promise<unknown>)(...given)
        const answered = () => heard(asked)
        answer.then(answered, answered)
        return answer as never
      }
    }
    this.pool = new pg.Pool({
      Client: PooledClient as unknown as typeof pg.Client,
      max: size,
      connectionTimeoutMillis: target.connectTimeoutMs,
      idleTimeoutMillis: 0,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      pipeline: timeouts !== null,
      ...(timeouts ? { query_timeout: timeouts.queryMs } : {}),
      onConnect: async (client) => {
        await beginSession(client, { timeouts, settings })
        const timeline = await timelineOf(client)
        if (timeline) hosts.timelines.admit(timeline)
      },
    })
    this.pool.on('error', () => {})
  }

  /** Takes a connection to the current host, or to another when that fails. @throws Error of pg from the last host */
  async acquire(): Promise<PoolClient> {
    const { hosts } = this.access
    await hosts.chooseOnce(() => this.findNewestPrimary())
    for (let tries = 1; ; ) {
      if (this.hasGivenUp)
        throw new StoreUnavailableError('PostgreSQL does not answer, and the service is stopping')
      const tried = hosts.current
      const asked = { sinceMs: performance.now() }
      this.unanswered.add(asked)
      try {
        const client = await this.pool.connect()
        if (hosts.isCurrent(client)) return client
        // The connection leads to a host that is not the current one any more.
        client.release(true)
      } catch (error) {
        // All connections are in use, which says nothing about the host.
        if ((error as Error).message === QUEUE_TIMEOUT) throw error
        hosts.leave(tried)
        if (++tries > hosts.count) throw error
      } finally {
        this.heard(asked)
      }
    }
  }

  /** Whether the connection leads to the current host. */
  readonly leadsToCurrent = (client: PoolClient): boolean => this.access.hosts.isCurrent(client)

  /** Asks every host over a separate connection, and makes the primary with the highest timeline the current one. Never rejects. */
  findNewestPrimary(): Promise<void> {
    return this.access.hosts.chooseNewest(async (host) => {
      const timeouts = { connectionTimeoutMillis: PROBE_MS, query_timeout: PROBE_MS }
      const client = new PostgresClient({ ...timeouts, ...this.optionsOf(host) })
      try {
        await client.connect()
        return await timelineOf(client)
      } finally {
        client.abandon()
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
        if (isRetry || isAnswer(error) || performance.now() - startedMs > SILENT_MS)
          throw translatePostgres(error)
      }
    }
  }

  /** Whether an answer has been missing for more than a second since then. @param sinceMs on the axis of `performance.now()` */
  hasBeenSilentSince(sinceMs: number): boolean {
    const [oldest] = this.unanswered
    return this.lastSilentMs >= sinceMs || (oldest !== undefined && isSilent(oldest))
  }

  /**
   * Announces that the process ends. Callers have their answers, and what is still to be written is not worth waiting for a database that is
   * gone: once an answer is missing for GOODBYE_MS, all connections are closed, and none is made any more.
   */
  leave(): void {
    this.leaving = setInterval(() => {
      const [oldest] = this.unanswered
      if (!oldest || performance.now() - oldest.sinceMs < GOODBYE_MS) return
      this.hasGivenUp = true
      for (const client of this.clients) client.abandon()
    }, LEAVING_POLL_MS).unref()
  }

  /** Waits for the statements under way, and closes all connections, those that the server does not close after GOODBYE_MS. */
  async end(): Promise<void> {
    const late = setTimeout(() => {
      for (const client of this.clients) client.abandon()
    }, GOODBYE_MS)
    await this.pool.end()
    clearTimeout(late)
    clearInterval(this.leaving)
  }

  private readonly heard = (asked: { sinceMs: number }): void => {
    this.unanswered.delete(asked)
    if (isSilent(asked)) this.lastSilentMs = performance.now()
  }

  /** The shared connection, or a new one while a statement on the present one takes long. */
  private openPipeline(): Pipeline {
    if (!this.pipeline?.isOpen(this.leadsToCurrent)) this.pipeline = new Pipeline(this.acquire())
    return this.pipeline
  }
}

function isSilent({ sinceMs }: { sinceMs: number }): boolean {
  return performance.now() - sinceMs > SILENT_MS
}
