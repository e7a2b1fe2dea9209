/** The master key: where it comes from, and what it is known by. */
import { execFileSync } from 'node:child_process'
import { hkdfSync, randomBytes } from 'node:crypto'
import { constants, readFileSync, rmSync, statSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Config, ConfigError } from '../config/config.js'
import { createDurably, giveToOwnerOf, replaceDurably } from '../lib/durable-file.js'

const MASTER_KEY_BYTES = 32

/** A key management service that has not answered by then will not. */
const COMMAND_TIMEOUT_MS = 30_000

/** What a master key is known by in the database and in messages; says nothing about the key. */
export function masterKeyId(masterKey: Buffer): string {
  return Buffer.from(
    hkdfSync('sha256', masterKey, Buffer.alloc(0), 'countersign/v1/master-key-id', 8),
  ).toString('hex')
}

/** The configured master key is malformed. A new key is the remedy only where there is no database. */
export class MalformedKeyError extends ConfigError {
  constructor(
    /** A sentence without its full stop. */
    private readonly found: string,
  ) {
    super(`${found}. Make one with: openssl rand -base64 ${MASTER_KEY_BYTES}`)
  }

  /** @param wanted ids of the master keys that open the database; empty where they are not known */
  besideDatabase(wanted: readonly string[]): ConfigError {
    const ids = wanted.length > 0 ? ` (id ${wanted.join(' or ')})` : ''
    return new ConfigError(`${this.found}: put back the one of the database${ids}; a new key opens nothing.`)
  }
}

type MasterKeyConfig = Pick<Config, 'masterKey' | 'masterKeyCommand' | 'masterKeyFile'>

/**
 * The configured key, else what the configured command prints, else the one in the key file, which is made when it is absent.
 * @throws ConfigError when the key has a wrong length, the command fails, its own file is open to others, or it can be neither
 * read nor made.
 */
export function loadMasterKey(config: MasterKeyConfig): Buffer {
  if (config.masterKey) return parseMasterKey(config.masterKey, 'COUNTERSIGN_MASTER_KEY')
  if (config.masterKeyCommand) return runKeyCommand(config.masterKeyCommand)
  const file = config.masterKeyFile
  try {
    return readKeyFile(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw explain(error, file)
  }
  try {
    createDurably(file, keyText(newMasterKey()))
    return readKeyFile(file)
  } catch (error) {
    throw explain(error, file)
  }
}

/** Whether the master key lives in the key file, where this program can replace it. */
export function isKeyFileUsed({ masterKey, masterKeyCommand }: MasterKeyConfig): boolean {
  return !masterKey && !masterKeyCommand
}

export function newMasterKey(): Buffer {
  return randomBytes(MASTER_KEY_BYTES)
}

/** Puts another master key in the place of the one in the file: after a crash there is the one or the other, whole. */
export function replaceKeyFile(file: string, masterKey: Buffer): void {
  replaceDurably(file, keyText(masterKey))
}

/** Where an old master key is kept beside the key file. */
export function keptKeyFile(file: string, id: string): string {
  return `${file}.${id}`
}

/** Where the next master key lies for a moment during a rotation, so that services can show that they read the file's folder. */
export function nextKeyFile(file: string): string {
  return `${file}.next`
}

/** @throws Error of the file system */
export function offerKeyFile(file: string, masterKey: Buffer): void {
  const next = nextKeyFile(file)
  rmSync(next, { force: true })
  createDurably(next, keyText(masterKey))
  // As the key file itself will be replaced: its owner stays the same.
  giveToOwnerOf(file, next)
}

export function withdrawKeyFile(file: string): void {
  rmSync(nextKeyFile(file), { force: true })
}

/** Ids of the master keys that this process can read at this moment: the one in use, what the key file holds, and what a rotation offers beside it. */
export async function readableKeyIds(config: MasterKeyConfig, inUse: Buffer): Promise<string[]> {
  const { masterKeyFile: file } = config
  const found = isKeyFileUsed(config) ? await Promise.all([file, nextKeyFile(file)].map(tryKeyFile)) : []
  return [...new Set([inUse, ...found].flatMap((key) => (key ? [masterKeyId(key)] : [])))]
}

async function tryKeyFile(file: string): Promise<Buffer | null> {
  try {
    // Asked for first, off the main thread: most of the time there is none.
    await access(file, constants.R_OK)
    return readKeyFile(file)
  } catch {
    return null
  }
}

/** Keeps the key that is about to be replaced; the backups made under it open with it alone. @returns where */
export function keepKeyFile(file: string, masterKey: Buffer): string {
  const kept = keptKeyFile(file, masterKeyId(masterKey))
  createDurably(kept, keyText(masterKey))
  giveToOwnerOf(file, kept)
  return kept
}

/** @throws ConfigError */
export function readMasterKeyFile(file: string): Buffer {
  try {
    return readKeyFile(file)
  } catch (error) {
    throw explain(error, file)
  }
}

/** Its standard error is the operator's to read; what it prints goes nowhere but here. */
function runKeyCommand(command: string): Buffer {
  let printed: string
  try {
    printed = execFileSync(command, {
      shell: true,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: COMMAND_TIMEOUT_MS,
    })
  } catch (error) {
    const { status, signal } = error as { status: number | null; signal: string | null }
    throw new ConfigError(`COUNTERSIGN_MASTER_KEY_COMMAND failed (${signal ?? `exit code ${status}`}).`)
  }
  return parseMasterKey(printed, 'the output of COUNTERSIGN_MASTER_KEY_COMMAND')
}

function explain(error: unknown, file: string): unknown {
  if (error instanceof ConfigError) return error
  return new ConfigError(`The master key file ${file} cannot be used: ${(error as Error).message}`)
}

function readKeyFile(file: string): Buffer {
  const text = readFileSync(file, 'utf8')
  const stats = statSync(file)
  const mode = stats.mode & 0o777
  // As OpenSSH has it: somebody else's file cannot be closed by us. A mounted secret is root's, and open to our group.
  const isOurs = process.platform !== 'win32' && stats.uid === process.getuid?.()
  if (isOurs && (mode & bitsOfOthers(file)) !== 0)
    throw new ConfigError(
      `The master key file ${file} has mode ${mode.toString(8)}; others must not read it: chmod 600 ${file}`,
    )
  return parseMasterKey(text, file)
}

/** systemd lets its service read a credential by an ACL, and the mask of an ACL shows as the bits of the group. */
function bitsOfOthers(file: string): number {
  return dirname(file) === process.env.CREDENTIALS_DIRECTORY ? 0o037 : 0o077
}

function keyText(masterKey: Buffer): string {
  return `${masterKey.toString('base64')}\n`
}

function parseMasterKey(text: string, origin: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== MASTER_KEY_BYTES)
    throw new MalformedKeyError(`The master key in ${origin} is not ${MASTER_KEY_BYTES} bytes of base64`)
  return key
}
