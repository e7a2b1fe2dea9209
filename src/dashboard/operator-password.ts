/** The operator's password: configured, or kept in a file that the first start makes; as itself or as an scrypt hash. */
import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { type Config, ConfigError } from '../config.js'
import { createDurably } from '../durable-file.js'

const derive = promisify<string, Buffer | string, number, { N: number; r: number; p: number }, Buffer>(scrypt)
/** OWASP's second choice of equal strength, which stays inside Node's default limit of 32 MiB. */
const COST = { N: 16_384, r: 8, p: 5 }
const HASH_BYTES = 32
const SALT_BYTES = 16
const GENERATED_BYTES = 15
const FINGERPRINT_SALT = 'countersign operator session'
const HASH_PREFIX = 'scrypt$'
const HASH = /^scrypt\$([\w-]{22})\$([\w-]{43})$/

export interface OperatorPassword {
  matches(password: string): Promise<boolean>
  /** The same as long as the configured text is the same. Tells nothing of the password to who has it alone. */
  fingerprint: string
  /** The password, when this start made it: to be shown once. */
  generated: string | null
}

/** @throws ConfigError when the file cannot be read or made, or holds no hash */
export async function loadOperatorPassword(
  config: Pick<Config, 'operatorPassword' | 'operatorPasswordFile'>,
): Promise<OperatorPassword> {
  if (config.operatorPassword !== undefined)
    return {
      ...(await readPassword(config.operatorPassword, 'COUNTERSIGN_OPERATOR_PASSWORD')),
      generated: null,
    }
  const file = config.operatorPasswordFile
  try {
    return { ...(await readPassword(readFileSync(file, 'utf8').trim(), file)), generated: null }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw explain(error, file)
  }
  const generated = generatePassword()
  const hash = await hashPassword(generated)
  try {
    if (!createDurably(file, `${hash}\n`)) return loadOperatorPassword(config)
  } catch (error) {
    throw explain(error, file)
  }
  return { ...(await readPassword(hash, file)), generated }
}

/** 120 random bits. */
export function generatePassword(): string {
  return randomBytes(GENERATED_BYTES).toString('base64url')
}

/** `scrypt$<salt>$<hash>`, both in base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await derive(password, salt, HASH_BYTES, COST)
  return `scrypt$${salt.toString('base64url')}$${hash.toString('base64url')}`
}

async function readPassword(stored: string, origin: string): Promise<Omit<OperatorPassword, 'generated'>> {
  if (stored === '')
    throw new ConfigError(
      `${origin} is empty; make a password with: countersign operator-password --generate`,
    )
  // A hash that was cut off is no password: nobody would know that it had become one.
  const text = stored.startsWith(HASH_PREFIX) ? stored : await hashPassword(stored)
  const match = HASH.exec(text)
  if (!match)
    throw new ConfigError(
      `${origin} holds a password hash that is not whole; make one with: countersign operator-password`,
    )
  const salt = Buffer.from(match[1]!, 'base64url')
  const expected = Buffer.from(match[2]!, 'base64url')
  return {
    matches: async (password) => timingSafeEqual(await derive(password, salt, HASH_BYTES, COST), expected),
    fingerprint: await fingerprint(stored),
  }
}

/** Of a password itself as slow as its hash, but with a salt that is the same at every start. */
async function fingerprint(stored: string): Promise<string> {
  if (HASH.test(stored)) return createHash('sha256').update(stored).digest('base64url')
  return (await derive(stored, FINGERPRINT_SALT, HASH_BYTES, COST)).toString('base64url')
}

function explain(error: unknown, file: string): unknown {
  if (error instanceof ConfigError) return error
  return new ConfigError(`The operator password file ${file} cannot be used: ${(error as Error).message}`)
}
