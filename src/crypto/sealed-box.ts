/** Authenticated encryption of small records: AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce. */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { pooledRandomBytes } from './random-pool.js'

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES

/** A key that seals, and others that still open what was sealed before it or will be after it: all of 32 bytes. */
export interface SealingKey {
  current: Buffer
  others: Buffer[]
}

/**
 * Seals `plaintext` under `key` (32 bytes). `context` is authenticated, not stored: a box moved to another row does not open.
 * Layout: version (1), nonce (12), tag (16), ciphertext.
 */
export function seal(key: Buffer, plaintext: Uint8Array, context: string): Buffer {
  const nonce = pooledRandomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const ciphertext = cipher.update(plaintext)
  // Adds nothing, since the mode is that of a stream; makes the tag.
  cipher.final()
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ciphertext])
}

/** @throws Error when key, context or box are not those it was sealed with. */
export function open(key: Buffer, box: Uint8Array, context: string): Buffer {
  if (box.length < HEADER_BYTES || box[0] !== VERSION) throw new Error('not a sealed box')
  const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(1, 1 + NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(context))
    .setAuthTag(box.subarray(1 + NONCE_BYTES, HEADER_BYTES))
  const plaintext = decipher.update(box.subarray(HEADER_BYTES))
  // Adds nothing; throws where the tag is another.
  decipher.final()
  return plaintext
}

/** @throws Error when none of the keys opens the box in this context */
export function openWithAny({ current, others }: SealingKey, box: Uint8Array, context: string): Buffer {
  for (const key of others)
    try {
      return open(current, box, context)
    } catch {
      current = key
    }
  return open(current, box, context)
}

/** @returns null where none of the keys opens it */
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

/** @returns null where the box is sealed under the current key already */
export function sealAnew(key: SealingKey, box: Uint8Array, context: string): Buffer | null {
  try {
    open(key.current, box, context)
    return null
  } catch {
    return seal(key.current, openWithAny(key, box, context), context)
  }
}
