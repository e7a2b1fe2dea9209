/**
 * Lanes, by which the writers of all nodes keep out of each other's way: each stands for some of the tenants. Whoever has a row of the
 * table locked is alone with what those tenants own; whoever has locked the table is alone.
 */
import type { PoolClient, QueryConfig, QueryResult } from 'pg'

/** A lane that was taken, and by what all write: nobody changes it without having every lane. */
export interface SharedState {
  partition: number
  /** Of the keys. */
  keysRevision: number
  /** The earliest that may wrap. */
  oldestEpoch: number
  /** The latest that was ever activated, as of when the lane was asked for. */
  newestEpoch: number
  /** The oldest schema whose code may work here. */
  compatibleFrom: number
}

const SHARED_STATE = `SELECT id AS "partition", keys_revision AS "keysRevision", oldest_epoch AS "oldestEpoch",
  (SELECT coalesce(max(number), 0) FROM epoch WHERE activated_at IS NOT NULL) AS "newestEpoch",
  compatible_from AS "compatibleFrom" FROM lane`

/**
 * Begins a transaction with lanes of its own.
 * @param due one of them, which is waited for before any other is taken, so that no two nodes wait for each other; null for none
 * @returns those that were taken: that one, and the others that nobody had
 * @throws Error of pg
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
  // There is nothing else to do meanwhile.
  if (wanted.size === 1) return begin(client, [waitingFor(first!)])
  const free = {
    name: 'lanes-free',
    text: `${SHARED_STATE} WHERE id = ANY ($1::int[]) FOR UPDATE SKIP LOCKED`,
    values: [[...wanted]],
  }
  return begin(client, due === null ? [free] : [waitingFor(due), free])
}

/** Begins a transaction that is alone: waits for whoever has a lane, and lets nobody take one meanwhile. @throws Error of pg */
export function lockAllPartitions(client: PoolClient): Promise<SharedState[]> {
  return begin(client, ['LOCK TABLE lane IN EXCLUSIVE MODE', `${SHARED_STATE} WHERE id = 1`])
}

/** Before anything else is sent: what follows a BEGIN that failed would be committed piece by piece. */
async function begin(
  client: PoolClient,
  statements: ReadonlyArray<QueryConfig | string>,
): Promise<SharedState[]> {
  // All are waited for: what is left of a failure must not meet what is sent next.
  const answers = await Promise.allSettled(
    ['BEGIN ISOLATION LEVEL READ COMMITTED', ...statements].map((one) =>
      client.query<SharedState>(one as string),
    ),
  )
  const failed = answers.find((one) => one.status === 'rejected')
  if (failed) throw failed.reason
  return (answers.at(-1) as PromiseFulfilledResult<QueryResult<SharedState>>).value.rows
}
