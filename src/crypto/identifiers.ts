/** Identifiers and random secrets. */
import { randomBytes } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { pooledRandomBytes } from './random-pool.js'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Random bytes from which `uuid` makes one UUID. */
const UUID_RANDOM_BYTES = 16

/** The last id's time and its sequence within that millisecond, which begins anywhere in the lower half of 32 bits. */
const last = { atMs: 0, sequence: 0 }

/** UUIDv7 (RFC 9562) at the clock's time: those of one process sort by creation, within a millisecond too. */
export function requestId(nowMs: number): string {
  const random = pooledRandomBytes(UUID_RANDOM_BYTES)
  last.sequence = nowMs === last.atMs ? last.sequence + 1 : random.readUInt32BE() >>> 1
  last.atMs = nowMs
  return uuidv7({ msecs: nowMs, seq: last.sequence, random })
}

const UUID_TIME_DIGITS = 12

/** A prefix that sorts before every request id of this time or later, and after every earlier one. */
export function earliestRequestId(atMs: number): string {
  const digits = Math.max(0, Math.floor(atMs)).toString(16).padStart(UUID_TIME_DIGITS, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}

/** When a request id was made, in milliseconds since the Unix epoch. */
export function timeOfRequestId(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, UUID_TIME_DIGITS), 16)
}

const ID_PREFIXES = [
  ...['cap', 'chl', 'era', 'evt', 'key', 'oic', 'oik', 'pky', 'ref', 'sec', 'sub', 'ten', 'ver', 'vky'],
  ...['whd', 'whe', 'opr', 'per'],
] as const

const OWN_ID = new RegExp(`^(?:${ID_PREFIXES.join('|')})_[0-9a-f]{32}$`)

/** Whether a text has the form of an id that this service makes. */
export function isOwnId(text: string): boolean {
  return OWN_ID.test(text)
}

/** `ten_…`, `ref_…`: a prefix that names the kind, then a UUIDv7 without dashes. */
export function prefixedId(prefix: (typeof ID_PREFIXES)[number], nowMs: number): string {
  return `${prefix}_${requestId(nowMs).replaceAll('-', '')}`
}

/** Fixed-width base62 of a byte string, most significant digit first. */
export function base62(bytes: Uint8Array, width: number): string {
  let value = 0n
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  let digits = ''
  for (let i = 0; i < width; i++) {
    digits = BASE62[Number(value % 62n)] + digits
    value /= 62n
  }
  return digits
}

/** 32 random bytes in base62: 43 characters (62^43 > 2^256). */
export const RANDOM_BASE62_LENGTH = 43

export function randomBase62(): string {
  return base62(randomBytes(32), RANDOM_BASE62_LENGTH)
}
