/**
 * Authenticated encryption of small records: AES-256-GCM (NIST SP 800-38D), with a separate key for each box.
 *
 * SP 800-38D, section 8.3, allows one key at most 2^32 boxes with random nonces. Therefore the key that callers hold
 * encrypts nothing: the key of each box is derived from it and a random salt, which the box carries. No derived key seals a second box.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { pooledRandomBytes } from './random-pool.js'

/** Version of boxes of releases up to 0.1.0, which the caller's key itself encrypted. They still open; no new ones are made. */
const UNDIVIDED = 1
const VERSION = 2
const KEY_BYTES = 32
const SALT_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16
const INFO = Buffer.from('countersign/v1/sealed-box\0')
const FIRST_BLOCK = Buffer.of(1)

/** The key that seals and opens, and others that only open, such as earlier and prepared ones: 32 bytes each. */
export interface SealingKey {
  current: Buffer
  others: Buffer[]
}

/**
 * Seals `plaintext` under `key` (32 bytes). `context` is authenticated, not stored: a box moved to another row does not open.
 * Layout: version (1), salt (16), nonce (12), tag (16), ciphertext.
 * @throws TypeError for a key of another length
 */
export function seal(key: Buffer, plaintext: Uint8Array, context: string): Buffer {
  const random = pooledRandomBytes(SALT_BYTES + NONCE_BYTES)
  const [salt, nonce] = [random.subarray(0, SALT_BYTES), random.subarray(SALT_BYTES)]
  const cipher = createCipheriv('aes-256-gcm', keyOfBox(key, salt), nonce).setAAD(Buffer.from(context))
  const ciphertext = cipher.update(plaintext)
  // GCM is a stream mode, so this returns no bytes; it computes the tag.
  cipher.final()
  return Buffer.concat([Buffer.of(VERSION), random, cipher.getAuthTag(), ciphertext])
}

/** Opens a box. @throws Error where key or context are not those of `seal`, or the box was changed */
export function open(key: Buffer, box: Uint8Array, context: string): Buffer {
  const saltBytes = box[0] === VERSION ? SALT_BYTES : box[0] === UNDIVIDED ? 0 : null
  if (saltBytes === null || box.length < 1 + saltBytes + NONCE_BYTES + TAG_BYTES)
    throw new Error('not a sealed box')
  const [nonceAt, tagAt] = [1 + saltBytes, 1 + saltBytes + NONCE_BYTES]
  const boxKey = saltBytes === 0 ? key : keyOfBox(key, box.subarray(1, nonceAt))
  const decipher = createDecipheriv('aes-256-gcm', boxKey, box.subarray(nonceAt, tagAt), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(context))
    .setAuthTag(box.subarray(tagAt, tagAt + TAG_BYTES))
  const plaintext = decipher.update(box.subarray(tagAt + TAG_BYTES))
  // Returns no bytes; throws where the tag does not match.
  decipher.final()
  return plaintext
}

/**
 * The first block of HKDF-Expand with SHA-256 (RFC 5869, section 2.3), whose info ends in the salt. Keys are uniformly random, so
 * that the extract step can be left out (section 3.3).
 */
function keyOfBox(key: Buffer, salt: Uint8Array): Buffer {
  // The length is checked here because HMAC accepts a key of any length.
  if (key.length !== KEY_BYTES) throw new TypeError(`a sealing key has ${KEY_BYTES} bytes, not ${key.length}`)
  return createHmac('sha256', key).update(INFO).update(salt).update(FIRST_BLOCK).digest()
}

/**
 * None of the keys that this process holds opens a box of the database. Another service may have changed the keys while this process
 * stood still: the key watch reads them within a second, so the call can be retried.
 */
export class UnopenedBoxError extends Error {
  override readonly name = 'UnopenedBoxError'
}

/** @throws UnopenedBoxError when none of the keys opens the box in this context */
export function openWithAny({ current, others }: SealingKey, box: Uint8Array, context: string): Buffer {
  let cause: unknown
  for (const key of [current, ...others])
    try {
      return open(key, box, context)
    } catch (error) {
      cause = error
    }
  throw new UnopenedBoxError('a sealed record opens with none of the keys that this process holds', { cause })
}

/** Opens a row's box. @returns null where none of the keys opens it */
export function openedBy(key: SealingKey, { id, sealed }: { id: string; sealed: Uint8Array }): Buffer | null {
  try {
    return openWithAny(key, sealed, id)
  } catch {
    return null
  }
}

export function isOpenedBy(key: SealingKey, row: { id: string; sealed: Uint8Array }): boolean {
  return openedBy(key, row) !== null
}

/** Seals a box under the current key. @returns null where it is sealed under that key already */
export function reseal(key: SealingKey, box: Uint8Array, context: string): Buffer | null {
  try {
    open(key.current, box, context)
    return null
  } catch {
    return seal(key.current, openWithAny(key, box, context), context)
  }
}
