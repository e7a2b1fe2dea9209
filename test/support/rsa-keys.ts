/** RSA keys for tests. Making one takes up to a second of a core, so each worker makes a few and hands them out in turn. */
import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto'

/** More than any test holds at once: of so many in succession, no two are the same. */
const DIFFERENT = 6

const keys: KeyPairKeyObjectResult[] = []
let taken = 0

/** Another key than those of the last five calls. */
export function rsaKey(): KeyPairKeyObjectResult {
  const index = taken++ % DIFFERENT
  keys[index] ??= generateKeyPairSync('rsa', { modulusLength: 2048 })
  return keys[index]
}
