/** Time-based one-time passwords (TOTP: RFC 6238 over RFC 4226) as authenticator apps make them: HMAC-SHA-1, six digits, steps of 30 seconds. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** RFC 4226, section 4, R6 recommends 160 bits. */
const SECRET_BYTES = 20
const DIGITS = 6
const STEP_MS = 30_000
/** The clock of a phone may be one step behind or ahead. */
const STEPS = [0, -1, 1]
/** RFC 4648, section 6. */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export function newTotpSecret(): Buffer {
  return randomBytes(SECRET_BYTES)
}

/** @returns number of the 30-second step at this time @param now in milliseconds since the Unix epoch */
export function totpStep(now: number): number {
  return Math.floor(now / STEP_MS)
}

/** The code of a step (HOTP, RFC 4226). @param digits number of digits, 6 to 8 */
export function totpCode(secret: Uint8Array, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', secret).update(counter).digest()
  const offset = digest.at(-1)! & 0xf
  const number = (digest.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** digits
  return String(number).padStart(digits, '0')
}

/** @returns the step whose code this is: the present step, the one before or the one after; null for a wrong code */
export function matchingStep(secret: Uint8Array, code: string, now: number): number | null {
  const given = Buffer.from(code)
  if (given.length !== DIGITS) return null
  const found = STEPS.map((offset) => totpStep(now) + offset).filter((step) =>
    timingSafeEqual(Buffer.from(totpCode(secret, step)), given),
  )
  return found[0] ?? null
}

/** Base32 without padding, as authenticator apps accept it. */
export function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')
}

/** The address that authenticator apps read from a QR code. */
export function totpUri(secret: Uint8Array, issuer: string, account: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`
}
