/** What the services of one PostgreSQL database have in common beside its records: by which keys they write, and the operator's password. */
import { PostgresEpochs } from './postgres-epochs.js'
import type { PostgresLane } from './postgres-lane.js'
import type { PostgresPool } from './postgres-pool.js'
import type { SharedStore } from './store.js'

export class PostgresShared implements SharedStore {
  readonly epochs: PostgresEpochs

  constructor(
    private readonly pool: PostgresPool,
    private readonly lane: PostgresLane,
  ) {
    this.epochs = new PostgresEpochs(pool)
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

  requireEpoch(number: number): void {
    this.lane.epoch = number
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
