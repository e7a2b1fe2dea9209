/** The format of API keys: `svc-sbx-` or `svc-prod-`, 32 random bytes in base62, a 6-character checksum. */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Environment } from '../config/config.js'
import { base62, RANDOM_BASE62_LENGTH, randomBase62 } from '../crypto/identifiers.js'

const PREFIX: Record<Environment, string> = { sandbox: 'svc-sbx-', production: 'svc-prod-' }
const CHECKSUM_LENGTH = 6
const KEY = new RegExp(
  `^(svc-sbx-|svc-prod-)([0-9A-Za-z]{${RANDOM_BASE62_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
)

export function generateApiKey(type: Environment): string {
  const stem = PREFIX[type] + randomBase62()
  return stem + checksum(stem)
}

/** @returns the key's environment, or null for a malformed key. The checksum finds a typo without a query of the database. */
export function parseApiKey(key: string): Environment | null {
  const match = KEY.exec(key)
  if (!match || checksum(match[1]! + match[2]!) !== match[3]) return null
  return match[1] === PREFIX.sandbox ? 'sandbox' : 'production'
}

/** SHA-256, the only form in which a key is stored: 256 random bits need no slow hash. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** CRC-32 in base62, the form that secret scanners expect (as in GitHub's tokens). */
function checksum(stem: string): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(stem))
  return base62(bytes, CHECKSUM_LENGTH)
}
