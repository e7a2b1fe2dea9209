/**
 * The working keys of the service, one for each purpose. They are random, and kept in the database as a keyring that is sealed under
 * the master key. A change of the master key replaces the working keys too, so that an old master key opens no later copy.
 */
import { hkdfSync, randomBytes } from 'node:crypto'
import { type EpochKeys, NO_EPOCHS } from './epoch-key.js'
import { open, type SealingKey, seal } from './sealed-box.js'

/**
 * Each key has 32 bytes and one purpose. A key that seals derives the keys of boxes by HMAC; it encrypted only boxes of releases up to
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

export function newKeys(): ServiceKeys {
  const random = () => randomBytes(KEY_BYTES)
  const onlyKey = (): SealingKey => ({ current: random(), others: [] })
  return {
    wrapping: onlyKey(),
    epochs: NO_EPOCHS,
    secrets: onlyKey(),
    idempotency: onlyKey(),
    audit: [random()],
    lookup: random(),
    instance: random(),
    phase: 'settled',
    generation: 0,
  }
}

/** The keys of a database that has no keyring because an earlier version made it (HKDF-SHA256, RFC 5869). */
export function deriveKeys(masterKey: Buffer): ServiceKeys {
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `countersign/v1/${purpose}`, KEY_BYTES))
  return {
    wrapping: { current: derive('wrapping'), others: [] },
    epochs: NO_EPOCHS,
    secrets: { current: derive('secrets'), others: [] },
    idempotency: { current: derive('idempotency'), others: [] },
    audit: [derive('audit')],
    lookup: derive('lookup'),
    instance: derive('instance'),
    phase: 'settled',
    generation: 0,
  }
}

/** Adds new keys that only open; the present keys still seal. @param keys in phase `settled` */
export function prepareKeys(keys: ServiceKeys): ServiceKeys {
  const withNext = ({ current }: SealingKey): SealingKey => ({ current, others: [randomBytes(KEY_BYTES)] })
  return {
    ...keys,
    wrapping: withNext(keys.wrapping),
    secrets: withNext(keys.secrets),
    idempotency: withNext(keys.idempotency),
    phase: 'prepared',
  }
}

/** Lets the prepared keys seal, and adds a new key for the audit chain. @param keys in phase `prepared` */
export function activateKeys(keys: ServiceKeys): ServiceKeys {
  const swap = ({ current, others }: SealingKey): SealingKey => ({ current: others[0]!, others: [current] })
  return {
    ...keys,
    wrapping: swap(keys.wrapping),
    secrets: swap(keys.secrets),
    idempotency: swap(keys.idempotency),
    audit: [...keys.audit, randomBytes(KEY_BYTES)],
    phase: 'activated',
    generation: keys.generation + 1,
  }
}

/** Drops the keys under which nothing is sealed any more. @param keys in phase `activated` */
export function settleKeys(keys: ServiceKeys): ServiceKeys {
  const onlyCurrent = ({ current }: SealingKey): SealingKey => ({ current, others: [] })
  return {
    ...keys,
    wrapping: onlyCurrent(keys.wrapping),
    secrets: onlyCurrent(keys.secrets),
    idempotency: onlyCurrent(keys.idempotency),
    phase: 'settled',
  }
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

/** The key that seals keyrings, derived from the master key, which itself seals nothing. */
function wrappingKey(masterKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), 'countersign/v1/keyring', KEY_BYTES))
}
