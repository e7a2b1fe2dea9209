/** The keys of one user: drawn at random, wrapped together in one box, and lost for ever with it. */
import { createHmac, randomBytes } from 'node:crypto'

const KEY_BYTES = 32
const PSEUDONYM_BYTES = 16

export interface UserKeys {
  /** Seals what is kept for the user: 32 bytes. */
  dataKey: Buffer
  /** Keys digests of remembered captures: 32 bytes. */
  captureKey: Buffer
  /** Keys digests in the audit log: 32 bytes. */
  auditKey: Buffer
  /** Name of the user in the audit log, 32 hex digits. */
  pseudonym: string
}

/** Draws what is wrapped for a new user: data key (32 bytes), capture key (32), audit key (32), pseudonym (16). */
export function drawUserKeys(): Buffer {
  return randomBytes(3 * KEY_BYTES + PSEUDONYM_BYTES)
}

/** @param wrapped what was wrapped for the user; for a user of release 0.1.0 the data key only, from which the others are derived */
export function userKeys(wrapped: Buffer, userId: string): UserKeys {
  const dataKey = dataKeyOf(wrapped)
  if (wrapped.length === KEY_BYTES)
    return {
      dataKey,
      captureKey: derived(dataKey, 'capture'),
      auditKey: derived(dataKey, 'audit-action'),
      pseudonym: createHmac('sha256', derived(dataKey, 'audit-pseudonym'))
        .update(userId)
        .digest('hex')
        .slice(0, 2 * PSEUDONYM_BYTES),
    }
  return {
    dataKey,
    captureKey: wrapped.subarray(KEY_BYTES, 2 * KEY_BYTES),
    auditKey: wrapped.subarray(2 * KEY_BYTES, 3 * KEY_BYTES),
    pseudonym: wrapped.toString('hex', 3 * KEY_BYTES),
  }
}

export function dataKeyOf(wrapped: Buffer): Buffer {
  return wrapped.subarray(0, KEY_BYTES)
}

/** Derives a key for one purpose by the expand step of HKDF (RFC 5869). A key of random bytes needs no extract step. */
function derived(dataKey: Buffer, purpose: string): Buffer {
  return createHmac('sha256', dataKey).update(`countersign/v1/${purpose}\x01`).digest()
}
