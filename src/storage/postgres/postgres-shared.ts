/**
 * Data besides the records that the services of one PostgreSQL database share: the revision of the keys, the key epochs, and the operator's
 * password.
 */
import type { ServiceNode } from '../coordinator.js'
import type { SharedStore } from '../store.js'
import { PostgresEpochs } from './postgres-epochs.js'
import type { PostgresPool } from './postgres-pool.js'
import type { PostgresWriter } from './postgres-writer.js'

export class PostgresShared implements SharedStore {
  readonly epochs: PostgresEpochs

  constructor(
    private readonly pool: PostgresPool,
    private readonly writer: PostgresWriter,
  ) {
    this.epochs = new PostgresEpochs(pool)
  }

  async keysRevision(): Promise<number> {
    const { rows } = await this.pool.query({
      name: 'keys',
      text: 'SELECT keys_revision AS revision FROM lane WHERE id = 1',
    })
    return rows[0].revision
  }

  requireKeys(revision: number, onStale: () => void): void {
    this.writer.keysRevision = revision
    this.writer.onStaleKeys = onStale
  }

  requireEpoch(number: number): void {
    this.writer.epoch = number
  }

  operatorPassword(): Promise<string | null> {
    return operatorPassword(this.pool)
  }

  keepOperatorPassword(hash: string, options?: { replace?: boolean }): Promise<boolean> {
    return keepOperatorPassword(this.pool, hash, options)
  }
}

export async function listServices(pool: PostgresPool): Promise<ServiceNode[]> {
  const { rows } = await pool.query({
    name: 'nodes',
    text: `SELECT id, name, version, schema, started_at AS "startedAt", settings::json AS settings, master_keys::json AS "masterKeys",
        coalesce(build_commit, 'unknown') AS commit, coalesce(not_ready::json, '[]') AS "notReady",
        (extract(epoch FROM lease_until - clock_timestamp()) * 1000)::float8 AS "leaseMs"
      FROM node WHERE lease_until > clock_timestamp() AND name IS NOT NULL ORDER BY started_at, id`,
  })
  return rows as ServiceNode[]
}

type Queries = Pick<PostgresPool, 'query'>

export async function operatorPassword(pool: Queries): Promise<string | null> {
  const { rows } = await pool.query({ name: 'password', text: 'SELECT hash FROM operator_password' })
  return rows[0]?.hash ?? null
}

/** @returns as `keepOperatorPassword` of SharedStore */
export async function keepOperatorPassword(
  pool: Queries,
  hash: string,
  { replace = false } = {},
): Promise<boolean> {
  const onConflict = replace ? 'UPDATE SET hash = excluded.hash' : 'NOTHING'
  const { rowCount } = await pool.query({
    text: `INSERT INTO operator_password (id, hash) VALUES (1, $1) ON CONFLICT (id) DO ${onConflict}`,
    values: [hash],
  })
  return rowCount === 1
}
