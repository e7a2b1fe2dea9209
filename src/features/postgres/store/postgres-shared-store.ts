/** The SharedStore on PostgreSQL: the revision of the keys, the key epochs, and the operator's password. */
import type { SharedStore } from '../../../storage/store.js'
import { PostgresEpochs } from './postgres-epochs.js'
import type { PostgresPool } from './postgres-pool.js'
import type { PostgresWriter } from './postgres-writer.js'

export function sharedStore(pool: PostgresPool, writer: PostgresWriter): SharedStore {
  return {
    ...passwordIn(pool),
    epochs: new PostgresEpochs(pool),
    async keysRevision() {
      const { rows } = await pool.query({
        name: 'keys',
        text: 'SELECT keys_revision AS revision FROM lane WHERE id = 1',
      })
      return rows[0].revision
    },
    requireKeys(revision, onStale) {
      writer.keysRevision = revision
      writer.onStaleKeys = onStale
    },
    requireEpoch(number) {
      writer.epoch = number
    },
  }
}

export function passwordIn(
  pool: Pick<PostgresPool, 'query'>,
): Pick<SharedStore, 'operatorPassword' | 'keepOperatorPassword'> {
  return {
    async operatorPassword() {
      const { rows } = await pool.query({ name: 'password', text: 'SELECT hash FROM operator_password' })
      return rows[0]?.hash ?? null
    },
    async keepOperatorPassword(hash, { replace = false } = {}) {
      const onConflict = replace ? 'UPDATE SET hash = excluded.hash' : 'NOTHING'
      const { rowCount } = await pool.query({
        text: `INSERT INTO operator_password (id, hash) VALUES (1, $1) ON CONFLICT (id) DO ${onConflict}`,
        values: [hash],
      })
      return rowCount === 1
    },
  }
}
