/**
 * All writing of a service, in groups that share a commit: what comes while one is on its way goes with the next. Between nodes, the
 * lanes of a group's tenants are locked for as long as it takes; tenants whose lanes another node has wait for the next group.
 */
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { PoolClient, QueryConfig, QueryResult } from 'pg'
import { storeTransaction } from '../statements.js'
import { type CommitReport, type Scope, type StoreTransaction, StoreUnavailableError } from '../store.js'
import { postgresConnection } from './postgres-connection.js'
import { isAnswer, isLockTimeout, translatePostgres } from './postgres-errors.js'
import { type Job, type JobOutcome, PostgresGroup } from './postgres-group.js'
import { LOCK_PARTITIONS, SCHEMA } from './postgres-migrations.js'
import { lockAllPartitions, lockPartitions, type SharedState } from './postgres-partitions.js'
import type { PostgresPool } from './postgres-pool.js'

/** Shorter than a statement may take: what waits for a lane is to be told of the lock. */
export const PARTITION_LOCK_MS = 4000
/** The locks are held for as long as all of them take. */
const MAX_GROUP_SIZE = 64
/**
 * A lane that was not free so often is waited for. Not at once: under load nodes want the same tenants all the time, and each would
 * wait for the others' commits instead of going on with what is free.
 */
const MAX_SKIPPED_ROUNDS = 4

type Concurrency = 'global' | 'concurrent' | 'serial'

/** Of what may share a commit. */
const concurrencyOf = ({ partition, serializationKey }: Job): Concurrency =>
  partition === null ? 'global' : serializationKey === undefined ? 'serial' : 'concurrent'

export class PostgresWriter {
  /** In the order of their coming. */
  private queue: Job[] = []
  private lastNumber = 0
  /** Set while a group is scheduled or running; `close` waits for it. */
  private flushing: Promise<void> | null = null
  private closed = false
  /** A commit has failed because of the server or the way to it, and none has succeeded since. */
  isFailing = false
  onCommit: (report: CommitReport) => void = () => {}
  /** Of the keys that are worked with; null to write whatever the database's are. */
  keysRevision: number | null = null
  /** Under which data keys are wrapped; null to write whatever the database's is. */
  epoch: number | null = null
  onStaleKeys: () => void = () => {}

  private readonly tx = storeTransaction(
    postgresConnection((query) => this.send(query)),
    () => {},
  )
  private readonly group = new PostgresGroup((query) => this.send(query))
  /** Of the group that is on its way. */
  private client: PoolClient | null = null
  /** The first failure of the job that is on its way: all that is sent after it fails for it. */
  private failure: Error | null = null
  /** Statements of that job. */
  private sent: Array<Promise<unknown>> = []

  constructor(private readonly pool: PostgresPool) {}

  /** Shows at the start whether everything is in place. @throws Error of pg */
  async connect(): Promise<void> {
    this.client = await this.pool.acquire()
  }

  transaction<T>(work: (tx: StoreTransaction) => Promise<T>, answerByMs?: number, scope?: Scope): Promise<T> {
    if (this.closed) return Promise.reject(new StoreUnavailableError('the store is closed'))
    return new Promise<T>((resolve, reject) => {
      const rejectLate = () => {
        this.queue = this.queue.filter((one) => one !== job)
        this.isFailing = true
        reject(new StoreUnavailableError('PostgreSQL has not said in time that it has committed'))
      }
      // A group may be waiting for a lane, or for a server that says nothing, for longer than anybody waits for an answer of ours. Where
      // nobody has said how long, the work itself may take its time.
      const timer =
        answerByMs === undefined ? undefined : setTimeout(rejectLate, answerByMs - performance.now())
      const job: Job = {
        work,
        deadlineMs: answerByMs ?? performance.now() + PARTITION_LOCK_MS,
        partition: scope ? partitionOf(scope.tenantId) : null,
        skippedRounds: 0,
        number: ++this.lastNumber,
        serializationKey: scope?.serializationKey,
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

  /** Waits a turn of the event loop, so that everything that this turn brought shares one commit. */
  private async flushSoon(): Promise<void> {
    await new Promise(setImmediate)
    while (this.queue.length > 0) {
      const concurrency = concurrencyOf(this.queue[0]!)
      await this.commit(this.nextGroup(concurrency), concurrency)
    }
    this.flushing = null
  }

  /** The first that wait, of one kind. */
  private nextGroup(concurrency: Concurrency): Job[] {
    const group = this.queue.filter((job) => concurrencyOf(job) === concurrency).slice(0, MAX_GROUP_SIZE)
    const taken = new Set(group)
    this.queue = this.queue.filter((job) => !taken.has(job))
    return group
  }

  /** Never rejects. */
  private async commit(jobs: Job[], concurrency: Concurrency): Promise<void> {
    let group = jobs
    const token = randomUUID()
    try {
      const begun = await this.begin(jobs)
      if (begun === null) return
      group = begun.group
      const startedMs = performance.now()
      const outcomes = await this.run(group, concurrency)
      const transactions = outcomes?.filter(({ hasSucceeded }) => hasSucceeded).length ?? 0
      if (transactions === 0) await this.client!.query('ROLLBACK')
      else if (await this.end(token, begun.partition)) {
        this.isFailing = false
        this.onCommit({ durationMs: performance.now() - startedMs, transactions })
      } else if (group.length > 1) {
        if (concurrency === 'concurrent') return this.commit(group, 'serial')
        throw this.failure
      }
      if (!outcomes) return this.commit(group, 'serial')
      for (const { notifyCaller } of outcomes) notifyCaller()
    } catch (error) {
      this.dropClient(error)
      this.isFailing = true
      for (const { reject } of group) reject(translatePostgres(error))
    }
  }

  /** @returns null where all is to be rolled back and run one after the other */
  private async run(group: readonly Job[], concurrency: Concurrency): Promise<JobOutcome[] | null> {
    this.failure = null
    this.sent = []
    if (group.length === 1) return [await this.runSingle(group[0]!)]
    if (concurrency === 'concurrent') {
      const outcomes = await this.group.run(group)
      return this.failure ? null : outcomes
    }
    const outcomes: JobOutcome[] = []
    for (const job of group) outcomes.push(await this.runInSavepoint(job))
    return outcomes
  }

  /**
   * Takes the lanes that are free, waits for one that is due, and tells whose deadline passes meanwhile. The others come with the next
   * group.
   * @returns null where nothing is left to do
   */
  private async begin(jobs: Job[]): Promise<{ group: Job[]; partition: number } | null> {
    let hasReconnected = false
    for (let waiting = jobs; waiting.length > 0; ) {
      try {
        // After a failover that left the old primary running.
        if (this.client && !this.pool.leadsToCurrent(this.client))
          this.dropClient(new Error('the host was left'))
        this.client ??= await this.pool.acquire()
        // One that it comes to meanwhile is not in what it asks for now.
        const { epoch } = this
        const taken = await this.take(this.client, waiting)
        const shared = taken[0]
        if (!shared) {
          await this.client.query('ROLLBACK')
          if (waiting[0]!.skippedRounds >= MAX_SKIPPED_ROUNDS)
            throw new StoreUnavailableError('PostgreSQL lacks rows of lane')
          waiting[0]!.skippedRounds = MAX_SKIPPED_ROUNDS
          continue
        }
        // A failover may have lost an activation.
        const isStale = !this.hasKeysOf(shared) || (epoch ?? 0) > shared.newestEpoch
        if (!isStale && shared.compatibleFrom <= SCHEMA) {
          const group = await this.held(waiting, taken)
          return group.length > 0 ? { group, partition: shared.partition } : null
        }
        await this.client.query('ROLLBACK')
        const reason = isStale
          ? 'the working keys were changed meanwhile'
          : 'the schema is for newer versions'
        for (const { reject } of waiting) reject(new StoreUnavailableError(reason))
        if (isStale) this.onStaleKeys()
        return null
      } catch (error) {
        if (isLockTimeout(error)) {
          await this.client!.query('ROLLBACK')
          waiting = this.refuseLate(waiting, error)
          this.queue = this.refuseLate(this.queue, error)
        } else {
          // Of a connection that has stood idle it may show only now that it is lost, and nothing was done on it yet.
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
    const wanted = new Set<number>()
    let due: number | null = null
    for (const { partition, skippedRounds } of jobs) {
      if (partition === null) return lockAllPartitions(client)
      wanted.add(partition)
      // One alone: whoever waits for a second has the first in its hand meanwhile.
      if (skippedRounds >= MAX_SKIPPED_ROUNDS) due ??= partition
    }
    return lockPartitions(client, wanted, due)
  }

  /** @returns those whose lane was taken in time; those whose lane somebody else has are left for the next group */
  private async held(jobs: readonly Job[], taken: readonly SharedState[]): Promise<Job[]> {
    const partitions = new Set<number | null>(taken.map(({ partition }) => partition)).add(null)
    const now = performance.now()
    const group: Job[] = []
    const left: Job[] = []
    for (const job of jobs)
      if (!partitions.has(job.partition)) left.push(job)
      else if (job.deadlineMs > now) group.push(job)
      // Of a job whose caller is told that it is too late, nothing is to happen.
      else job.reject(new StoreUnavailableError('PostgreSQL has not given way in time'))
    if (group.length === 0) await this.client!.query('ROLLBACK')
    for (const job of left) job.skippedRounds++
    if (left.length > 0) this.queue = [...left, ...this.queue].sort((a, b) => a.number - b.number)
    return group
  }

  private hasKeysOf({ keysRevision, oldestEpoch }: SharedState): boolean {
    if (this.keysRevision !== null && this.keysRevision !== keysRevision) return false
    return this.epoch === null || this.epoch >= oldestEpoch
  }

  /** Its failure is the whole transaction's, so that the commit need not wait for what it has written. */
  private async runSingle(job: Job): Promise<JobOutcome> {
    try {
      const value = await job.work(this.tx)
      // Known once the commit is answered.
      const notifyCaller = () => (this.failure ? job.reject(this.failure) : job.resolve(value))
      return { hasSucceeded: true, notifyCaller }
    } catch (thrown) {
      return { hasSucceeded: false, notifyCaller: () => job.reject(this.failure ?? thrown) }
    }
  }

  private async runInSavepoint(job: Job): Promise<JobOutcome> {
    this.failure = null
    this.sent = []
    try {
      void this.send('SAVEPOINT job')
      const value = await job.work(this.tx)
      await Promise.all(this.sent)
      // What could fail is done: its answer comes with the next job's first.
      void this.send('RELEASE job')
      return { hasSucceeded: true, notifyCaller: () => job.resolve(value) }
    } catch (thrown) {
      const error = this.failure ?? thrown
      // Fails, and the group with it, where the connection is lost.
      await this.client!.query('ROLLBACK TO job; RELEASE job')
      this.failure = null
      return { hasSucceeded: false, notifyCaller: () => job.reject(error) }
    }
  }

  /**
   * @returns false where a statement has failed that nobody had waited for, for which all was rolled back
   * @throws StoreUnavailableError also when it cannot be found out whether the commit has happened
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
      // A transaction that has failed is rolled back without an error.
      if (this.failure) return false
      throw new StoreUnavailableError(`PostgreSQL: ${command} for COMMIT`)
    } catch (error) {
      if (error instanceof StoreUnavailableError || isAnswer(error)) throw error
      this.dropClient(error)
      if (!(await this.wasLast(token, partition)))
        throw new StoreUnavailableError('PostgreSQL did not say whether it has committed', { cause: error })
      // What failed with the connection, it has done all the same.
      this.failure = null
      return true
    }
  }

  /**
   * Whether the last group that was committed in the lane, on any node, is the one of this token. Waits for the lane: a server that has
   * lost us may still be committing. False where it cannot be known.
   */
  private async wasLast(token: string, partition: number): Promise<boolean> {
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

  private send(query: QueryConfig | string): Promise<QueryResult> {
    const sent = (this.client as pg.ClientBase).query(query as QueryConfig).catch((error: unknown) => {
      this.failure ??= translatePostgres(error)
      throw this.failure
    })
    // Nobody may be waiting for it.
    sent.catch(() => {})
    this.sent.push(sent)
    return sent
  }

  /** @returns those whose deadline has not passed */
  private refuseLate(jobs: Job[], error: unknown): Job[] {
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

/** The same on every node, and in every version that works with as many lanes. */
function partitionOf(tenantId: string): number {
  let hash = 0
  for (let i = 0; i < tenantId.length; i++) hash = (Math.imul(hash, 31) + tenantId.charCodeAt(i)) >>> 0
  return (hash % LOCK_PARTITIONS) + 1
}
