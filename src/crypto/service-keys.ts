/**
 * The working keys of the service, one for each purpose. They are random, and kept in the database as a keyring that is sealed under
 * the master key. A change of the master key replaces the working keys too, so that an old master key opens no later copy.
 */
import { randomBytes } from 'node:crypto'
import { type EpochKeys, NO_EPOCHS } from './epoch-key.js'
import { derived, open, type SealingKey, seal } from './sealed-box.js'

/**
 * Each key has 32 bytes and one purpose. Every part of a process holds the same object and reads a key at the moment of its use, so that a
 * replacement reaches all parts at once. A key that seals derives the keys of boxes by HMAC; it encrypted only boxes of releases up to
 * 0.1.0 directly.
 */
export interface ServiceKeys {
  /** Wraps the data keys of users, together with the epoch key (`dataKeyWrapping`). */
  wrapping: SealingKey
  /** Epoch keys. They are not part of the keyring: they are kept outside of the database. */
  epochs: EpochKeys
  /** Seals signing secrets and the secrets of second factors. */
  secrets: SealingKey
  /** Seals kept responses and webhook deliveries that belong to no enrolled user, and the sandbox's user ids in the request log. */
  idempotency: SealingKey
  /** HMAC keys of the audit chain, oldest first; the last one links and seals, the others check what they linked. */
  audit: Buffer[]
  /** HMAC key of the blind indexes of user ids. It is never rotated: user ids are not stored, so indexes cannot be computed again. */
  lookup: Buffer
  /** Signs responses to callers whose tenant is unknown. The operator can print it. */
  instance: Buffer
  phase: KeyPhase
  /** How often the working keys were changed, from the keyring's row. */
  generation: number
}

/**
 * Phase of a change of the working keys. `prepared`: the next keys open and do not seal yet. `activated`: they seal, and the keys before
 * open what was not sealed again yet. `settled`: there is only one set of keys.
 */
export type KeyPhase = 'prepared' | 'activated' | 'settled'

const KEY_BYTES = 32

/** @param make makes the key for a purpose */
function keysBy(make: (purpose: string) => Buffer): ServiceKeys {
  const onlyKey = (purpose: string): SealingKey => ({ current: make(purpose), others: [] })
  return {
    wrapping: onlyKey('wrapping'),
    epochs: NO_EPOCHS,
    secrets: onlyKey('secrets'),
    idempotency: onlyKey('idempotency'),
    audit: [make('audit')],
    lookup: make('lookup'),
    instance: make('instance'),
    phase: 'settled',
    generation: 0,
  }
}

export function newKeys(): ServiceKeys {
  return keysBy(() => randomBytes(KEY_BYTES))
}

/** The keys of a database that has no keyring because an earlier version made it. */
export function deriveKeys(masterKey: Buffer): ServiceKeys {
  return keysBy((purpose) => derived(masterKey, purpose))
}

/** @returns the keys with others that seal */
function withSealing(keys: ServiceKeys, change: (key: SealingKey) => SealingKey): ServiceKeys {
  const { wrapping, secrets, idempotency } = keys
  return {
    ...keys,
    wrapping: change(wrapping),
    secrets: change(secrets),
    idempotency: change(idempotency),
  }
}

/** Adds new keys that only open; the present keys still seal. @param keys in phase `settled` */
export function prepareKeys(keys: ServiceKeys): ServiceKeys {
  const next = withSealing(keys, ({ current }) => ({ current, others: [randomBytes(KEY_BYTES)] }))
  return { ...next, phase: 'prepared' }
}

/** Lets the prepared keys seal, and adds a new key for the audit chain. @param keys in phase `prepared` */
export function activateKeys(keys: ServiceKeys): ServiceKeys {
  return {
    ...withSealing(keys, ({ current, others }) => ({ current: others[0]!, others: [current] })),
    audit: [...keys.audit, randomBytes(KEY_BYTES)],
    phase: 'activated',
    generation: keys.generation + 1,
  }
}

/** Drops the keys under which nothing is sealed any more. @param keys in phase `activated` */
export function settleKeys(keys: ServiceKeys): ServiceKeys {
  return { ...withSealing(keys, ({ current }) => ({ current, others: [] })), phase: 'settled' }
}

/** A keyring as JSON. Older versions wrote a plain string for a key without others. */
type KeyringText = Record<string, string | string[]>

/** Seals a keyring. @param masterKeyId id of the master key, which is authenticated with the keyring */
export function sealKeys(keys: ServiceKeys, masterKey: Buffer, masterKeyId: string): Buffer {
  const text = (key: Buffer) => key.toString('base64')
  const all = ({ current, others }: SealingKey) => [current, ...others].map(text)
  const plaintext: KeyringText = {
    wrapping: all(keys.wrapping),
    secrets: all(keys.secrets),
    idempotency: all(keys.idempotency),
    audit: keys.audit.map(text),
    lookup: text(keys.lookup),
    instance: text(keys.instance),
    phase: keys.phase,
  }
  return seal(wrappingKey(masterKey), Buffer.from(JSON.stringify(plaintext)), masterKeyId)
}

/** Opens a keyring. @param generation from the keyring's row @throws Error where it is sealed under another master key */
export function openKeys(
  sealed: Buffer,
  masterKey: Buffer,
  masterKeyId: string,
  generation = 0,
): ServiceKeys {
  const texts = JSON.parse(open(wrappingKey(masterKey), sealed, masterKeyId).toString()) as KeyringText
  const keys = (name: string) => [texts[name]!].flat().map((text) => Buffer.from(text, 'base64'))
  const sealing = (name: string): SealingKey => {
    const [current, ...others] = keys(name)
    return { current: current!, others }
  }
  return {
    wrapping: sealing('wrapping'),
    epochs: NO_EPOCHS,
    secrets: sealing('secrets'),
    idempotency: sealing('idempotency'),
    audit: keys('audit'),
    lookup: keys('lookup')[0]!,
    instance: keys('instance')[0]!,
    phase: (texts.phase as KeyPhase | undefined) ?? 'settled',
    generation,
  }
}

/** The key that seals keyrings: the master key itself seals nothing. */
function wrappingKey(masterKey: Buffer): Buffer {
  return derived(masterKey, 'keyring')
}
