/**
 * The operator's password: configured, or kept since the first start in a file or in a database that several services share; as
 * itself or as an scrypt hash.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Config, ConfigError } from '../config/config.js'
import {
  generatePassword,
  HASH_PREFIX,
  hashPassword,
  isPasswordHash,
  matchesHash,
  passwordWeakness,
  slowHash,
} from '../crypto/password-hash.js'
import { createDurably, makeFolder, replaceDurably } from '../lib/durable-file.js'
import type { SharedStore } from '../storage/store.js'

const FINGERPRINT_SALT = 'countersign operator session'

/** What signs the operator in, from wherever it is kept. */
interface StoredPassword {
  matches(password: string): Promise<boolean>
  /** The same as long as the stored text is the same. Tells nothing of the password to who has it alone. */
  fingerprint: string
  hash: string
}

export interface OperatorPassword {
  matches(password: string): Promise<boolean>
  /** Changes with the password. */
  fingerprint(): Promise<string>
  /** The password, when this start made it: to be shown once, and then kept. */
  generated: string | null
  /**
   * Keeps the hash of the generated password: before, a start that fails has promised nothing.
   * @returns false where another service has kept its own meanwhile, which holds for both @throws ConfigError
   */
  keep(): Promise<boolean>
}

type PasswordConfig = Pick<Config, 'operatorPassword' | 'operatorPasswordFile'> &
  Partial<Pick<Config, 'isOperatorPasswordFileGiven'>>

type KeptByDatabase = Pick<SharedStore, 'operatorPassword' | 'keepOperatorPassword'>

/** Where it is kept, as the password or its hash. */
interface Place {
  /** In messages. */
  name: string
  /** Null where there is none. @throws ConfigError */
  read(): Promise<string | null>
  /** @returns as `keep` */
  make(hash: string): Promise<boolean>
  /** @throws ConfigError */
  replace(hash: string): Promise<void>
}

/**
 * @param shared of a database on which several services work: unless a file is named, it has the password of them all
 * @throws ConfigError when the file cannot be read, or holds no hash
 */
export async function loadOperatorPassword(
  config: PasswordConfig,
  shared: SharedStore | null = null,
): Promise<OperatorPassword> {
  const { operatorPassword } = config
  if (operatorPassword !== undefined) {
    const { matches, fingerprint } = await readPassword(operatorPassword, 'COUNTERSIGN_OPERATOR_PASSWORD')
    return { matches, fingerprint: async () => fingerprint, generated: null, keep: async () => true }
  }
  const place = placeOf(config, shared)
  const text = await place.read()
  if (text !== null) {
    const kept = new KeptPassword(place, text, await readPassword(text, place.name))
    return { ...accessTo(kept), generated: null, keep: async () => true }
  }
  const generated = generatePassword()
  const hash = await hashPassword(generated)
  const kept = new KeptPassword(place, hash, await readPassword(hash, place.name))
  return { ...accessTo(kept), generated, keep: () => place.make(hash) }
}

/** The password where it is kept, read anew when it is another: a reset holds for a service that runs. */
class KeptPassword {
  constructor(
    private readonly place: Place,
    private text: string,
    private stored: StoredPassword,
  ) {}

  async current(): Promise<StoredPassword> {
    try {
      const text = await this.place.read()
      if (text !== null && text !== this.text) {
        this.stored = await readPassword(text, this.place.name)
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

/** Makes another password and keeps its hash in the place of what stands there. @throws ConfigError */
export async function resetOperatorPassword(
  config: PasswordConfig,
  shared: SharedStore | null = null,
): Promise<string> {
  if (config.operatorPassword !== undefined)
    throw new ConfigError(
      'The password is given by COUNTERSIGN_OPERATOR_PASSWORD: change it there, with what countersign operator-password --generate prints, and restart.',
    )
  const password = generatePassword()
  await placeOf(config, shared).replace(await hashPassword(password))
  return password
}

/**
 * Takes the password along when records move from a database of one service, which has it in the data folder's file, to one of
 * several, or back: what was reset there must not hold again here.
 * @returns whether there was one to take @throws ConfigError
 */
export async function moveOperatorPassword(
  config: PasswordConfig,
  from: KeptByDatabase | null,
  to: KeptByDatabase | null,
): Promise<boolean> {
  // Whoever configures it has it where it was.
  if (config.operatorPassword !== undefined || config.isOperatorPasswordFileGiven) return false
  const file = filePlace(config.operatorPasswordFile)
  const text = await (from ? from.operatorPassword() : file.read())
  if (text === null) return false
  const { hash } = await readPassword(text, file.name)
  if (to) await to.keepOperatorPassword(hash, { replace: true })
  else await file.replace(hash)
  return true
}

function placeOf(
  { operatorPasswordFile: file, isOperatorPasswordFileGiven }: PasswordConfig,
  shared: SharedStore | null,
): Place {
  return shared && !isOperatorPasswordFileGiven ? databasePlace(shared, filePlace(file)) : filePlace(file)
}

/** @param former where the password was before there was a database of several services: it is the first one there */
function databasePlace(shared: SharedStore, former: Place): Place {
  return {
    name: 'the database',
    async read() {
      const hash = await shared.operatorPassword()
      if (hash !== null) return hash
      const text = await former.read()
      if (text === null) return null
      const { hash: adopted } = await readPassword(text, former.name)
      await shared.keepOperatorPassword(adopted)
      return shared.operatorPassword()
    },
    make: (hash) => shared.keepOperatorPassword(hash),
    replace: async (hash) => void (await shared.keepOperatorPassword(hash, { replace: true })),
  }
}

function filePlace(file: string): Place {
  return {
    name: file,
    read: async () => readText(file),
    async make(hash) {
      makeFile(file, hash)
      return true
    },
    async replace(hash) {
      try {
        makeFolder(dirname(file))
        replaceDurably(file, `${hash}\n`)
      } catch (error) {
        throw explain(error, file)
      }
    },
  }
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
  const weakness = stored.startsWith(HASH_PREFIX) ? null : passwordWeakness(stored)
  if (weakness !== null)
    throw new ConfigError(
      `The password in ${origin} ${weakness}; make one with: countersign operator-password --generate`,
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
    hash,
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
