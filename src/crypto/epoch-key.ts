/**
 * Epoch keys: the part of what wraps users' data keys that no database, and so no archive of one, ever holds. Each is good for some time
 * and then destroyed, and with it every wrapped key that was not wrapped anew meanwhile: those of erased users.
 */
import { hkdfSync, randomBytes } from 'node:crypto'
import type { SealingKey } from './sealed-box.js'

/** Each is 32 bytes. */
export interface EpochKeys {
  /** Null before the first epoch, and in one without a key. */
  current: Buffer | null
  /** Others that still open. */
  others: readonly Buffer[]
}

export const NO_EPOCHS: EpochKeys = { current: null, others: [] }

const KEY_BYTES = 32
const ID_BYTES = 16

export function newEpochKey(): Buffer {
  return randomBytes(KEY_BYTES)
}

/** What a key is known by, in the database and as a file: says nothing about it, and fits no other. */
export function epochKeyId(epochKey: Buffer): string {
  return Buffer.from(
    hkdfSync('sha256', epochKey, Buffer.alloc(0), 'countersign/v1/epoch-key-id', ID_BYTES),
  ).toString('hex')
}

/** By which a key in the folder is known to be one of this database, or of a copy of it. @param lookup the working key that never moves */
export function databaseTag({ lookup }: { lookup: Buffer }): string {
  return Buffer.from(
    hkdfSync('sha256', lookup, Buffer.alloc(0), 'countersign/v1/epoch-database', ID_BYTES),
  ).toString('hex')
}

/** What was made last of a set of wrapping keys: a change of either set is a new object. */
const made = new WeakMap<SealingKey, { epochs: EpochKeys; wrapping: SealingKey }>()

/**
 * Wraps the data keys of users: of the working key and the epoch's (HKDF-SHA256, RFC 5869), so that neither opens anything by itself.
 * What is wrapped by the working key alone, from before the first epoch, opens too.
 */
export function dataKeyWrapping(keys: { wrapping: SealingKey; epochs: EpochKeys }): SealingKey {
  const { wrapping, epochs } = keys
  const known = made.get(wrapping)
  if (known?.epochs === epochs) return known.wrapping
  const [current, ...others] = [epochs.current, ...epochs.others, null]
    .filter((epochKey, index, all) => all.indexOf(epochKey) === index)
    .flatMap((epochKey) => [wrapping.current, ...wrapping.others].map((key) => mix(key, epochKey)))
  const mixed = { current: current!, others }
  made.set(wrapping, { epochs, wrapping: mixed })
  return mixed
}

/** Of one epoch alone, under whichever working key. @param epochKey null for one without a key */
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
