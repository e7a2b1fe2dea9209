/** Generates, checks and hashes passwords of people who sign in to the dashboard (scrypt). */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify<string, Buffer | string, number, { N: number; r: number; p: number }, Buffer>(scrypt)
/** One of OWASP's scrypt settings of equal strength; this one stays within Node's default memory limit of 32 MiB. */
const COST = { N: 16_384, r: 8, p: 5 }
const HASH_BYTES = 32
const SALT_BYTES = 16
const GENERATED_BYTES = 15
const HASH = /^scrypt\$([\w-]{22})\$([\w-]{43})$/

export const HASH_PREFIX = 'scrypt$'

/** NIST SP 800-63B-4, section 3.1.1.2, for a password that is the only factor. */
export const MIN_PASSWORD_LENGTH = 15
const MIN_DIFFERENT = 5

/** @returns why a password is refused, as the rest of the sentence "The password …"; null for a password that may be used */
export function passwordWeakness(password: string): string | null {
  const characters = [...password.normalize('NFC')]
  if (characters.length < MIN_PASSWORD_LENGTH)
    return `has ${characters.length} character${characters.length === 1 ? '' : 's'}, and needs at least ${MIN_PASSWORD_LENGTH}`
  if (new Set(characters).size < MIN_DIFFERENT)
    return `repeats so few characters that it is guessed at once, and needs at least ${MIN_DIFFERENT} different ones`
  return null
}

/** A random password of 120 bits, in base64url. */
export function generatePassword(): string {
  return randomBytes(GENERATED_BYTES).toString('base64url')
}

/** @returns `scrypt$<salt>$<hash>`, both in base64url */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await slowHash(password, salt)
  return `${HASH_PREFIX}${salt.toString('base64url')}$${hash.toString('base64url')}`
}

export function isPasswordHash(text: string): boolean {
  return HASH.test(text)
}

/** @param hash null matches nothing and takes as long as a hash, so that the response time does not show whether a person exists */
export async function matchesHash(password: string, hash: string | null): Promise<boolean> {
  const match = HASH.exec(hash ?? '')
  const salt = match ? Buffer.from(match[1]!, 'base64url') : Buffer.alloc(SALT_BYTES)
  const expected = match ? Buffer.from(match[2]!, 'base64url') : Buffer.alloc(HASH_BYTES)
  const isEqual = timingSafeEqual(await slowHash(password, salt), expected)
  return isEqual && match !== null
}

/** @returns 32 bytes, derived at the cost of a password's hash */
export function slowHash(text: string, salt: Buffer | string): Promise<Buffer> {
  return derive(text, salt, HASH_BYTES, COST)
}
