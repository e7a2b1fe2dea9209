/**
 * Authenticated encryption of small records: AES-256-GCM (NIST SP 800-38D).
 *
 * SP 800-38D, section 8.3, allows one key at most 2^32 boxes with random nonces. A key of the service may seal more. Therefore it
 * encrypts nothing itself: the key of each box is derived from it and a random salt, which the box carries. No derived key seals a
 * second box. The key of one user never comes near that number, and seals its few boxes itself (`sealWithin`).
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { pooledRandomBytes } from './random-pool.js'

/** Version of boxes that the caller's key itself encrypts. Releases up to 0.1.0 made all boxes so. */
const UNDIVIDED = 1
const VERSION = 2
const KEY_BYTES = 32
const SALT_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16
const INFO = Buffer.from('countersign/v1/sealed-box\0')
const FIRST_BLOCK = Buffer.of(1)

/** A key or an id that follows from a key (HKDF-SHA256, RFC 5869): another one for each purpose. */
export function derived(key: Buffer, purpose: string, bytes = 32, salt: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, `countersign/v1/${purpose}`, bytes))
}

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
  const salt = pooledRandomBytes(SALT_BYTES)
  return encrypt(keyOfBox(key, salt), Buffer.concat([Buffer.of(VERSION), salt]), plaintext, context)
}

/**
 * Seals `plaintext` under a key that seals only what is kept for one user: far fewer than 2^32 boxes.
 * Layout: version (1), nonce (12), tag (16), ciphertext.
 * @throws TypeError for a key of another length
 */
export function sealWithin(key: Buffer, plaintext: Uint8Array, context: string): Buffer {
  assertKey(key)
  return encrypt(key, Buffer.of(UNDIVIDED), plaintext, context)
}

/**
 * Seals under the key of the user to whom the content belongs, and under a key of the service where it belongs to none.
 * @throws TypeError for a key of another length
 */
export function sealFor(
  userKey: Buffer | null | undefined,
  serviceKey: Buffer,
  plaintext: Uint8Array,
  context: string,
): Buffer {
  return userKey ? sealWithin(userKey, plaintext, context) : seal(serviceKey, plaintext, context)
}

function encrypt(key: Buffer, head: Buffer, plaintext: Uint8Array, context: string): Buffer {
  const nonce = pooledRandomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const ciphertext = cipher.update(plaintext)
  // GCM is a stream mode, so this returns no bytes; it computes the tag.
  cipher.final()
  return Buffer.concat([head, nonce, cipher.getAuthTag(), ciphertext])
}

function assertKey(key: Buffer): void {
  if (key.length !== KEY_BYTES) throw new TypeError(`a sealing key has ${KEY_BYTES} bytes, not ${key.length}`)
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
  assertKey(key)
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
