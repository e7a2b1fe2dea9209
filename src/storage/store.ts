/**
 * The interface between the service and its database. Times are milliseconds since the Unix epoch, and every transaction is durable when
 * its promise resolves.
 */

import { docPath } from '../lib/doc-path.js'
import { CodedError } from '../lib/errors.js'
import type { Coordinator, Presence, ServiceNode } from './coordinator.js'
import type { StoreReader, StoreTransaction } from './statements/statements.js'
import type { Table } from './table.js'

export type { StoreReader, StoreTransaction }

export interface CommitReport {
  /** Milliseconds from taking the write lock until the commit was on disk. */
  durationMs: number
  /** Number of transactions that shared the commit. */
  transactions: number
}

/**
 * Says which other transactions may run at the same time. SQLite runs all transactions one after the other, under any scope; on
 * PostgreSQL the scope decides, on this node and on others.
 *
 * - `installation`: the transaction is the only one that runs in the whole cluster. It waits for every commit that is under way on all nodes
 *   and keeps all others out until its own. For rare work only: tenants that are created, changes of keys, entries in all logs at once,
 *   operators.
 * - `rows`: the transaction excludes only transactions that write the same rows, by the database's own row locks, and `installation`. What it
 *   reads may be changed before it writes. For single statements and idempotent writes that belong to no tenant: expired rows, sign-in links,
 *   dashboard sessions, the last backup, the state of the audit verification. Statements over many rows leave out rows that other
 *   transactions hold (`Connection.skipLocked`), so that they neither wait nor deadlock.
 * - a tenant: see `TenantScope`.
 */
export type Scope = 'installation' | 'rows' | TenantScope

/** The transaction reads to decide by, and writes, only rows of one tenant. */
export interface TenantScope {
  tenantId: string
  /**
   * Names the part of the tenant's rows that the transaction touches, beyond the tenant's audit log, which it may always extend.
   * Transactions with different keys may run concurrently in one group; `work` may then be called a second time when one of them fails.
   * Transactions with the same key run one after the other. Without a key, the transaction runs separately among those of the tenant.
   */
  serializationKey?: string | undefined
}

/** Data that several services of one database share. Only PostgreSQL has it. */
export interface SharedStore {
  /** Number of changes of the keyrings so far. */
  keysRevision(): Promise<number>
  /**
   * Refuses to write from now on at any other revision of the keys: values sealed under an older key could never be opened again.
   * @param onStale called when a transaction was refused
   */
  requireKeys(revision: number, onStale: () => void): void
  /**
   * Refuses to write from now on once users' data keys are wrapped under keys outside of the database too.
   * @throws ConfigError where they are
   */
  requireOwnKeys(): Promise<void>
  /** The scrypt hash of the password of the operator without a name; null when none is kept. */
  operatorPassword(): Promise<string | null>
  /** @returns false when a password exists, which stays unless `replace` is true */
  keepOperatorPassword(hash: string, options?: { replace?: boolean }): Promise<boolean>
}

export interface OpenOptions {
  /** True for a service, which has a SQLite file for itself or shares PostgreSQL with others. Commands work at the same time. */
  serving?: boolean
  /** True to bring the schema of an earlier version up to date, as a service does at its start. */
  migrating?: boolean
  /** The tables of features. */
  tables?: readonly Table[]
}

/** Facts that a database gives before it is opened. */
export interface Inspection {
  /** Its schema; 0 when there is none. */
  found: number
  /** The schema of this version. */
  own: number
  /** The ids of the master keys that open it, oldest first; none for a schema that this version does not read. */
  masterKeys: string[]
}

export interface Store {
  /** Agreements with other services; null for SQLite, which only one service uses, and for commands. */
  readonly coordinator: Coordinator | null
  /** Data that several services share; null for SQLite. */
  readonly shared: SharedStore | null
  /** Reports of this service about itself; null for commands. */
  readonly presence: Presence | null
  /** Services that work on the database now, oldest first. */
  services(): Promise<ServiceNode[]>
  /** The schema version that this code works with. */
  readonly schema: number
  /** All tables, those of features included. */
  readonly tables: readonly Table[]
  /** Whether `countersign backup` copies it; false when the database's own tools make backups. */
  readonly makesBackups: boolean
  /** Reads committed state only. */
  readonly read: StoreReader
  /**
   * Runs `work` in a transaction. The promise resolves with its result once the effect is durable; when it rejects, nothing has been
   * written.
   *
   * `work` must await only calls of `tx`: SQLite's write lock, or PostgreSQL's locks of the group, are held until it ends.
   *
   * @param scope what the transaction excludes: the narrowest scope that keeps its decisions right
   * @param deadlineMs when to give up waiting for a lock or an answer, on the axis of `performance.now()`; by default SQLite waits 5
   * seconds for the lock and PostgreSQL 4 seconds
   * @throws StoreUnavailableError, also when it is unknown whether PostgreSQL has committed; AlreadyExecutedError; anything that `work`
   * throws
   */
  transaction<T>(scope: Scope, work: (tx: StoreTransaction) => Promise<T>, deadlineMs?: number): Promise<T>
  /** Whether the store can be read and, as far as the last write shows, written. After a failed write it tries to write again. */
  isHealthy(): Promise<boolean>
  /** Whether the database has reported damage: until the next start for SQLite, for ten minutes for PostgreSQL. */
  readonly isCorrupt: boolean
  /** Tries a write that changes nothing. @throws StoreUnavailableError that says why the database cannot be written */
  assertWritable(deadlineMs?: number): Promise<void>
  /** Calls `observer` after every commit; a later call replaces the observer. */
  observeCommits(observer: (report: CommitReport) => void): void
  /** Whether a request to the database has waited for more than a second since then. @param sinceMs on the axis of `performance.now()` */
  hasBeenSilentSince(sinceMs: number): boolean
  /** Announces that the service ends: from here on, a database that does not answer within seconds is given up. */
  leave(): void
  /** Bytes on disk of the database, and of its write-ahead log; null when it has no log of its own. */
  size(): { database: number; log: number | null }
  /** Checks the integrity of the whole database. @returns a line for each problem */
  check(): Promise<string[]>
  close(): Promise<void>
}

/** The database cannot be used: it is another application's, a newer version's, damaged, or out of reach. */
export class StoreOpenError extends CodedError<'database_unusable'> {
  /** Whether trying again later may succeed without anybody's help: the server is out of reach, or is starting. */
  readonly isPassing: boolean
  constructor(message: string, options: { cause?: unknown; isPassing?: boolean } = {}) {
    super('database_unusable', message, options)
    this.isPassing = options.isPassing ?? false
  }
}

/** An earlier version made the database, and the process that opens it may not change the schema. */
export class SchemaOutdatedError extends CodedError<'schema_outdated'> {
  /** @param database its name in messages */
  constructor(database: string, found: number, own: number) {
    super(
      'schema_outdated',
      `${database} has schema ${found}, made by an earlier Countersign; the schema of this one is ${own}. Only \`countersign serve\` and \`countersign migrate\` change a schema: until one of them has, use the commands of the version that serves it.`,
    )
  }
}

/** The database cannot serve now (locked, full disk, read-only). Trying again later may work. */
export class StoreUnavailableError extends CodedError<'store_unavailable'> {
  constructor(message: string, options?: { cause?: unknown }) {
    super('store_unavailable', message, options)
  }
}

/** The database is damaged. Trying again does not help; the runbook in the message says what does. */
export class StoreCorruptError extends StoreUnavailableError {
  constructor(message: string, options?: { cause?: unknown }) {
    super(
      `${message}: the database is damaged; ${docPath('operations/runbooks.md#database_corrupt')} says what to do`,
      options,
    )
  }
}

/** Another service has executed the request with this idempotency key first. */
export class AlreadyExecutedError extends Error {
  override readonly name = 'AlreadyExecutedError'
  constructor() {
    super('There is a kept response for this idempotency key.')
  }
}
