/** The master key: where it comes from, and the keys for single purposes that are derived from it. */
import { hkdfSync, randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { type Config, ConfigError } from '../config.js'

const MASTER_KEY_BYTES = 32

/** One key a purpose (HKDF-SHA256, RFC 5869), so that no key ever serves two algorithms. Each is 32 bytes. */
export interface DerivedKeys {
  /** Wraps the data keys of users. */
  wrapping: Buffer
  /** Seals signing secrets. */
  secrets: Buffer
  /** HMAC key that turns a user id into its look-up pseudonym. */
  lookup: Buffer
  /** Seals kept responses that belong to no enrolled user. */
  idempotency: Buffer
  /** HMAC key of the audit chain. */
  audit: Buffer
  /** Signs responses for which no tenant is known; the operator may print it. */
  instance: Buffer
}

export function deriveKeys(masterKey: Buffer): DerivedKeys {
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `countersign/v1/${purpose}`, 32))
  return {
    wrapping: derive('wrapping'),
    secrets: derive('secrets'),
    lookup: derive('lookup'),
    idempotency: derive('idempotency'),
    audit: derive('audit'),
    instance: derive('instance'),
  }
}

/**
 * The configured key, else the one in the key file, which is made when it is absent.
 * @throws ConfigError when the key has a wrong length, the file is open to others, or it can be neither read nor made.
 */
export function loadMasterKey(config: Pick<Config, 'masterKey' | 'masterKeyFile'>): Buffer {
  if (config.masterKey) return parseMasterKey(config.masterKey, 'COUNTERSIGN_MASTER_KEY')
  const file = config.masterKeyFile
  try {
    return readKeyFile(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw explain(error, file)
  }
  try {
    createKeyFile(file)
    return readKeyFile(file)
  } catch (error) {
    throw explain(error, file)
  }
}

function explain(error: unknown, file: string): unknown {
  if (error instanceof ConfigError) return error
  return new ConfigError(`The master key file ${file} cannot be used: ${(error as Error).message}`)
}

function readKeyFile(file: string): Buffer {
  const text = readFileSync(file, 'utf8')
  const mode = statSync(file).mode & 0o777
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new ConfigError(
      `The master key file ${file} has mode ${mode.toString(8)}; others must not read it: chmod 600 ${file}`,
    )
  return parseMasterKey(text, file)
}

/** Written aside, synced, then linked: two first starts at once agree on one key, and a crash leaves none or a whole one. */
function createKeyFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  // Not named by the process id: in a container that is 1 again after a crash which left the file behind.
  const temporary = `${file}.${randomBytes(8).toString('hex')}.tmp`
  const descriptor = openSync(temporary, 'wx', 0o600)
  try {
    writeSync(descriptor, `${randomBytes(MASTER_KEY_BYTES).toString('base64')}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  try {
    linkSync(temporary, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(temporary)
  }
}

function parseMasterKey(text: string, origin: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== MASTER_KEY_BYTES)
    throw new ConfigError(
      `The master key in ${origin} is not ${MASTER_KEY_BYTES} bytes of base64. Make one with: openssl rand -base64 32`,
    )
  return key
}
