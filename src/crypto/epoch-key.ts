/**
 * Epoch keys. A user's data key is wrapped under a working key of the database and an epoch key that no database, and so no backup of
 * one, ever contains. Once an epoch key is destroyed, data keys that were not rewrapped meanwhile can no longer be opened: those of
 * erased users. `src/features/epoch-keys/` keeps and rotates them.
 */
import { derived, type SealingKey } from './sealed-box.js'

/** The epoch keys of one process, 32 bytes each. */
export interface EpochKeys {
  /** Key that wraps, or null in a base epoch, which has no key. */
  current: Buffer | null
  /** Keys that only open. */
  others: readonly Buffer[]
}

export const NO_EPOCHS: EpochKeys = { current: null, others: [] }

/** Cache of derived keys, by the set of working keys. Each change of the keys makes a new object, which misses the cache. */
const wrappings = new WeakMap<SealingKey, { epochs: EpochKeys; wrapping: SealingKey }>()

/**
 * The keys that wrap users' data keys, derived from the working keys and the epoch keys: neither opens anything
 * without the other. Data keys that were wrapped only by a working key, before the first epoch, open too.
 */
export function dataKeyWrapping(keys: { wrapping: SealingKey; epochs: EpochKeys }): SealingKey {
  const { wrapping, epochs } = keys
  const known = wrappings.get(wrapping)
  if (known?.epochs === epochs) return known.wrapping
  const [current, ...others] = [epochs.current, ...epochs.others, null]
    .filter((epochKey, index, all) => all.indexOf(epochKey) === index)
    .flatMap((epochKey) => [wrapping.current, ...wrapping.others].map((key) => mix(key, epochKey)))
  const mixed = { current: current!, others }
  wrappings.set(wrapping, { epochs, wrapping: mixed })
  return mixed
}

/** The keys that wrap under one epoch, for each working key. @param epochKey null for a base epoch */
export function wrappingOf({ wrapping }: { wrapping: SealingKey }, epochKey: Buffer | null): SealingKey {
  return {
    current: mix(wrapping.current, epochKey),
    others: wrapping.others.map((key) => mix(key, epochKey)),
  }
}

function mix(wrappingKey: Buffer, epochKey: Buffer | null): Buffer {
  return epochKey ? derived(wrappingKey, 'epoch-wrapping', undefined, epochKey) : wrappingKey
}
