/**
 * Group commit on PostgreSQL: transactions of a service that arrive while a commit is under way share the next one. All writing of a
 * service goes over one connection.
 *
 * Nodes exclude each other by lock partitions (`postgres-partitions.ts`). A group holds the partitions of its tenants from its first
 * statement to its commit; a job of scope `rows` holds any one partition, a job of scope `installation` the whole table.
 *
 * A job is the transaction of one caller. Its states:
 *
 *     queued -> locked -> running -> done -> committed: resolves
 *       ^         |          |         |
 *       |         |          |         | COMMIT fails: the group is rolled back, and each job runs again separately, or rejects
 *       |         |          | throws: rejects; where it has written before, the group is rolled back, and each job runs again separately
 *       |         | deadline has passed: rejects
 *       +---------+ another node holds its partition: back to the queue, `skippedRounds` + 1
 *
 * Steps of a group, and what is durable after each:
 *
 * 1. `nextGroup` takes up to MAX_GROUP_SIZE jobs of the queue that have the same kind as its first one: `installation`, of which a group has
 *    one, `rows`, `tenant`, or `key` (a tenant and a serialization key). Nothing is durable.
 * 2. `begin` opens the transaction and locks the partitions that are free (SKIP LOCKED). Jobs whose partition is taken wait for the next
 *    group; after MAX_SKIPPED_ROUNDS rounds the partition is waited for. The same statement reads the state that all writers share
 *    (revision of the keys, epochs, schema): a writer that is behind rejects the jobs and writes nothing.
 * 3. `PostgresGroup` lets the jobs run at the same time, on the connection; those that exclude each other run one after the other.
 * 4. `end` writes a random token to the row of one partition and sends COMMIT. When its answer arrives, all jobs are durable on the server.
 * 5. The callers get their results.
 *
 * The deadline of a caller may pass in any state: the caller is then refused with StoreUnavailableError. A job that has not been locked is
 * dropped; one that is running may still become durable, as after a lost connection, and the kept response answers the next attempt.
 *
 * If the connection is lost in steps 1 to 3, nothing is durable and the jobs reject with StoreUnavailableError. If it is lost in step 4,
 * `hasCommitted` reads the token over a new connection, after it has waited for the lock that the lost server process may still hold: the
 * same token means that the group is durable. The token is a row like the others of the group, so that a standby that was promoted has
 * both or neither; `pg_xact_status` would ask the new primary about a number of the old one. If that cannot be found out, the jobs reject,
 * and callers ask again with their idempotency key.
 * If the process is killed, the server rolls back, or has committed and nobody was answered: the kept responses answer the next attempt.
 * A node that stalls loses its transaction, and so its partitions, after IDLE_IN_TRANSACTION_MS (`postgres-session.ts`).
 */
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { PoolClient, QueryConfig, QueryResult } from 'pg'
import {
  type CommitReport,
  type Scope,
  type StoreTransaction,
  StoreUnavailableError,
} from '../../../storage/store.js'
import type { Table } from '../../../storage/table.js'
import { isAnswer, isLockTimeout, translatePostgres } from './postgres-errors.js'
import { type Job, type JobKind, PostgresGroup } from './postgres-group.js'
import { LOCK_PARTITIONS, SCHEMA } from './postgres-migrations.js'
import {
  lockAllPartitions,
  lockAnyPartition,
  lockPartitions,
  type SharedState,
} from './postgres-partitions.js'
import type { PostgresPool } from './postgres-pool.js'
import { TIMEOUTS } from './postgres-session.js'

/** Jobs of a group. At most 64, because the locks are held while all of them run. */
const MAX_GROUP_SIZE = 64
/**
 * Number of rounds in which a partition may be skipped before it is waited for. More than one, because under load nodes want the same
 * tenants all the time, and each would wait for the others' commits instead of continuing with the partitions that are free.
 */
const MAX_SKIPPED_ROUNDS = 4

export class PostgresWriter {
  /** In the order of arrival. */
  private queue: Job[] = []
  private lastNumber = 0
  /** Set while a group is scheduled or running; `close` waits for it. */
  private flushing: Promise<void> | null = null
  private closed = false
  /** Whether a commit has failed because of the server or the network, and none has succeeded since. */
  isFailing = false
  onCommit: (report: CommitReport) => void = () => {}
  /** Revision of the keys that this service uses; null to write at any revision. */
  keysRevision: number | null = null
  /** Number of the epoch under which this service wraps data keys; null to write in any epoch. */
  epoch: number | null = null
  onStaleKeys: () => void = () => {}

  private readonly group: PostgresGroup
  /** The connection, with the transaction of the group that is running; null until it is needed, and after it was lost. */
  private client: PoolClient | null = null
  /** The first failed statement of the running group: statements after it fail because of it. */
  private failure: Error | null = null

  /** @param tables all, those of features included */
  constructor(
    private readonly pool: PostgresPool,
    tables: readonly Table[],
  ) {
    this.group = new PostgresGroup((query) => this.send(query), tables)
  }

  /** Opens the connection, so that an unusable server is found at the start. @throws Error of pg */
  async connect(): Promise<void> {
    this.client = await this.pool.acquire()
  }

  transaction<T>(scope: Scope, work: (tx: StoreTransaction) => Promise<T>, answerByMs?: number): Promise<T> {
    if (this.closed) return Promise.reject(new StoreUnavailableError('the store is closed'))
    return new Promise<T>((resolve, reject) => {
      const rejectLate = () => {
        this.queue = this.queue.filter((one) => one !== job)
        this.isFailing = true
        reject(new StoreUnavailableError('timed out waiting for PostgreSQL to commit'))
      }
      // A group may wait for a partition, or for a server that does not answer, for longer than its caller does. Without a deadline the
      // work may take any time.
      const timer =
        answerByMs === undefined ? undefined : setTimeout(rejectLate, answerByMs - performance.now())
      const job: Job = {
        ...exclusionOf(scope),
        work,
        deadlineMs: answerByMs ?? performance.now() + TIMEOUTS.lockMs,
        skippedRounds: 0,
        number: ++this.lastNumber,
        resolve: (value) => {
          clearTimeout(timer)
          resolve(value as T)
        },
        reject: (error) => {
          clearTimeout(timer)
          reject(error)
        },
      }
      this.queue.push(job)
      this.flushing ??= this.flushSoon()
    })
  }

  async close(): Promise<void> {
    this.closed = true
    await this.flushing
    this.client?.release()
    this.client = null
  }

  /** Waits one turn of the event loop, so that all jobs of the present turn share one commit. */
  private async flushSoon(): Promise<void> {
    await new Promise(setImmediate)
    while (this.queue.length > 0) await this.commit(this.nextGroup())
    this.flushing = null
  }

  /** Step 1. */
  private nextGroup(): Job[] {
    const { kind } = this.queue[0]!
    const size = kind === 'installation' ? 1 : MAX_GROUP_SIZE
    const group = this.queue.filter((job) => job.kind === kind).slice(0, size)
    const taken = new Set(group)
    this.queue = this.queue.filter((job) => !taken.has(job))
    return group
  }

  /** Takes a group through the steps above. Never rejects: each job gets its own result. */
  private async commit(jobs: Job[]): Promise<void> {
    let group = jobs
    const token = randomUUID()
    try {
      const begun = await this.begin(jobs)
      if (begun === null) return
      group = begun.group
      const startedMs = performance.now()
      this.failure = null
      const outcomes = await this.group.run(group)
      const transactions = outcomes.filter(({ hasSucceeded }) => hasSucceeded).length
      let isSpoilt = this.failure !== null || outcomes.some((outcome) => outcome.isSpoiling)
      if (isSpoilt || transactions === 0) await this.client!.query('ROLLBACK')
      else isSpoilt = !(await this.end(token, begun.partition))
      if (isSpoilt && group.length > 1) {
        for (const job of group) await this.commit([job])
        return
      }
      if (!isSpoilt && transactions > 0) {
        this.isFailing = false
        this.onCommit({ durationMs: performance.now() - startedMs, transactions })
      }
      for (const { notifyCaller } of outcomes) notifyCaller(this.failure)
    } catch (error) {
      this.dropClient(error)
      this.isFailing = true
      for (const { reject } of group) reject(translatePostgres(error))
    }
  }

  /**
   * Step 2. Rejects jobs whose deadline passes meanwhile, and returns those whose partition is taken to the queue.
   * @returns the jobs to run and a partition that the group holds; null when no job is left
   */
  private async begin(jobs: Job[]): Promise<{ group: Job[]; partition: number } | null> {
    let hasReconnected = false
    for (let waiting = jobs; waiting.length > 0; ) {
      try {
        // A failover may have left the old primary running.
        if (this.client && !this.pool.leadsToCurrent(this.client))
          this.dropClient(new Error('another host is the primary now'))
        this.client ??= await this.pool.acquire()
        // Read before the query, whose answer does not know an epoch that this service enters meanwhile.
        const { epoch } = this
        const taken = await this.take(this.client, waiting)
        const shared = taken[0]
        if (!shared) {
          await this.client.query('ROLLBACK')
          if (waiting[0]!.skippedRounds >= MAX_SKIPPED_ROUNDS)
            throw new StoreUnavailableError(
              'table "lane" is missing rows: restore the database from a backup',
            )
          waiting[0]!.skippedRounds = MAX_SKIPPED_ROUNDS
          continue
        }
        // A failover may have lost the activation of the epoch that this service uses.
        const isStale = !this.hasKeysOf(shared) || (epoch ?? 0) > shared.newestEpoch
        if (!isStale && shared.compatibleFrom <= SCHEMA) {
          const group = await this.keepLocked(waiting, taken)
          return group.length > 0 ? { group, partition: shared.partition } : null
        }
        await this.client.query('ROLLBACK')
        const reason = isStale
          ? 'the working keys were changed meanwhile'
          : 'the schema needs a newer version of Countersign'
        for (const { reject } of waiting) reject(new StoreUnavailableError(reason))
        if (isStale) this.onStaleKeys()
        return null
      } catch (error) {
        if (isLockTimeout(error)) {
          await this.client!.query('ROLLBACK')
          waiting = this.rejectExpired(waiting, error)
          this.queue = this.rejectExpired(this.queue, error)
        } else {
          // An idle connection may turn out to be lost only now. Nothing was done on it, so a new one is tried once.
          const wasIdle = this.client !== null
          this.dropClient(error)
          if (!wasIdle || hasReconnected || isAnswer(error)) throw error
          hasReconnected = true
        }
      }
    }
    return null
  }

  private take(client: PoolClient, jobs: readonly Job[]): Promise<SharedState[]> {
    const [{ kind, skippedRounds: rounds }] = jobs as readonly [Job]
    if (kind === 'installation') return lockAllPartitions(client)
    if (kind === 'rows') return lockAnyPartition(client, rounds >= MAX_SKIPPED_ROUNDS)
    const wanted = new Set(jobs.map(({ partition }) => partition as number))
    // Waits for one partition at most: waiting for a second while holding the first could deadlock.
    const due = jobs.find(({ skippedRounds }) => skippedRounds >= MAX_SKIPPED_ROUNDS)?.partition ?? null
    return lockPartitions(client, wanted, due)
  }

  /** @returns the jobs whose partition is locked and whose deadline has not passed; jobs whose partition another node holds go back to the queue */
  private async keepLocked(jobs: readonly Job[], taken: readonly SharedState[]): Promise<Job[]> {
    const partitions = new Set<number | null>(taken.map(({ partition }) => partition)).add(null)
    const now = performance.now()
    const group: Job[] = []
    const left: Job[] = []
    for (const job of jobs)
      if (!partitions.has(job.partition)) left.push(job)
      else if (job.deadlineMs > now) group.push(job)
      // Nothing was done for this job yet, so that its refusal is final.
      else job.reject(new StoreUnavailableError('timed out waiting for a PostgreSQL lock'))
    if (group.length === 0) await this.client!.query('ROLLBACK')
    for (const job of left) job.skippedRounds++
    if (left.length > 0) this.queue = [...left, ...this.queue].sort((a, b) => a.number - b.number)
    return group
  }

  private hasKeysOf({ keysRevision, oldestEpoch }: SharedState): boolean {
    if (this.keysRevision !== null && this.keysRevision !== keysRevision) return false
    return this.epoch === null || this.epoch >= oldestEpoch
  }

  /**
   * Step 4.
   * @returns false when a statement that nobody had awaited has failed, so that the transaction was rolled back
   * @throws StoreUnavailableError also when it cannot be found out whether the transaction was committed
   */
  private async end(token: string, partition: number): Promise<boolean> {
    try {
      void this.send({
        name: 'token',
        text: 'UPDATE lane SET token = $1 WHERE id = $2',
        values: [token, partition],
      })
      const { command } = await this.client!.query('COMMIT')
      if (command === 'COMMIT') return true
      // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK, without an error.
      if (this.failure) return false
      throw new StoreUnavailableError(`PostgreSQL answered COMMIT with ${command}`)
    } catch (error) {
      if (error instanceof StoreUnavailableError || isAnswer(error)) throw error
      this.dropClient(error)
      if (!(await this.hasCommitted(token, partition)))
        throw new StoreUnavailableError(
          'the connection to PostgreSQL was lost during COMMIT, and whether it has committed could not be found out',
          { cause: error },
        )
      // Statements that failed with the connection were committed all the same.
      this.failure = null
      return true
    }
  }

  /**
   * Whether the last group that was committed with this partition, on any node, is the one of this token. Waits for the lock of the
   * partition, because the server may still be committing. False when it cannot be found out.
   */
  private async hasCommitted(token: string, partition: number): Promise<boolean> {
    try {
      this.client = await this.pool.acquire()
      const { rows } = await this.client.query<{ token: string }>(
        'SELECT token FROM lane WHERE id = $1 FOR UPDATE',
        [partition],
      )
      return rows[0]?.token === token
    } catch (error) {
      this.dropClient(error)
      return false
    }
  }

  /** Sends a statement, and remembers the first that fails. */
  private send(query: QueryConfig | string): Promise<QueryResult> {
    const sent = (this.client as pg.ClientBase).query(query as QueryConfig).catch((error: unknown) => {
      this.failure ??= translatePostgres(error)
      throw this.failure
    })
    // Without a handler, the failure of a statement that nobody awaits would end the process.
    sent.catch(() => {})
    return sent
  }

  /** @returns the jobs whose deadline has not passed */
  private rejectExpired(jobs: Job[], error: unknown): Job[] {
    const now = performance.now()
    const late = jobs.filter(({ deadlineMs }) => deadlineMs <= now)
    if (late.length > 0) this.isFailing = true
    for (const { reject } of late) reject(translatePostgres(error))
    return jobs.filter((job) => !late.includes(job))
  }

  private dropClient(error: unknown): void {
    this.client?.release(error as Error)
    this.client = null
  }
}

/** Translates a scope for a group: into the kind of job, its lock partition, and the jobs after which it has to run. */
function exclusionOf(scope: Scope): Pick<Job, 'kind' | 'partition' | 'serializedWith'> {
  if (typeof scope === 'string') return { kind: scope, partition: null, serializedWith: null }
  const { tenantId, serializationKey } = scope
  const kind: JobKind = serializationKey === undefined ? 'tenant' : 'key'
  return { kind, partition: partitionOf(tenantId), serializedWith: serializationKey ?? tenantId }
}

/** Number of the tenant's partition, 1 to LOCK_PARTITIONS: the same on every node, and in every version with as many partitions. */
function partitionOf(tenantId: string): number {
  let hash = 0
  for (let i = 0; i < tenantId.length; i++) hash = (Math.imul(hash, 31) + tenantId.charCodeAt(i)) >>> 0
  return (hash % LOCK_PARTITIONS) + 1
}
