/** The core of an installation: what commands and the service have in common. `app/core.ts` opens it. */
import type { Config } from '../config/config.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import type { SharedStore } from '../storage/store.js'
import type { OperationParts, Operations } from './operations.js'

export interface Core extends Omit<OperationParts, 'clock'> {
  keys: ServiceKeys
  operations: Operations
  /** The master key under which the keyring is sealed. */
  masterKey: Buffer
}

/** The parts with which keys outside of the database are read, under which users' data keys are wrapped too. */
export interface KeyParts extends Pick<Core, 'keys'> {
  store: { shared: Pick<SharedStore, 'requireOwnKeys'> | null }
  config: Config
}
