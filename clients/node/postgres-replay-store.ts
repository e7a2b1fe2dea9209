/** Remembers used verdicts in PostgreSQL, for the processes of one application. */
import type { ReplayStore } from './replay-store.js'

/** A `Pool` or a `Client` of `pg`. */
export interface PostgresQueries {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

const SWEEP_MS = 60_000
const TABLE = /^[a-z_]\w*(\.[a-z_]\w*)?$/i

/**
 * Remembers used verdicts in a table of PostgreSQL, and deletes expired ones once a minute. With a client in a transaction, the verdict
 * is used up when that commits.
 * @example
 * const replayStore = new PostgresReplayStore(pool)
 * await replayStore.createTable() // Once, when you deploy.
 */
export class PostgresReplayStore implements ReplayStore {
  #nextSweepMs = 0

  /** @param table its name, with a schema where you like */
  constructor(
    private readonly client: PostgresQueries,
    private readonly table = 'countersign_used_verdicts',
  ) {
    if (!TABLE.test(table)) throw new TypeError(`table is ${table}, which would need quotes in SQL`)
  }

  async consume(jti: string, expiresAt: number, signal?: AbortSignal): Promise<boolean> {
    signal?.throwIfAborted()
    const { rows } = await this.client.query(
      `${this.#sweep()}INSERT INTO ${this.table} (jti, expires_at) VALUES ($1, to_timestamp($2::float8)) ON CONFLICT (jti) DO NOTHING RETURNING jti`,
      [jti, expiresAt],
    )
    return rows.length > 0
  }

  /** Creates the table where there is none. */
  async createTable(): Promise<void> {
    await this.client.query(
      `CREATE TABLE IF NOT EXISTS ${this.table} (jti text PRIMARY KEY, expires_at timestamptz NOT NULL)`,
    )
  }

  #sweep(): string {
    const now = Date.now()
    if (now < this.#nextSweepMs) return ''
    this.#nextSweepMs = now + SWEEP_MS
    // It waits for no other process that does the same.
    return `WITH expired AS (SELECT jti FROM ${this.table} WHERE expires_at < now() LIMIT 10000 FOR UPDATE SKIP LOCKED), swept AS (DELETE FROM ${this.table} WHERE jti IN (SELECT jti FROM expired)) `
  }
}
