/** The operator's password: configured, or kept in a file that the first start makes; as itself or as an scrypt hash. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Config, ConfigError } from '../config.js'
import {
  generatePassword,
  HASH_PREFIX,
  hashPassword,
  isPasswordHash,
  matchesHash,
  slowHash,
} from '../crypto/password-hash.js'
import { createDurably, makeFolder, replaceDurably } from '../durable-file.js'

const FINGERPRINT_SALT = 'countersign operator session'

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

/** @throws ConfigError */
async function readPassword(stored: string, origin: string): Promise<StoredPassword> {
  if (stored === '')
    throw new ConfigError(
      `${origin} is empty; make a password with: countersign operator-password --generate`,
    )
  // A hash that was cut off is no password: nobody would know that it had become one.
  const hash = stored.startsWith(HASH_PREFIX) ? stored : await hashPassword(stored)
  if (!isPasswordHash(hash))
    throw new ConfigError(
      `${origin} holds a password hash that is not whole; make one with: countersign operator-password`,
    )
  return {
    matches: (password) => matchesHash(password, hash),
    fingerprint: await fingerprint(stored),
  }
}

/** Of a password itself as slow as its hash, but with a salt that is the same at every start. */
async function fingerprint(stored: string): Promise<string> {
  if (isPasswordHash(stored)) return createHash('sha256').update(stored).digest('base64url')
  return (await slowHash(stored, FINGERPRINT_SALT)).toString('base64url')
}

function explain(error: unknown, file: string): ConfigError {
  return new ConfigError(`The operator password file ${file} cannot be used: ${(error as Error).message}`)
}
