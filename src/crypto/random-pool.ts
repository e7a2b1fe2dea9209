/** Random bytes for what is no secret: nonces and identifiers. Asking the generator each time costs more than what they are for. */
import { randomFillSync } from 'node:crypto'

const pool = Buffer.allocUnsafeSlow(4096)
let used = pool.length

/** @returns bytes that nobody else gets; a copy, since the pool is filled anew */
export function pooledRandomBytes(count: number): Buffer {
  if (used + count > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += count
  return Buffer.from(pool.subarray(used - count, used))
}
