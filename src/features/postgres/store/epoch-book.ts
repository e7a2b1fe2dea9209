/**
 * How services agree on key epochs, whose keys lie outside of the database. Each step is one statement, so that a crash leaves it done or
 * not begun, and is durable when its promise resolves.
 */
import { randomUUID } from 'node:crypto'
import type { SealedRow } from '../../../storage/records.js'
import type { PostgresPool } from './postgres-pool.js'

/**
 * A key epoch. It is announced (services read its key), then activated (data keys are wrapped under it), then settled (all data keys are
 * wrapped under it, and the epochs before it are retired: their keys may be destroyed).
 */
export interface EpochRecord {
  /** Number of the epoch; later epochs have greater numbers. */
  number: number
  /** Id of a key in the folder, or an id for which `isBaseEpoch` is true. */
  keyId: string
  announcedAt: number
  activatedAt: number | null
  completedAt: number | null
  /** When the database stopped holding data keys wrapped under this epoch; null before. */
  retiredAt: number | null
}

const KEYLESS = 'none-'

/** Makes an id for an epoch in which only the working key wraps data keys, as before the first epoch. */
export function baseEpochId(): string {
  return `${KEYLESS}${randomUUID()}`
}

export function isBaseEpoch(keyId: string): boolean {
  return keyId.startsWith(KEYLESS)
}

/** Whether the rotation to this epoch has begun and not ended. */
export function isUnderWay({ completedAt, retiredAt }: EpochRecord): boolean {
  return completedAt === null && retiredAt === null
}

/** How far a service has followed a rotation. */
export interface EpochProgress {
  /** Number of the last epoch whose key the service has read, along with the keys of all epochs that are needed before it. */
  loaded: number
  /** Number of the epoch under which the service wraps data keys; 0 for none. */
  used: number
}

/** A data key with a new wrapping, and the one that it replaces. */
export interface RewrappedRow extends SealedRow {
  before: Buffer
}

const FIELDS = `number, key_id AS "keyId", announced_at AS "announcedAt", activated_at AS "activatedAt",
  settled_at AS "completedAt", retired_at AS "retiredAt"`
/** Number of epochs that every service reads each second; older ones were retired long ago. */
const MAX_RECENT = 100
/** One that was announced only. */
const INACTIVE = 'WHERE number = $1 AND activated_at IS NULL AND retired_at IS NULL'
const COLUMN_OF: Record<keyof EpochProgress, string> = { loaded: 'epoch_loaded', used: 'epoch_used' }

export type EpochBook = ReturnType<typeof epochBook>

export function epochBook(pool: PostgresPool) {
  const run = async (text: string, ...values: unknown[]) => void (await pool.query({ text, values }))
  return {
    /** All epochs, oldest first, without those that were retired long ago. */
    async all(): Promise<EpochRecord[]> {
      const { rows } = await pool.query({
        name: 'epochs',
        text: `SELECT ${FIELDS} FROM epoch ORDER BY number DESC LIMIT ${MAX_RECENT}`,
      })
      return rows.reverse()
    },
    /** The epochs of these keys, however long ago they were retired. */
    async of(keyIds: readonly string[]): Promise<EpochRecord[]> {
      const { rows } = await pool.query({
        text: `SELECT ${FIELDS} FROM epoch WHERE key_id = ANY ($1::text[]) ORDER BY number`,
        values: [keyIds],
      })
      return rows as EpochRecord[]
    },
    /** Announces an epoch, unless another one is under way. */
    announce: (keyId: string, at: number) =>
      // When two are announced at once, the unique index accepts one that is not settled.
      run('INSERT INTO epoch (key_id, announced_at) VALUES ($1, $2) ON CONFLICT DO NOTHING', keyId, at),
    activate: (number: number, at: number) =>
      run(`UPDATE epoch SET activated_at = $2 ${INACTIVE}`, number, at),
    /** Retires an epoch that was announced but not activated, so that no data key is ever wrapped under it. */
    withdraw: (number: number, at: number) => run(`UPDATE epoch SET retired_at = $2 ${INACTIVE}`, number, at),
    /** Once it resolves, no service writes that wraps under an earlier epoch. */
    fence: (number: number) =>
      // The lock waits for every group that has a lock partition; each later group sees the new value.
      run(`DO $$ BEGIN
          LOCK TABLE lane IN EXCLUSIVE MODE;
          UPDATE lane SET oldest_epoch = greatest(oldest_epoch, ${Number(number)});
        END $$`),
    /** Marks the epoch as completed and retires all before it. Does nothing once a later epoch has begun. */
    complete: (number: number, at: number) =>
      run(
        `UPDATE epoch SET settled_at = CASE number WHEN $1 THEN coalesce(settled_at, $2) ELSE settled_at END,
           retired_at = CASE number WHEN $1 THEN retired_at ELSE coalesce(retired_at, $2) END
         WHERE number <= $1 AND (SELECT max(number) FROM epoch) = $1`,
        number,
        at,
      ),
    /** Names of the live services that have not reached the epoch in this respect. */
    async behind(stage: keyof EpochProgress, number: number): Promise<string[]> {
      const { rows } = await pool.query({
        // Services of early versions have an id but no name.
        text: `SELECT coalesce(name, id) AS name FROM node
          WHERE lease_until > clock_timestamp() AND coalesce(${COLUMN_OF[stage]}, 0) < $1 ORDER BY name`,
        values: [number],
      })
      return rows.map(({ name }) => name)
    },
    /**
     * Replaces wrapped keys, and skips those that have changed since they were read.
     * @param number of the epoch, after which none may have begun; null for a database that no service uses
     * @returns how many were replaced
     */
    async rewrap(rows: readonly RewrappedRow[], number: number | null): Promise<number> {
      const { rowCount } = await pool.query({
        name: 'rewrap',
        text: `UPDATE subject SET wrapped_key = one.after
          FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS one (id, before, after)
          WHERE subject.id = one.id AND subject.wrapped_key = one.before
            AND ($4::bigint IS NULL OR $4 = (SELECT max(number) FROM epoch))`,
        values: [
          rows.map(({ id }) => id),
          rows.map(({ before }) => before),
          rows.map(({ sealed }) => sealed),
          number,
        ],
      })
      return rowCount ?? 0
    },
    /** @param options.createdUntil leaves out subjects created later, in milliseconds since the Unix epoch */
    async blindIndexesOf(
      subjectIds: readonly string[],
      options?: { createdUntil: number },
    ): Promise<Buffer[]> {
      const { rows } = await pool.query({
        text: `SELECT lookup FROM subject WHERE id = ANY ($1::text[]) AND created_at <= coalesce($2, created_at)`,
        values: [subjectIds, options?.createdUntil],
      })
      return rows.map(({ lookup }) => lookup)
    },
    /** Replaces all epochs of a restored database by one settled epoch with this key. */
    adopt: (keyId: string, at: number) =>
      run(
        `WITH retired AS (UPDATE epoch SET activated_at = coalesce(activated_at, $2), retired_at = coalesce(retired_at, $2)
           WHERE key_id <> $1)
         INSERT INTO epoch (key_id, announced_at, activated_at, settled_at) VALUES ($1, $2, $2, $2)
         ON CONFLICT (key_id) DO UPDATE SET activated_at = coalesce(epoch.activated_at, $2),
           settled_at = coalesce(epoch.settled_at, $2), retired_at = NULL`,
        keyId,
        at,
      ),
  }
}
