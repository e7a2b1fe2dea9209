/**
 * The keys that the service works with, one a purpose. They are kept in the database, sealed under the master key: changing
 * the master key seals them anew and touches nothing else.
 */
import { hkdfSync } from 'node:crypto'
import { open, seal } from './sealed-box.js'

/** Each is 32 bytes; no key ever serves two algorithms. */
export interface ServiceKeys {
  /** Wraps the data keys of users. */
  wrapping: Buffer
  /** Seals signing secrets. */
  secrets: Buffer
  /** HMAC key that turns a user id into its look-up pseudonym. */
  lookup: Buffer
  /** Seals kept responses that belong to no enrolled user. */
  idempotency: Buffer
  /** HMAC key of the audit chain. */
  audit: Buffer
  /** Signs responses for which no tenant is known; the operator may print it. */
  instance: Buffer
}

/** An installation's first keys (HKDF-SHA256, RFC 5869): two processes that start at once make the same. */
export function deriveKeys(masterKey: Buffer): ServiceKeys {
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `countersign/v1/${purpose}`, 32))
  return {
    wrapping: derive('wrapping'),
    secrets: derive('secrets'),
    lookup: derive('lookup'),
    idempotency: derive('idempotency'),
    audit: derive('audit'),
    instance: derive('instance'),
  }
}

/** @param masterKeyId of the master key: a keyring sealed under another one does not open */
export function sealKeys(keys: ServiceKeys, masterKey: Buffer, masterKeyId: string): Buffer {
  const plaintext = JSON.stringify(keys, (_name, key) =>
    key?.type === 'Buffer' ? Buffer.from(key).toString('base64') : key,
  )
  return seal(wrappingKey(masterKey), Buffer.from(plaintext), masterKeyId)
}

/** @throws Error when the master key is another */
export function openKeys(sealed: Buffer, masterKey: Buffer, masterKeyId: string): ServiceKeys {
  const texts = JSON.parse(open(wrappingKey(masterKey), sealed, masterKeyId).toString()) as Record<
    string,
    string
  >
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Buffer.from(text, 'base64')]),
  ) as unknown as ServiceKeys
}

/** The master key itself seals nothing. */
function wrappingKey(masterKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), 'countersign/v1/keyring', 32))
}
