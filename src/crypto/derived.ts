import { hkdfSync } from 'node:crypto'

/**
 * A key or an id that follows from a key (HKDF-SHA256, RFC 5869), and from which the key cannot be found.
 * @param purpose for another purpose, another key follows
 */
export function derived(key: Buffer, purpose: string, bytes = 32, salt: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, `countersign/v1/${purpose}`, bytes))
}
