/** The SharedStore on PostgreSQL: the revision of the keys, the key epochs, and the operator's password. */
import { ConfigError } from '../../../config/config-error.js'
import type { SharedStore } from '../../../storage/store.js'
import { type EpochBook, type EpochProgress, epochBook, isBaseEpoch } from './epoch-book.js'
import type { PostgresCoordinator } from './postgres-coordinator.js'
import type { PostgresPool } from './postgres-pool.js'
import type { PostgresWriter } from './postgres-writer.js'

/** The part of the key epochs in a database. */
export interface SharedEpochs extends Pick<SharedStore, 'requireOwnKeys'> {
  readonly epochs: EpochBook
  /** Refuses to write from now on once data keys may only be wrapped under epochs after this one. */
  requireEpoch(number: number): void
  /** Publishes the progress of this service with its next heartbeat. */
  showEpochs(progress: EpochProgress): void
}

/** @param writer null for a database that is only read @param coordinator null for a command */
export function epochsIn(
  pool: PostgresPool,
  writer: PostgresWriter | null,
  coordinator: PostgresCoordinator | null,
): SharedEpochs {
  const epochs = epochBook(pool)
  const requireEpoch = (number: number) => {
    if (writer) writer.epoch = number
  }
  return {
    epochs,
    async requireOwnKeys() {
      const present = (await epochs.all()).filter(({ retiredAt }) => retiredAt === null)
      const keyed = present.find(({ keyId }) => !isBaseEpoch(keyId))
      if (keyed)
        throw new ConfigError(
          `The database wraps users' keys under epoch ${keyed.number}, and the feature epoch-keys, which reads its key, is not listed. ` +
            'Start a service that has it: nobody is lost.',
        )
      requireEpoch(present.findLast(({ activatedAt }) => activatedAt !== null)?.number ?? 0)
    },
    requireEpoch,
    showEpochs(progress) {
      coordinator?.showEpochs(progress)
    },
  }
}

export function sharedStore(
  pool: PostgresPool,
  writer: PostgresWriter,
  coordinator: PostgresCoordinator | null,
): SharedStore {
  return {
    ...passwordIn(pool),
    ...epochsIn(pool, writer, coordinator),
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
