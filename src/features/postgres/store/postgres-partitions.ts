/**
 * Lock partitions, by which the writers of all nodes exclude each other. A partition is a row of the table `lane` (its first name, which
 * the schema keeps), and each tenant belongs to one. A writer that has locked a row is the only one to write data of its tenants;
 * a writer that has locked the table is the only writer. A writer of rows that belong to no tenant locks any one row, which keeps it
 * apart from the locks of the table.
 */
import type { PoolClient, QueryConfig, QueryResult } from 'pg'
import { LOCK_PARTITIONS } from './postgres-migrations.js'

/** A partition that was locked, and the state that all writers share, which nobody changes without holding every partition. */
export interface SharedState {
  partition: number
  /** Revision of the keys. */
  keysRevision: number
  /** Number of the earliest epoch under which data keys may be wrapped. */
  oldestEpoch: number
  /** Number of the latest epoch that was ever activated, 0 for none, when the statement began to wait. */
  newestEpoch: number
  /** The oldest schema version whose code may work with this schema. */
  compatibleFrom: number
}

const SHARED_STATE = `SELECT id AS "partition", keys_revision AS "keysRevision", oldest_epoch AS "oldestEpoch",
  (SELECT coalesce(max(number), 0) FROM epoch WHERE activated_at IS NOT NULL) AS "newestEpoch",
  compatible_from AS "compatibleFrom" FROM lane`

/**
 * Begins a transaction and locks partitions.
 * @param due the partition to wait for, before any other is locked, so that no two nodes wait for each other; null for none
 * @returns the partitions that were locked: `due`, and those that nobody else held
 */
export function lockPartitions(
  client: PoolClient,
  wanted: ReadonlySet<number>,
  due: number | null,
): Promise<SharedState[]> {
  const [first] = wanted
  const waitingFor = (partition: number) => ({
    name: 'lane-due',
    text: `${SHARED_STATE} WHERE id = $1 FOR UPDATE`,
    values: [partition],
  })
  // The only partition is waited for at once: there is no other work meanwhile.
  if (wanted.size === 1) return begin(client, [waitingFor(first!)])
  const free = {
    name: 'lanes-free',
    text: `${SHARED_STATE} WHERE id = ANY ($1::int[]) FOR UPDATE SKIP LOCKED`,
    values: [[...wanted]],
  }
  return begin(client, due === null ? [free] : [waitingFor(due), free])
}

/**
 * Begins a transaction and locks one partition that nobody else holds. The search starts at random, so that nodes seldom meet and no
 * tenant waits more often than others.
 * @param isWaiting whether to wait for a partition instead, because all of them were taken
 * @returns the partition, or nothing where all are taken
 */
export function lockAnyPartition(client: PoolClient, isWaiting: boolean): Promise<SharedState[]> {
  const first = 1 + Math.floor(Math.random() * LOCK_PARTITIONS)
  if (isWaiting) return lockPartitions(client, new Set([first]), null)
  const text = `${SHARED_STATE} ORDER BY id < $1, id LIMIT 1 FOR UPDATE SKIP LOCKED`
  return begin(client, [{ name: 'lane-any', text, values: [first] }])
}

/** Begins a transaction and locks all partitions: waits for every group that holds one, and keeps later groups out. */
export function lockAllPartitions(client: PoolClient): Promise<SharedState[]> {
  return begin(client, ['LOCK TABLE lane IN EXCLUSIVE MODE', `${SHARED_STATE} WHERE id = 1`])
}

/**
 * Resolves before anything else may be sent: after a BEGIN that failed, each statement would be committed separately.
 * @throws Error of pg
 */
async function begin(
  client: PoolClient,
  statements: ReadonlyArray<QueryConfig | string>,
): Promise<SharedState[]> {
  // Awaits all answers, so that a failure does not reach the statement that is sent next.
  const answers = await Promise.allSettled(
    ['BEGIN ISOLATION LEVEL READ COMMITTED', ...statements].map((one) =>
      client.query<SharedState>(one as string),
    ),
  )
  const failed = answers.find((one) => one.status === 'rejected')
  if (failed) throw failed.reason
  return (answers.at(-1) as PromiseFulfilledResult<QueryResult<SharedState>>).value.rows
}
