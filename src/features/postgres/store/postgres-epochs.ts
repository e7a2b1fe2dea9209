/** Key epochs in PostgreSQL. Each step is one statement, so that a crash leaves it done or not begun. */
import type { EpochBook, EpochProgress, EpochRecord, RewrappedRow } from './epoch-book.js'
import type { PostgresPool } from './postgres-pool.js'

const FIELDS = `number, key_id AS "keyId", announced_at AS "announcedAt", activated_at AS "activatedAt",
  settled_at AS "completedAt", retired_at AS "retiredAt"`
/** Number of epochs that every service reads each second; older ones were retired long ago. */
const MAX_RECENT = 100
const COLUMN_OF: Record<keyof EpochProgress, string> = { loaded: 'epoch_loaded', used: 'epoch_used' }

export class PostgresEpochs implements EpochBook {
  constructor(private readonly pool: PostgresPool) {}

  async all(): Promise<EpochRecord[]> {
    const { rows } = await this.pool.query({
      name: 'epochs',
      text: `SELECT ${FIELDS} FROM epoch ORDER BY number DESC LIMIT ${MAX_RECENT}`,
    })
    return rows.reverse()
  }

  async of(keyIds: readonly string[]): Promise<EpochRecord[]> {
    const { rows } = await this.pool.query({
      text: `SELECT ${FIELDS} FROM epoch WHERE key_id = ANY ($1::text[]) ORDER BY number`,
      values: [keyIds],
    })
    return rows as EpochRecord[]
  }

  async announce(keyId: string, at: number): Promise<void> {
    // When two are announced at once, the unique index accepts one that is not settled.
    await this.pool.query({
      text: 'INSERT INTO epoch (key_id, announced_at) VALUES ($1, $2) ON CONFLICT DO NOTHING',
      values: [keyId, at],
    })
  }

  async activate(number: number, at: number): Promise<void> {
    await this.pool.query({
      text: 'UPDATE epoch SET activated_at = $2 WHERE number = $1 AND activated_at IS NULL AND retired_at IS NULL',
      values: [number, at],
    })
  }

  async withdraw(number: number, at: number): Promise<void> {
    await this.pool.query({
      text: 'UPDATE epoch SET retired_at = $2 WHERE number = $1 AND activated_at IS NULL AND retired_at IS NULL',
      values: [number, at],
    })
  }

  async fence(number: number): Promise<void> {
    // The lock waits for every group that has a lock partition; each later group sees the new value.
    await this.pool.query({
      text: `DO $$ BEGIN
          LOCK TABLE lane IN EXCLUSIVE MODE;
          UPDATE lane SET oldest_epoch = greatest(oldest_epoch, ${Number(number)});
        END $$`,
    })
  }

  async complete(number: number, at: number): Promise<void> {
    await this.pool.query({
      text: `UPDATE epoch SET settled_at = CASE number WHEN $1 THEN coalesce(settled_at, $2) ELSE settled_at END,
          retired_at = CASE number WHEN $1 THEN retired_at ELSE coalesce(retired_at, $2) END
        WHERE number <= $1 AND (SELECT max(number) FROM epoch) = $1`,
      values: [number, at],
    })
  }

  async behind(stage: keyof EpochProgress, number: number): Promise<string[]> {
    const { rows } = await this.pool.query({
      // Services of early versions have an id but no name.
      text: `SELECT coalesce(name, id) AS name FROM node
        WHERE lease_until > clock_timestamp() AND coalesce(${COLUMN_OF[stage]}, 0) < $1 ORDER BY name`,
      values: [number],
    })
    return rows.map(({ name }) => name)
  }

  async rewrap(rows: readonly RewrappedRow[], number: number | null): Promise<number> {
    const { rowCount } = await this.pool.query({
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
  }

  async blindIndexesOf(subjectIds: readonly string[], options?: { createdUntil: number }): Promise<Buffer[]> {
    const { rows } = await this.pool.query({
      text: `SELECT lookup FROM subject WHERE id = ANY ($1::text[]) AND created_at <= coalesce($2, created_at)`,
      values: [subjectIds, options?.createdUntil],
    })
    return rows.map(({ lookup }) => lookup)
  }

  async adopt(keyId: string, at: number): Promise<void> {
    await this.pool.query({
      text: `WITH retired AS (UPDATE epoch SET activated_at = coalesce(activated_at, $2), retired_at = coalesce(retired_at, $2)
          WHERE key_id <> $1)
        INSERT INTO epoch (key_id, announced_at, activated_at, settled_at) VALUES ($1, $2, $2, $2)
        ON CONFLICT (key_id) DO UPDATE SET activated_at = coalesce(epoch.activated_at, $2),
          settled_at = coalesce(epoch.settled_at, $2), retired_at = NULL`,
      values: [keyId, at],
    })
  }
}
