/** The parts of PostgreSQL that other features may use: what only its store has. */
import type { SharedStore } from '../../storage/store.js'
import type { SharedEpochs } from './store/postgres-shared-store.js'

export {
  baseEpochId,
  type EpochBook,
  type EpochProgress,
  type EpochRecord,
  isBaseEpoch,
  isUnderWay,
  type RewrappedRow,
} from './store/epoch-book.js'

/** A store, or what is read of one for a copy. */
export interface EpochSource {
  shared: Pick<SharedStore, 'requireOwnKeys'> | null
}

/** The part of the key epochs in a database; null with SQLite, which has none. */
export function epochsOf({ shared }: EpochSource): SharedEpochs | null {
  // Services share only PostgreSQL.
  return shared as SharedEpochs | null
}
