/** The operator's password: configured, or kept in a file that the first start makes; as itself or as an scrypt hash. */
import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { type Config, ConfigError } from '../config.js'
import { createDurably, makeFolder, replaceDurably } from '../durable-file.js'

const derive = promisify<string, Buffer | string, number, { N: number; r: number; p: number }, Buffer>(scrypt)
/** OWASP's second choice of equal strength, which stays inside Node's default limit of 32 MiB. */
const COST = { N: 16_384, r: 8, p: 5 }
const HASH_BYTES = 32
const SALT_BYTES = 16
const GENERATED_BYTES = 15
const FINGERPRINT_SALT = 'countersign operator session'
const HASH_PREFIX = 'scrypt$'
const HASH = /^scrypt\$([\w-]{22})\$([\w-]{43})$/

/** What signs the operator in, from wherever it is kept. */
interface StoredPassword {
  matches(password: string): Promise<boolean>
  /** The same as long as the stored text is the same. Tells nothing of the password to who has it alone. */
  fingerprint: string
}

export interface OperatorPassword {
  matches(password: string): Promise<boolean>
  /** Changes with the password. */
  fingerprint(): Promise<string>
  /** The password, when this start made it: to be shown once, and then kept. */
  generated: string | null
  /** Puts the hash of the generated password in its file: before, a start that fails has promised nothing. @throws ConfigError */
  keep(): void
}

/** @throws ConfigError when the file cannot be read, or holds no hash */
export async function loadOperatorPassword(
  config: Pick<Config, 'operatorPassword' | 'operatorPasswordFile'>,
): Promise<OperatorPassword> {
  const { operatorPassword, operatorPasswordFile: file } = config
  if (operatorPassword !== undefined) {
    const { matches, fingerprint } = await readPassword(operatorPassword, 'COUNTERSIGN_OPERATOR_PASSWORD')
    return { matches, fingerprint: async () => fingerprint, generated: null, keep() {} }
  }
  const text = readText(file)
  if (text !== null) {
    const kept = new KeptPassword(file, text, await readPassword(text, file))
    return { ...accessTo(kept), generated: null, keep() {} }
  }
  const generated = generatePassword()
  const hash = await hashPassword(generated)
  const kept = new KeptPassword(file, hash, await readPassword(hash, file))
  return { ...accessTo(kept), generated, keep: () => makeFile(file, hash) }
}

/** The password of the file, read anew when it is another: a reset holds for a service that runs. */
class KeptPassword {
  constructor(
    private readonly file: string,
    private text: string,
    private stored: StoredPassword,
  ) {}

  async current(): Promise<StoredPassword> {
    try {
      const text = readText(this.file)
      if (text !== null && text !== this.text) {
        this.stored = await readPassword(text, this.file)
        this.text = text
      }
    } catch {
      // What cannot be used changes nothing: the last password holds.
    }
    return this.stored
  }
}

function accessTo(kept: KeptPassword): Pick<OperatorPassword, 'matches' | 'fingerprint'> {
  return {
    matches: async (password) => (await kept.current()).matches(password),
    fingerprint: async () => (await kept.current()).fingerprint,
  }
}

/** Makes another password and puts its hash in the file, in the place of what stands there. @throws ConfigError */
export async function resetOperatorPassword({
  operatorPassword,
  operatorPasswordFile: file,
}: Pick<Config, 'operatorPassword' | 'operatorPasswordFile'>): Promise<string> {
  if (operatorPassword !== undefined)
    throw new ConfigError(
      'The password is given by COUNTERSIGN_OPERATOR_PASSWORD: change it there, with what countersign operator-password --generate prints, and restart.',
    )
  const password = generatePassword()
  const hash = await hashPassword(password)
  try {
    makeFolder(dirname(file))
    replaceDurably(file, `${hash}\n`)
  } catch (error) {
    throw explain(error, file)
  }
  return password
}

function makeFile(file: string, hash: string): void {
  let isMade: boolean
  try {
    isMade = createDurably(file, `${hash}\n`)
  } catch (error) {
    throw explain(error, file)
  }
  if (!isMade)
    throw new ConfigError(
      `The operator password file ${file} was made by another process meanwhile: its password holds, and this one does not.`,
    )
}

/** Null where there is none. @throws ConfigError */
function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw explain(error, file)
  }
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

/** @throws ConfigError */
async function readPassword(stored: string, origin: string): Promise<StoredPassword> {
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

function explain(error: unknown, file: string): ConfigError {
  return new ConfigError(`The operator password file ${file} cannot be used: ${(error as Error).message}`)
}
