/** The Store on PostgreSQL: writing in grouped commits over one connection, reading over connections of its own. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { describePostgres, type PostgresTarget, parsePostgresUrl } from '../../config/postgres-url.js'
import { CodedError } from '../../lib/errors.js'
import { PeriodicTask } from '../../lib/periodic-task.js'
import type { ServiceNode } from '../coordinator.js'
import { storeReader } from '../statements.js'
import {
  BackupUnsupportedError,
  type CommitReport,
  readerWhoseErrors,
  SchemaOutdatedError,
  type Scope,
  type Store,
  StoreCorruptError,
  StoreOpenError,
  type StoreReader,
  type StoreTransaction,
  StoreUnavailableError,
} from '../store.js'
import { examinePostgres } from './postgres-check.js'
import { postgresConnection } from './postgres-connection.js'
import { PostgresCoordinator } from './postgres-coordinator.js'
import { DeadConnectionDetector } from './postgres-dead-connections.js'
import { isOutOfReach } from './postgres-errors.js'
import { migrate, SCHEMA, schemaVersion } from './postgres-migrations.js'
import { Hosts, type PostgresAccess, PostgresPool } from './postgres-pool.js'
import { listServices, PostgresShared } from './postgres-shared.js'
import { Timelines } from './postgres-timeline.js'
import { PARTITION_LOCK_MS, PostgresWriter } from './postgres-writer.js'

/** Reads under way at once; what comes beyond them waits. */
const READERS = 8
/** Health is asked for by those who decide soon. */
const HEALTH_MS = 2000
/** How often a service with several hosts looks whether another one was promoted while the present one goes on. */
const PRIMARY_LOOK_MS = 2000
const SIZE_KEPT_MS = 60_000
/** A page or index can be repaired while the service runs; so the finding ends once nobody meets the damage again. */
const CORRUPT_MS = 600_000

export interface PostgresOptions {
  /** Instead of the password in the URL; read for every connection. */
  passwordFile?: string | undefined
  /** Where the highest timelines are remembered from one start to the next; only a service writes it. */
  timelineFile?: string | undefined
  /** A service, which works together with others on the database. Commands only write there. */
  serving?: boolean
  /** The schema of an earlier version may be brought up to date, as a service does at its start. */
  migrating?: boolean
}

/**
 * Makes the schema where there is none.
 * @throws ConfigError for a URL that cannot be used; StoreOpenError when server or schema cannot be used or reached;
 * SchemaOutdatedError for the schema of an earlier version, unless `serving` or `migrating`
 */
export async function openPostgresStore(url: string, options: PostgresOptions = {}): Promise<PostgresStore> {
  const access = accessOf(url, options)
  return opening(access.target, async () => {
    await withClient(access, async (client) => {
      const found = await schemaVersion(client)
      if (found > 0 && found < SCHEMA && !options.serving && !options.migrating)
        throw new SchemaOutdatedError(describePostgres(access.target), found, SCHEMA)
      await migrate(client)
    })
    return PostgresStore.start(access, options)
  })
}

/**
 * Only reads.
 * @returns the schema of the database, 0 where there is none, and the schema of this version
 * @throws ConfigError; StoreOpenError as `openPostgresStore` does
 */
export async function postgresSchemas(
  url: string,
  options: PostgresOptions = {},
): Promise<{ found: number; own: number }> {
  const access = accessOf(url, options)
  return opening(access.target, async () => ({
    found: await withClient(access, (client) => schemaVersion(client)),
    own: SCHEMA,
  }))
}

/** Ids of the master keys that open a database of this version's schema. @throws as `openPostgresStore` */
export async function postgresMasterKeys(url: string, options: PostgresOptions = {}): Promise<string[]> {
  const access = accessOf(url, options)
  return opening(access.target, async () => {
    const { rows } = await withClient(access, (client) =>
      client.query<{ id: string }>('SELECT master_key_id AS id FROM keyring ORDER BY created_at'),
    )
    return rows.map(({ id }) => id)
  })
}

export class PostgresStore implements Store {
  /** Of the service alone: commands execute nothing for a key. */
  readonly coordinator: PostgresCoordinator | null
  readonly schema = SCHEMA
  readonly makesBackups = false
  readonly read: StoreReader
  readonly shared: PostgresShared
  private readonly writer: PostgresWriter
  private readonly writers: PostgresPool
  private readonly readers: PostgresPool
  private readonly silence: DeadConnectionDetector
  private knownSize = { bytes: 0, askedAtMs: Number.NEGATIVE_INFINITY }
  private closing: Promise<void> | null = null
  private readonly primaryWatch: PeriodicTask | null
  /** On the axis of `performance.now()`. */
  private corruptAtMs = Number.NEGATIVE_INFINITY

  private constructor(
    private readonly access: PostgresAccess,
    { serving = false }: PostgresOptions,
  ) {
    this.silence = new DeadConnectionDetector((query, timeoutMs) => this.readers.queryApart(query, timeoutMs))
    const { silence } = this
    const settings = { lock_timeout: `${PARTITION_LOCK_MS}ms` }
    this.writers = new PostgresPool(access, { size: 1, settings, silence })
    this.readers = new PostgresPool(access, { size: READERS, silence })
    this.writer = new PostgresWriter(this.writers)
    this.coordinator = serving ? new PostgresCoordinator(access, silence) : null
    const look = () => this.readers.findNewestPrimary()
    this.primaryWatch =
      serving && access.hosts.count > 1 ? new PeriodicTask(PRIMARY_LOOK_MS, look, () => {}) : null
    this.primaryWatch?.start()
    const connection = postgresConnection((query) => this.readers.query(query))
    this.read = readerWhoseErrors(this.notice, storeReader(connection))
    this.shared = new PostgresShared(this.readers, this.writer)
  }

  /** @throws Error of pg */
  static async start(access: PostgresAccess, options: PostgresOptions): Promise<PostgresStore> {
    const store = new PostgresStore(access, options)
    try {
      await store.writer.connect()
      await store.coordinator?.start()
      await store.askSize()
      return store
    } catch (error) {
      await store.close()
      throw error
    }
  }

  transaction<T>(work: (tx: StoreTransaction) => Promise<T>, deadlineMs?: number, scope?: Scope): Promise<T> {
    return this.writer.transaction(work, deadlineMs, scope).catch((error) => {
      throw this.notice(error)
    })
  }

  get isCorrupt(): boolean {
    return performance.now() - this.corruptAtMs < CORRUPT_MS
  }

  async isHealthy(): Promise<boolean> {
    const asked = async () => {
      await this.read.tenantById('')
      if (this.writer.isFailing) await this.assertWritable(performance.now() + HEALTH_MS)
      return true
    }
    const late = new AbortController()
    try {
      return await Promise.race([asked(), sleep(HEALTH_MS, false, { signal: late.signal })])
    } catch {
      return false
    } finally {
      late.abort()
    }
  }

  async assertWritable(deadlineMs?: number): Promise<void> {
    try {
      // Every group writes the row of a lane.
      await this.transaction(async () => {}, deadlineMs)
    } catch (error) {
      const { message } = ((error as Error).cause ?? error) as Error
      throw new StoreUnavailableError(
        `Cannot write the ${describePostgres(this.access.target)}: ${message}`,
        {
          cause: error,
        },
      )
    }
  }

  backup(): Promise<never> {
    return Promise.reject(new BackupUnsupportedError())
  }

  hasBeenSilentSince(sinceMs: number): boolean {
    return this.silence.lastSilentMs >= sinceMs
  }

  get presence(): PostgresCoordinator | null {
    return this.coordinator
  }

  services(): Promise<ServiceNode[]> {
    return listServices(this.readers)
  }

  observeCommits(observer: (report: CommitReport) => void): void {
    this.writer.onCommit = observer
  }

  /** As of a minute ago at most: the server looks at every file for it. Its log is shared by all its databases. */
  size(): { database: number; log: null } {
    if (performance.now() - this.knownSize.askedAtMs > SIZE_KEPT_MS)
      // Whether the database can be reached is told elsewhere.
      this.askSize().catch(() => {})
    return { database: this.knownSize.bytes, log: null }
  }

  async check(): Promise<string[]> {
    return withClient(this.access, examinePostgres)
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      // Both begin in this turn: a write that is asked for after close() is refused.
      await Promise.all([this.primaryWatch?.stop(), this.writer.close()])
      await this.coordinator?.stop()
      await Promise.all([this.writers.end(), this.readers.end()])
      this.silence.stop()
    })()
    return this.closing
  }

  private readonly notice = (error: unknown): unknown => {
    if (error instanceof StoreCorruptError) this.corruptAtMs = performance.now()
    return error
  }

  private async askSize(): Promise<void> {
    this.knownSize.askedAtMs = performance.now()
    const { rows } = await this.readers.query({
      text: 'SELECT pg_database_size(current_database()) AS bytes',
    })
    this.knownSize.bytes = rows[0].bytes
  }
}

export function accessOf(
  url: string,
  { passwordFile, timelineFile, serving }: PostgresOptions,
): PostgresAccess {
  const target = parsePostgresUrl(url)
  const memory = timelineFile === undefined ? null : { file: timelineFile, isWriting: serving ?? false }
  return { target, hosts: new Hosts(target.hosts, new Timelines(memory)), passwordFile }
}

/** One connection, on which work may take long. */
async function withClient<T>(access: PostgresAccess, work: (client: ClientBase) => Promise<T>): Promise<T> {
  const pool = new PostgresPool(access, { size: 1, isLongRunning: true })
  try {
    const client = await pool.acquire()
    try {
      return await work(client)
    } finally {
      client.release()
    }
  } finally {
    await pool.end()
  }
}

export async function opening<T>(target: PostgresTarget, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof CodedError) throw cause
    throw new StoreOpenError(`Cannot use the ${describePostgres(target)}: ${reasonOf(cause as Error)}`, {
      cause,
      isPassing: isOutOfReach(cause),
    })
  }
}

/** Node tries every address of a name, and tells of them together. */
function reasonOf(error: Error): string {
  return error instanceof AggregateError && error.errors.length > 0
    ? error.errors.map(({ message }: Error) => message).join('; ')
    : error.message
}
