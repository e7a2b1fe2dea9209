/**
 * A lane of writing: one group of transactions after the other, on all nodes together. What comes while one group is on its way shares
 * the next commit; between nodes, the lane's row is locked for as long as a group takes, or the table for what needs every lane.
 */
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { PoolClient, QueryConfig, QueryResult } from 'pg'
import { postgresConnection } from './postgres-connection.js'
import { isAnswer, isLockTimeout, translatePostgres } from './postgres-errors.js'
import { type Job, type Outcome, PostgresGroup } from './postgres-group.js'
import { SCHEMA } from './postgres-migrations.js'
import type { PostgresPool } from './postgres-pool.js'
import { storeTransaction } from './statements.js'
import { type CommitReport, type StoreTransaction, StoreUnavailableError } from './store.js'

/** Shorter than a statement may take: what waits for the lane is to be told of the lock. */
export const LANE_LOCK_MS = 4000
/** The lock is held for as long as all of them take. */
const MOST_AT_ONCE = 64

/** By what all write: the revision of the keys, the earliest epoch that may wrap, the oldest schema whose code may work here. */
interface Agreed {
  keysRevision: number
  oldestEpoch: number
  compatibleFrom: number
}

/** What the lanes of a service have in common. */
export interface LaneTerms {
  /** A commit has failed because of the server or the way to it, and none has succeeded since. */
  isFailing: boolean
  onCommit: (report: CommitReport) => void
  /** Of the keys that are worked with; null to write whatever the database's are. */
  keysRevision: number | null
  /** Under which data keys are wrapped; null to write whatever the database's is. */
  epoch: number | null
  onStaleKeys: () => void
}

export class PostgresLane {
  private queue: Job[] = []
  /** Set while a group is scheduled or running; `close` waits for it. */
  private flushing: Promise<void> | null = null
  private closed = false
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

  /** @param id of its row; null for all lanes at once */
  constructor(
    private readonly pool: PostgresPool,
    private readonly terms: LaneTerms,
    private readonly id: number | null,
  ) {}

  /** Shows at the start whether everything is in place. @throws Error of pg */
  async connect(): Promise<PoolClient> {
    this.client = await this.pool.acquire()
    return this.client
  }

  transaction<T>(
    work: (tx: StoreTransaction) => Promise<T>,
    answerByMs?: number,
    concerns?: string,
  ): Promise<T> {
    if (this.closed) return Promise.reject(new StoreUnavailableError('the store is closed'))
    return new Promise<T>((resolve, reject) => {
      const tooLate = () => {
        this.queue = this.queue.filter((one) => one !== job)
        this.terms.isFailing = true
        reject(new StoreUnavailableError('PostgreSQL has not said in time that it has committed'))
      }
      // A group may be waiting for a server that says nothing, for longer than anybody waits for an answer of ours. Where nobody has
      // said how long, the work itself may take its time.
      const late = answerByMs === undefined ? undefined : setTimeout(tooLate, answerByMs - performance.now())
      const job: Job = {
        work,
        deadlineMs: answerByMs ?? performance.now() + LANE_LOCK_MS,
        concerns,
        resolve: (value) => {
          clearTimeout(late)
          resolve(value as T)
        },
        reject: (error) => {
          clearTimeout(late)
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
      const isSideBySide = this.queue[0]!.concerns !== undefined
      await this.commit(this.takeGroup(isSideBySide), isSideBySide)
    }
    this.flushing = null
  }

  /** The first that wait, of one kind. */
  private takeGroup(isSideBySide: boolean): Job[] {
    const group = this.queue
      .filter(({ concerns }) => (concerns !== undefined) === isSideBySide)
      .slice(0, MOST_AT_ONCE)
    const taken = new Set(group)
    this.queue = this.queue.filter((job) => !taken.has(job))
    return group
  }

  /** Never rejects. */
  private async commit(jobs: Job[], isSideBySide: boolean): Promise<void> {
    let group = jobs
    const token = randomUUID()
    try {
      group = await this.begin(jobs, token)
      if (group.length === 0) return
      const startedMs = performance.now()
      const outcomes = await this.run(group, isSideBySide)
      const transactions = outcomes?.filter(({ isDone }) => isDone).length ?? 0
      if (transactions === 0) await this.client!.query('ROLLBACK')
      else if (await this.end(token)) {
        this.terms.isFailing = false
        this.terms.onCommit({ durationMs: performance.now() - startedMs, transactions })
      } else if (group.length > 1) {
        if (isSideBySide) return this.commit(group, false)
        throw this.failure
      }
      if (!outcomes) return this.commit(group, false)
      for (const { settle } of outcomes) settle()
    } catch (error) {
      this.dropClient(error)
      this.terms.isFailing = true
      for (const { reject } of group) reject(translatePostgres(error))
    }
  }

  /** @returns null where all is to be rolled back and run one after the other */
  private async run(group: readonly Job[], isSideBySide: boolean): Promise<Outcome[] | null> {
    this.failure = null
    this.sent = []
    if (group.length === 1) return [await this.runAlone(group[0]!)]
    if (isSideBySide) {
      const outcomes = await this.group.run(group)
      return this.failure ? null : outcomes
    }
    const outcomes: Outcome[] = []
    for (const job of group) outcomes.push(await this.runAmongOthers(job))
    return outcomes
  }

  /** Waits for the lane, and tells those whose deadline passes meanwhile; resolves with the others. */
  private async begin(jobs: Job[], token: string): Promise<Job[]> {
    let hasReconnected = false
    for (let waiting = jobs; waiting.length > 0; ) {
      try {
        this.client ??= await this.pool.acquire()
        const agreed = await this.lock(this.client, token)
        const isStale = !this.hasKeysOf(agreed)
        if (!isStale && agreed.compatibleFrom <= SCHEMA) return await this.inTime(waiting)
        await this.client.query('ROLLBACK')
        const reason = isStale
          ? 'the working keys were changed meanwhile'
          : 'the schema is for newer versions'
        for (const { reject } of waiting) reject(new StoreUnavailableError(reason))
        if (isStale) this.terms.onStaleKeys()
        return []
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
    return []
  }

  /**
   * Before anything else is sent: what follows a BEGIN that failed would be committed piece by piece.
   * @returns what nobody changes while the lane is ours
   */
  private async lock(client: PoolClient, token: string): Promise<Agreed> {
    const agreed = `RETURNING keys_revision AS "keysRevision", oldest_epoch AS "oldestEpoch", compatible_from AS "compatibleFrom"`
    const begun = client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    const locked =
      this.id === null
        ? [
            // Waits for every lane, and lets none begin meanwhile.
            client.query('LOCK TABLE lane IN SHARE ROW EXCLUSIVE MODE'),
            client.query({ name: 'lanes', text: `UPDATE lane SET token = $1 ${agreed}`, values: [token] }),
          ]
        : [
            client.query({
              name: 'lane',
              text: `UPDATE lane SET token = $1 WHERE id = $2 ${agreed}`,
              values: [token, this.id],
            }),
          ]
    // All are waited for: what is left of a failure must not meet what is sent next.
    const answers = await Promise.allSettled([begun, ...locked])
    const failed = answers.find((one) => one.status === 'rejected')
    if (failed) throw failed.reason
    const { value } = answers.at(-1) as PromiseFulfilledResult<QueryResult<Agreed>>
    return value.rows[0]!
  }

  private hasKeysOf({ keysRevision, oldestEpoch }: Agreed): boolean {
    const { terms } = this
    if (terms.keysRevision !== null && terms.keysRevision !== keysRevision) return false
    return terms.epoch === null || terms.epoch >= oldestEpoch
  }

  /** Its failure is the whole transaction's, so that the commit need not wait for what it has written. */
  private async runAlone(job: Job): Promise<Outcome> {
    try {
      const value = await job.work(this.tx)
      // Known once the commit is answered.
      const settle = () => (this.failure ? job.reject(this.failure) : job.resolve(value))
      return { isDone: true, settle }
    } catch (thrown) {
      return { isDone: false, settle: () => job.reject(this.failure ?? thrown) }
    }
  }

  private async runAmongOthers(job: Job): Promise<Outcome> {
    this.failure = null
    this.sent = []
    try {
      void this.send('SAVEPOINT job')
      const value = await job.work(this.tx)
      await Promise.all(this.sent)
      // What could fail is done: its answer comes with the next job's first.
      void this.send('RELEASE job')
      return { isDone: true, settle: () => job.resolve(value) }
    } catch (thrown) {
      const error = this.failure ?? thrown
      // Fails, and the group with it, where the connection is lost.
      await this.client!.query('ROLLBACK TO job; RELEASE job')
      this.failure = null
      return { isDone: false, settle: () => job.reject(error) }
    }
  }

  /**
   * @returns false where a statement has failed that nobody had waited for, for which all was rolled back
   * @throws StoreUnavailableError also when it cannot be found out whether the commit has happened
   */
  private async end(token: string): Promise<boolean> {
    try {
      const { command } = await this.client!.query('COMMIT')
      if (command === 'COMMIT') return true
      // A transaction that has failed is rolled back without an error.
      if (this.failure) return false
      throw new StoreUnavailableError(`PostgreSQL: ${command} for COMMIT`)
    } catch (error) {
      if (error instanceof StoreUnavailableError || isAnswer(error)) throw error
      this.dropClient(error)
      if (!(await this.wasLast(token)))
        throw new StoreUnavailableError('PostgreSQL did not say whether it has committed', { cause: error })
      // What failed with the connection, it has done all the same.
      this.failure = null
      return true
    }
  }

  /**
   * Whether the last group that was committed, on any node, is the one of this token. Waits for the lane: a server that has lost us may
   * still be committing. False where it cannot be known.
   */
  private async wasLast(token: string): Promise<boolean> {
    try {
      this.client = await this.pool.acquire()
      const { rows } = await this.client.query<{ token: string }>(
        'SELECT token FROM lane WHERE id = $1 FOR UPDATE',
        // Who has all lanes has written each.
        [this.id ?? 1],
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

  /** With the lane taken. Of a job whose caller is told that it is too late, nothing is to happen. */
  private async inTime(jobs: Job[]): Promise<Job[]> {
    const now = performance.now()
    const inTime = jobs.filter(({ deadlineMs }) => deadlineMs > now)
    if (inTime.length === 0) await this.client!.query('ROLLBACK')
    return inTime
  }

  /** @returns those whose deadline has not passed */
  private refuseLate(jobs: Job[], error: unknown): Job[] {
    const now = performance.now()
    const late = jobs.filter(({ deadlineMs }) => deadlineMs <= now)
    if (late.length > 0) this.terms.isFailing = true
    for (const { reject } of late) reject(translatePostgres(error))
    return jobs.filter((job) => !late.includes(job))
  }

  private dropClient(error: unknown): void {
    this.client?.release(error as Error)
    this.client = null
  }
}
