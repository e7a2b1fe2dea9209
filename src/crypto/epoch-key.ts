/**
 * Epoch keys. A user's data key is wrapped under a working key of the database and an epoch key that no database, and so no backup of
 * one, ever contains. Once an epoch key is destroyed, data keys that were not rewrapped meanwhile can no longer be opened: those of
 * erased users. `src/keys/epoch-rotation.ts` describes the rotation.
 */
import { hkdfSync, randomBytes } from 'node:crypto'
import type { SealingKey } from './sealed-box.js'

/** The epoch keys of one process, 32 bytes each. */
export interface EpochKeys {
  /** Key that wraps, or null in a base epoch, which has no key. */
  current: Buffer | null
  /** Keys that only open. */
  others: readonly Buffer[]
}

export const NO_EPOCHS: EpochKeys = { current: null, others: [] }

const KEY_BYTES = 32
const ID_BYTES = 16

export function newEpochKey(): Buffer {
  return randomBytes(KEY_BYTES)
}

/** The id of a key, 32 hexadecimal digits, in the database and as the name of the key's file. It reveals nothing about the key. */
export function epochKeyId(epochKey: Buffer): string {
  return Buffer.from(
    hkdfSync('sha256', epochKey, Buffer.alloc(0), 'countersign/v1/epoch-key-id', ID_BYTES),
  ).toString('hex')
}

/** The tag in a key file that names the database it was made for, and copies of that database. @param lookup the working key that is never rotated */
export function databaseTag({ lookup }: { lookup: Buffer }): string {
  return Buffer.from(
    hkdfSync('sha256', lookup, Buffer.alloc(0), 'countersign/v1/epoch-database', ID_BYTES),
  ).toString('hex')
}

/** Cache of derived keys, by the set of working keys. Each change of the keys makes a new object, which misses the cache. */
const derived = new WeakMap<SealingKey, { epochs: EpochKeys; wrapping: SealingKey }>()

/**
 * The keys that wrap users' data keys, derived from the working keys and the epoch keys (HKDF-SHA256, RFC 5869): neither opens anything
 * without the other. Data keys that were wrapped only by a working key, before the first epoch, open too.
 */
export function dataKeyWrapping(keys: { wrapping: SealingKey; epochs: EpochKeys }): SealingKey {
  const { wrapping, epochs } = keys
  const known = derived.get(wrapping)
  if (known?.epochs === epochs) return known.wrapping
  const [current, ...others] = [epochs.current, ...epochs.others, null]
    .filter((epochKey, index, all) => all.indexOf(epochKey) === index)
    .flatMap((epochKey) => [wrapping.current, ...wrapping.others].map((key) => mix(key, epochKey)))
  const mixed = { current: current!, others }
  derived.set(wrapping, { epochs, wrapping: mixed })
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
  if (!epochKey) return wrappingKey
  return Buffer.from(hkdfSync('sha256', wrappingKey, epochKey, 'countersign/v1/epoch-wrapping', KEY_BYTES))
}
