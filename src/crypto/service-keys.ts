/**
 * The keys that the service works with, one a purpose: random, kept in the database as a keyring that is sealed under the master
 * key. A new master key brings new working keys with it, so that whoever once held an old one opens no later copy.
 */
import { hkdfSync, randomBytes } from 'node:crypto'
import { type EpochKeys, NO_EPOCHS } from './epoch-key.js'
import { open, type SealingKey, seal } from './sealed-box.js'

/**
 * Each key is 32 bytes, and serves one purpose. A key that seals derives the keys of boxes by HMAC; only boxes of releases up to 0.1.0
 * were encrypted by it directly.
 */
export interface ServiceKeys {
  /** Wraps the data keys of users, together with the epoch's key (`dataKeyWrapping`). */
  wrapping: SealingKey
  /** Not of the keyring: they lie outside of the database. */
  epochs: EpochKeys
  /** Seals signing secrets and the secrets of second factors. */
  secrets: SealingKey
  /** Seals kept responses and what webhooks have to tell, where they belong to no enrolled user, and the sandbox's user ids in the request log. */
  idempotency: SealingKey
  /** HMAC keys of the audit chain, oldest first; the last one links and seals, the others check what they linked. */
  audit: Buffer[]
  /** HMAC key that turns a user id into its look-up pseudonym. It never moves: user ids are stored nowhere. */
  lookup: Buffer
  /** Signs responses for which no tenant is known; the operator may print it. */
  instance: Buffer
  phase: KeyPhase
  /** How often the working keys were changed, as the keyring's row says. */
  generation: number
}

/**
 * Where a change of the working keys stands. `prepared`: the next ones open and do not seal yet; `activated`: they seal, and the
 * ones before still open what was not sealed anew; `settled`: there is one set alone.
 */
export type KeyPhase = 'prepared' | 'activated' | 'settled'

const KEY_BYTES = 32
/** The purposes whose boxes can be sealed anew. */
export const SEALING = ['wrapping', 'secrets', 'idempotency'] as const

export function newKeys(): ServiceKeys {
  const random = () => randomBytes(KEY_BYTES)
  const alone = (): SealingKey => ({ current: random(), others: [] })
  return {
    wrapping: alone(),
    epochs: NO_EPOCHS,
    secrets: alone(),
    idempotency: alone(),
    audit: [random()],
    lookup: random(),
    instance: random(),
    phase: 'settled',
    generation: 0,
  }
}

/** The keys of a database from before there were keyrings (HKDF-SHA256, RFC 5869). */
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

/** Fresh keys beside the present ones, which still seal. @param keys settled ones */
export function prepareKeys(keys: ServiceKeys): ServiceKeys {
  const beside = ({ current }: SealingKey): SealingKey => ({ current, others: [randomBytes(KEY_BYTES)] })
  return {
    ...keys,
    wrapping: beside(keys.wrapping),
    secrets: beside(keys.secrets),
    idempotency: beside(keys.idempotency),
    phase: 'prepared',
  }
}

/** The prepared keys seal from now on, and a fresh one links the audit log. @param keys prepared ones */
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

/** Forgets the keys under which nothing is sealed any more. @param keys activated ones */
export function settleKeys(keys: ServiceKeys): ServiceKeys {
  const alone = ({ current }: SealingKey): SealingKey => ({ current, others: [] })
  return {
    ...keys,
    wrapping: alone(keys.wrapping),
    secrets: alone(keys.secrets),
    idempotency: alone(keys.idempotency),
    phase: 'settled',
  }
}

/** A keyring as text. A plain key stands for one without others, as older versions wrote them. */
type KeyringText = Record<string, string | string[]>

/** @param masterKeyId of the master key: a keyring sealed under another one does not open */
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

/** @param generation of the row @throws Error when the master key is another */
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

/** The master key itself seals nothing. */
function wrappingKey(masterKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), 'countersign/v1/keyring', KEY_BYTES))
}
