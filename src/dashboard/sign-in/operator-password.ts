/**
 * The operator's password. It is configured, or was generated at the first start and stored in a file or in a shared database, in plain
 * text or as an scrypt hash.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  generatePassword,
  HASH_PREFIX,
  hashPassword,
  isPasswordHash,
  matchesHash,
  passwordWeakness,
  slowHash,
} from '../../admin/accounts/password-hash.js'
import { type Config, ConfigError } from '../../config/config.js'
import type { FirstPassword } from '../../features/feature.js'
import { createDurably, makeFolder, replaceDurably } from '../../lib/durable-file.js'
import type { SharedStore } from '../../storage/store.js'

const FINGERPRINT_SALT = 'countersign operator session'

/** The password as it is stored, with what is derived from it. */
interface StoredPassword {
  matches(password: string): Promise<boolean>
  /** Fingerprint of the stored text, by which a change is noticed. It reveals nothing about the password. */
  fingerprint: string
  hash: string
}

export interface OperatorPassword extends FirstPassword {
  matches(password: string): Promise<boolean>
  /** Returns a value that changes with the password. */
  fingerprint(): Promise<string>
}

type PasswordConfig = Pick<Config, 'operatorPassword' | 'operatorPasswordFile'> &
  Partial<Pick<Config, 'isOperatorPasswordFileGiven'>>

type KeptByDatabase = Pick<SharedStore, 'operatorPassword' | 'keepOperatorPassword'>

/** A place that stores the password or its hash. */
interface Place {
  /** Name of the place in messages. */
  name: string
  /** Returns the stored text, or null. @throws ConfigError */
  read(): Promise<string | null>
  /** @returns as `keep` */
  make(hash: string): Promise<boolean>
  /** @throws ConfigError */
  replace(hash: string): Promise<void>
}

/**
 * @param shared the store that several services share. Unless a file is configured, it holds the password of all of them
 * @throws ConfigError when the file cannot be read or holds no valid hash
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
  const generated = text === null ? generatePassword() : null
  const stored = text ?? (await hashPassword(generated!))
  const current = await followed(place, stored)
  return {
    matches: async (password) => (await current()).matches(password),
    fingerprint: async () => (await current()).fingerprint,
    generated,
    keep: async () => generated === null || place.make(stored),
  }
}

/** The stored password, which is read again when it changes, so that a reset takes effect in a running service. @throws ConfigError */
async function followed(place: Place, stored: string): Promise<() => Promise<StoredPassword>> {
  let text = stored
  let password = await readPassword(text, place.name)
  return async () => {
    try {
      const found = await place.read()
      if (found !== null && found !== text) {
        password = await readPassword(found, place.name)
        text = found
      }
    } catch {
      // An unreadable password changes nothing: the last one stays valid.
    }
    return password
  }
}

/** Generates another password and replaces the stored one by its hash. @throws ConfigError */
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
 * Copies the password when records move between a database of one service, whose password is in a file of the data folder, and a shared
 * one. Otherwise a password from before a reset would become valid again.
 * @returns whether there was a password to copy
 * @throws ConfigError
 */
export async function moveOperatorPassword(
  config: PasswordConfig,
  from: KeptByDatabase | null,
  to: KeptByDatabase | null,
): Promise<boolean> {
  // A configured password does not depend on the database.
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

/** @param former the place of the password before the database was shared, whose password is taken over first */
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
    async read() {
      try {
        return readFileSync(file, 'utf8').trim()
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw explain(error, file)
      }
    },
    async make(hash) {
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
  // A truncated hash must not be taken for a password in plain text.
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

/**
 * Returns the fingerprint of the stored text. A plain password is hashed as slowly as for storage, but with a fixed salt, so that every
 * start gets the same result.
 */
async function fingerprint(stored: string): Promise<string> {
  if (isPasswordHash(stored)) return createHash('sha256').update(stored).digest('base64url')
  return (await slowHash(stored, FINGERPRINT_SALT)).toString('base64url')
}

function explain(error: unknown, file: string): ConfigError {
  return new ConfigError(`The operator password file ${file} cannot be used: ${(error as Error).message}`)
}
