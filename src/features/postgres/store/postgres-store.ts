/** The Store on PostgreSQL: one connection writes in groups, others read. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { CodedError } from '../../../lib/errors.js'
import { PeriodicTask } from '../../../lib/periodic-task.js'
import type { ServiceNode } from '../../../storage/coordinator.js'
import { tablesWith } from '../../../storage/endings.js'
import { storeReader } from '../../../storage/statements/statements.js'
import {
  type CommitReport,
  type Inspection,
  type OpenOptions,
  SchemaOutdatedError,
  type Scope,
  type SharedStore,
  type Store,
  StoreCorruptError,
  StoreOpenError,
  type StoreReader,
  type StoreTransaction,
  StoreUnavailableError,
} from '../../../storage/store.js'
import type { Table } from '../../../storage/table.js'
import { describePostgres, type PostgresTarget, parsePostgresUrl } from '../postgres-url.js'
import { examinePostgres } from './postgres-check.js'
import type { PostgresAccess } from './postgres-client.js'
import { postgresConnection } from './postgres-connection.js'
import { listServices, PostgresCoordinator } from './postgres-coordinator.js'
import { isOutOfReach } from './postgres-errors.js'
import { Hosts } from './postgres-hosts.js'
import { buildMissingIndexes } from './postgres-indexes.js'
import { migrate, SCHEMA, schemaVersion } from './postgres-migrations.js'
import { PostgresPool } from './postgres-pool.js'
import { TIMEOUTS } from './postgres-session.js'
import { sharedStore } from './postgres-shared-store.js'
import { Timelines } from './postgres-timeline.js'
import { PostgresWriter } from './postgres-writer.js'

/** Maximum number of reads under way; further reads wait. */
const READERS = 8
/** Callers of the health check decide within seconds. */
const HEALTH_MS = 2000
/** How often a service with several hosts checks whether another host was promoted while the current one still answers. */
const PRIMARY_POLL_MS = 2000
const SIZE_KEPT_MS = 60_000
/** Damage is reported until no statement has met it for this time, because a page or index can be repaired while the service runs. */
const CORRUPT_MS = 600_000

export interface PostgresOptions extends OpenOptions {
  /** File of the password, which replaces the password in the URL; read for every connection. */
  passwordFile?: string | undefined
  /** File that remembers the highest timelines between two starts; only a service writes it. */
  timelineFile?: string | undefined
}

/**
 * Opens the store, and creates the schema where there is none.
 * @throws ConfigError for a URL that cannot be used; StoreOpenError when server or schema cannot be used or reached; SchemaOutdatedError
 * for the schema of an earlier version, unless `serving` or `migrating`
 */
export async function openPostgresStore(url: string, options: PostgresOptions = {}): Promise<PostgresStore> {
  const access = accessOf(url, options)
  return opening(access.target, async () => {
    await withClient(access, async (client) => {
      const found = await schemaVersion(client)
      if (found > 0 && found < SCHEMA && !options.serving && !options.migrating)
        throw new SchemaOutdatedError(describePostgres(access.target), found, SCHEMA)
      await migrate(client, options.tables)
      if (options.serving || options.migrating) await buildMissingIndexes(client)
    })
    return PostgresStore.start(access, options)
  })
}

/** @throws ConfigError; StoreOpenError as `openPostgresStore` does */
export function inspectPostgres(url: string, options: PostgresOptions = {}): Promise<Inspection> {
  return asking(url, options, async (client) => {
    const found = await schemaVersion(client)
    if (found < SCHEMA) return { found, own: SCHEMA, masterKeys: [] }
    const { rows } = await client.query('SELECT master_key_id AS id FROM keyring ORDER BY created_at')
    return { found, own: SCHEMA, masterKeys: rows.map(({ id }) => id) }
  })
}

/**
 * Asks the server whether it waits for its disk, which no session can enforce.
 * @throws ConfigError; StoreOpenError when the server cannot be used or reached
 */
export async function waitsForDisk(url: string, options: PostgresOptions = {}): Promise<boolean> {
  const { rows } = await asking(url, options, (client) =>
    client.query<{ waits: boolean }>(
      `SELECT current_setting('fsync')::boolean AND current_setting('full_page_writes')::boolean AS waits`,
    ),
  )
  return rows[0]!.waits
}

export class PostgresStore implements Store {
  /** Null for a command, which executes nothing for an idempotency key. */
  readonly coordinator: PostgresCoordinator | null
  readonly schema = SCHEMA
  readonly makesBackups = false
  readonly read: StoreReader
  readonly shared: SharedStore
  private readonly writer: PostgresWriter
  private readonly writers: PostgresPool
  private readonly readers: PostgresPool
  private knownSize = { bytes: 0, askedAtMs: Number.NEGATIVE_INFINITY }
  private closing: Promise<void> | null = null
  readonly tables: readonly Table[]
  private readonly primaryWatch: PeriodicTask | null
  /** When damage was last reported, on the axis of `performance.now()`. */
  private corruptAtMs = Number.NEGATIVE_INFINITY

  private constructor(
    private readonly access: PostgresAccess,
    { serving = false, tables = [] }: PostgresOptions,
  ) {
    this.tables = tablesWith(tables)
    this.writers = new PostgresPool(access, { size: 1, timeouts: TIMEOUTS })
    this.readers = new PostgresPool(access, { size: READERS, timeouts: TIMEOUTS })
    this.writer = new PostgresWriter(this.writers, this.tables)
    this.coordinator = serving ? new PostgresCoordinator(access) : null
    const poll = () => this.readers.findNewestPrimary()
    this.primaryWatch =
      serving && access.hosts.count > 1 ? new PeriodicTask(PRIMARY_POLL_MS, poll, () => {}) : null
    this.primaryWatch?.start()
    const connection = postgresConnection((query) => this.readers.query(query).catch(this.refuse))
    this.read = storeReader(connection, this.tables)
    this.shared = sharedStore(this.readers, this.writer, this.coordinator)
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

  transaction<T>(scope: Scope, work: (tx: StoreTransaction) => Promise<T>, deadlineMs?: number): Promise<T> {
    return this.writer.transaction(scope, work, deadlineMs).catch(this.refuse)
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
      // An empty transaction commits too, because every group writes the row of a lock partition.
      await this.transaction('rows', async () => {}, deadlineMs)
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

  hasBeenSilentSince(sinceMs: number): boolean {
    return this.pools.some((pool) => pool?.hasBeenSilentSince(sinceMs))
  }

  leave(): void {
    for (const pool of this.pools) pool?.leave()
  }

  private get pools() {
    return [this.writers, this.readers, this.coordinator?.pool]
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

  /**
   * Bytes of the database, at most a minute old, because the server looks at every file for it. The log is null: all databases of the
   * server share it.
   */
  size(): { database: number; log: null } {
    if (performance.now() - this.knownSize.askedAtMs > SIZE_KEPT_MS)
      // The health check reports whether the database can be reached.
      this.askSize().catch(() => {})
    return { database: this.knownSize.bytes, log: null }
  }

  async check(): Promise<string[]> {
    return withClient(this.access, examinePostgres)
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      // Both are called in this turn, so that a write after close() is refused.
      await Promise.all([this.primaryWatch?.stop(), this.writer.close()])
      await this.coordinator?.stop()
      await Promise.all([this.writers.end(), this.readers.end()])
    })()
    return this.closing
  }

  private readonly refuse = (error: unknown): never => {
    if (error instanceof StoreCorruptError) this.corruptAtMs = performance.now()
    throw error
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

/** Asks a database that is not opened as a store. @throws ConfigError; StoreOpenError */
async function asking<T>(
  url: string,
  options: PostgresOptions,
  work: (client: ClientBase) => Promise<T>,
): Promise<T> {
  const access = accessOf(url, options)
  return opening(access.target, () => withClient(access, work))
}

/** Runs `work` with one connection, on which statements do not time out. */
async function withClient<T>(access: PostgresAccess, work: (client: ClientBase) => Promise<T>): Promise<T> {
  const pool = new PostgresPool(access, { size: 1, timeouts: null })
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

/** The message of an error. Node tries every address of a host name, and reports the failures together. */
function reasonOf(error: Error): string {
  return error instanceof AggregateError && error.errors.length > 0
    ? error.errors.map(({ message }: Error) => message).join('; ')
    : error.message
}
