/** What several services on one database agree on beside its records: who does what one does for all, and by which keys. */
import type { PostgresLane } from './postgres-lane.js'
import type { PostgresPool } from './postgres-pool.js'
import type { SharedStore } from './store.js'

export class PostgresShared implements SharedStore {
  constructor(
    private readonly pool: PostgresPool,
    private readonly lane: PostgresLane,
  ) {}

  /** By the clock of the database alone: those of the services may differ. */
  async takeDuty(holder: string, forMs: number): Promise<{ isTaken: boolean; nowMs: number }> {
    const { rows } = await this.pool.query({
      name: 'take-duty',
      text: `WITH taken AS (
          UPDATE duty SET holder = $1, ends_at = clock_timestamp() + $2 * interval '1 millisecond'
          WHERE holder = $1 OR ends_at <= clock_timestamp() RETURNING 1)
        SELECT EXISTS (SELECT FROM taken) AS "isTaken",
          (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS "nowMs"`,
      values: [holder, forMs],
    })
    return rows[0]
  }

  async keysRevision(): Promise<number> {
    const { rows } = await this.pool.query({
      name: 'keys',
      text: 'SELECT keys_revision AS revision FROM lane',
    })
    return rows[0].revision
  }

  requireKeys(revision: number, onStale: () => void): void {
    this.lane.keysRevision = revision
    this.lane.onStaleKeys = onStale
  }

  async operatorPassword(): Promise<string | null> {
    const { rows } = await this.pool.query({ name: 'password', text: 'SELECT hash FROM operator_password' })
    return rows[0]?.hash ?? null
  }

  async keepOperatorPassword(hash: string, { replace = false } = {}): Promise<boolean> {
    const onConflict = replace ? 'UPDATE SET hash = excluded.hash' : 'NOTHING'
    const { rowCount } = await this.pool.query({
      text: `INSERT INTO operator_password (id, hash) VALUES (1, $1) ON CONFLICT (id) DO ${onConflict}`,
      values: [hash],
    })
    return rowCount === 1
  }
}
