/** Random bytes for nonces and identifiers, which are not secret, from a pool: a call of the generator for each costs more than its use. */
import { randomFillSync } from 'node:crypto'

const pool = Buffer.allocUnsafeSlow(4096)
let used = pool.length

/** @returns a copy of bytes that no other call gets */
export function pooledRandomBytes(count: number): Buffer {
  if (used + count > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += count
  return Buffer.from(pool.subarray(used - count, used))
}
