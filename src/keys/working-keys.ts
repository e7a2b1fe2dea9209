/** The keys that one process works with now. */
import type { EpochKeys } from '../crypto/epoch-key.js'
import type { SealingKey } from '../crypto/sealed-box.js'
import type { KeyPhase, ServiceKeys } from '../crypto/service-keys.js'

/** Every part holds this object and reads a key at the moment of its use, so that a replacement reaches all parts at once. */
export class WorkingKeys implements ServiceKeys {
  wrapping!: SealingKey
  epochs!: EpochKeys
  secrets!: SealingKey
  idempotency!: SealingKey
  audit!: Buffer[]
  lookup!: Buffer
  instance!: Buffer
  phase!: KeyPhase
  generation!: number

  constructor(keys: ServiceKeys) {
    Object.assign(this, keys)
  }

  /** Takes every key of the keyring. The epoch keys stay: they lie outside of the keyring. */
  replaceKeyring(next: ServiceKeys): void {
    Object.assign(this, next, { epochs: this.epochs })
  }

  /** Data keys are wrapped under the current one of these from now on. */
  replaceEpochs(epochs: EpochKeys): void {
    this.epochs = epochs
  }
}
