/** Reads, makes, replaces and names the master key. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { constants, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Config, ConfigError } from '../config/config.js'
import { createDurably, giveToOwnerOf, replaceDurably } from '../lib/durable-file.js'
import { derived } from './sealed-box.js'

const MASTER_KEY_BYTES = 32

/** How long the command that prints the key may take: a key management service answers in a second or not at all. */
const COMMAND_TIMEOUT_MS = 30_000

/** The id of a master key in the database and in messages, 16 hexadecimal digits. It reveals nothing about the key. */
export function masterKeyId(masterKey: Buffer): string {
  return derived(masterKey, 'master-key-id', 8).toString('hex')
}

/** The configured master key is malformed. A new key helps only where there is no database yet. */
export class MalformedKeyError extends ConfigError {
  constructor(
    /** Sentence about the defect, without its period. */
    private readonly found: string,
  ) {
    super(`${found}. Make one with: openssl rand -base64 ${MASTER_KEY_BYTES}`)
  }

  /** The error for an installation that has a database. @param wanted ids of the master keys that open it; empty where they are unknown */
  besideDatabase(wanted: readonly string[]): ConfigError {
    const ids = wanted.length > 0 ? ` (id ${wanted.join(' or ')})` : ''
    return new ConfigError(
      `${this.found}: restore the master key of the database${ids}; a new key opens nothing.`,
    )
  }
}

type MasterKeyConfig = Pick<Config, 'masterKey' | 'masterKeyCommand' | 'masterKeyFile'>

/**
 * @returns the configured key; else the output of the configured command; else the content of the key file, which is created where it
 * does not exist
 * @throws ConfigError where the key has a wrong length, the command fails, others can read the key file, or the file can be neither
 * read nor created
 */
export function loadMasterKey(config: MasterKeyConfig): Buffer {
  if (config.masterKey) return parseMasterKey(config.masterKey, 'COUNTERSIGN_MASTER_KEY')
  if (config.masterKeyCommand) return runKeyCommand(config.masterKeyCommand)
  return readMasterKeyFile(config.masterKeyFile, { isMade: true })
}

/** Whether the master key is in the key file, where this program can replace it. */
export function isKeyFileUsed({ masterKey, masterKeyCommand }: MasterKeyConfig): boolean {
  return !masterKey && !masterKeyCommand
}

export function newMasterKey(): Buffer {
  return randomBytes(MASTER_KEY_BYTES)
}

/** Replaces the master key in the file atomically: after a crash the file has either key, complete. */
export function replaceKeyFile(file: string, masterKey: Buffer): void {
  replaceDurably(file, keyText(masterKey))
}

/** Path at which an old master key is kept, next to the key file. */
export function keptKeyFile(file: string, id: string): string {
  return `${file}.${id}`
}

/** Path of the next master key during a rotation: services that read it show that they share the folder of the key file. */
export function nextKeyFile(file: string): string {
  return `${file}.next`
}

/** Writes the next master key next to the key file. @throws Error of the file system */
export function offerKeyFile(file: string, masterKey: Buffer): void {
  withdrawKeyFile(file)
  createBeside(file, nextKeyFile(file), masterKey)
}

/** Deletes the file that `offerKeyFile` wrote. */
export function withdrawKeyFile(file: string): void {
  rmSync(nextKeyFile(file), { force: true })
}

/** @returns ids of the master keys that this process can read now: the one in use, the one in the key file, and the one that a rotation offers */
export async function readableKeyIds(config: MasterKeyConfig, inUse: Buffer): Promise<string[]> {
  const { masterKeyFile: file } = config
  const found = isKeyFileUsed(config) ? await Promise.all([file, nextKeyFile(file)].map(tryKeyFile)) : []
  return [...new Set([inUse, ...found].flatMap((key) => (key ? [masterKeyId(key)] : [])))]
}

async function tryKeyFile(file: string): Promise<Buffer | null> {
  try {
    // This asynchronous check comes first because most of the time the file does not exist.
    await access(file, constants.R_OK)
    return readKeyFile(file)
  } catch {
    return null
  }
}

/** Keeps a copy of the key that is about to be replaced: backups made under it open only with it. @returns path of the copy */
export function keepKeyFile(file: string, masterKey: Buffer): string {
  const kept = keptKeyFile(file, masterKeyId(masterKey))
  createBeside(file, kept, masterKey)
  return kept
}

/** Creates a file with another key, whose owner is that of the key file. */
function createBeside(file: string, other: string, masterKey: Buffer): void {
  createDurably(other, keyText(masterKey))
  giveToOwnerOf(file, other)
}

/** Reads a master key from a file. @param isMade whether a file that does not exist is made, with a new key @throws ConfigError */
export function readMasterKeyFile(file: string, { isMade = false } = {}): Buffer {
  try {
    if (isMade && !existsSync(file)) createDurably(file, keyText(newMasterKey()))
    return readKeyFile(file)
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError(`The master key file ${file} cannot be used: ${(error as Error).message}`)
  }
}

/** Runs the command through a shell. Its standard error goes to the operator, its standard output only here. */
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

function readKeyFile(file: string): Buffer {
  const text = readFileSync(file, 'utf8')
  const stats = statSync(file)
  const mode = stats.mode & 0o777
  // Only a file of our own user is checked, as OpenSSH does. A mounted secret belongs to root and is readable by our group.
  const isOurs = process.platform !== 'win32' && stats.uid === process.getuid?.()
  if (isOurs && (mode & bitsOfOthers(file)) !== 0)
    throw new ConfigError(
      `The master key file ${file} has mode ${mode.toString(8)}; others must not read it: chmod 600 ${file}`,
    )
  return parseMasterKey(text, file)
}

/** Permission bits that a key file must not have. systemd grants its service a credential by an ACL, whose mask shows as group bits. */
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
