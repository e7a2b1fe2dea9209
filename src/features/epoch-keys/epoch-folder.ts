/**
 * The folder of epoch keys, which all services of a database share and no backup of the database contains. It may be a network mount: it
 * can hang, fail, be absent or show a file late, and none of that may keep a service from answering calls.
 *
 * A key file is named `<id>.epoch-key` and has two lines: the key (32 bytes, base64) and the tag of the database it was made for.
 */
import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from '../../config/config-error.js'
import { derived } from '../../crypto/sealed-box.js'
import { SECOND_MS } from '../../lib/clock.js'
import { createDurablyAsync, overwriteAndDelete } from '../../lib/durable-file-async.js'

const KEY_BYTES = 32
const ID_BYTES = 16
const SUFFIX = '.epoch-key'
const EXPORT_NAME = 'users.keys'
/** After this time a call counts as hanging: a network mount may never answer. */
const TIMEOUT_MS = 5 * SECOND_MS

export class EpochFolder {
  /** Keys that were read before, by id: a service goes on while the folder is out of reach. */
  private readonly known = new Map<string, Buffer>()
  private isHanging = false

  constructor(readonly path: string) {}

  /** Path of the file with the latest wrapped keys of all users. */
  get exportFile(): string {
    return join(this.path, EXPORT_NAME)
  }

  /** Does not create the folder: a volume that is not mounted would go unnoticed. @throws ConfigError */
  async assertThere(): Promise<void> {
    const found = await this.ask(() => stat(this.path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
      throw new ConfigError(`COUNTERSIGN_EPOCH_KEYS: ${error.message}`)
    })
    if (!found?.isDirectory())
      throw new ConfigError(
        `COUNTERSIGN_EPOCH_KEYS: there is no folder ${this.path}. Create it once, on a volume that all services of the database share, and mount that volume here.`,
      )
  }

  /** @returns the key, or null where the folder has no such file @throws Error where the file is damaged or cannot be read */
  async read(id: string): Promise<Buffer | null> {
    const known = this.known.get(id)
    if (known) return known
    const lines = await this.linesOf(id)
    if (!lines) return null
    const key = Buffer.from(lines[0]!, 'base64')
    if (epochKeyId(key) !== id)
      throw new Error(`${this.fileOf(id)} is damaged: its name is not the id of the key in it`)
    this.known.set(id, key)
    return key
  }

  /** Drops every cached key except these. */
  remember(ids: ReadonlySet<string>): void {
    for (const id of this.known.keys()) if (!ids.has(id)) this.known.delete(id)
  }

  /** Makes a key, whose file is durable when this resolves. @param database tag of the database it is for @returns the key's id */
  async make(database: string): Promise<string> {
    await this.assertThere()
    const key = randomBytes(KEY_BYTES)
    const id = epochKeyId(key)
    await this.write(id, key, database)
    return id
  }

  /** @returns ids of all keys in the folder, of whichever database */
  async ids(): Promise<string[]> {
    const names = await this.ask(() => readdir(this.path))
    return names.filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length))
  }

  /** @returns those of the ids whose files were made for the database, before that time (milliseconds since the Unix epoch) */
  async madeFor(database: string, ids: readonly string[], before: number): Promise<string[]> {
    const made: string[] = []
    for (const id of ids) {
      const lines = await this.linesOf(id)
      if (lines?.[1] !== database) continue
      if ((await this.ask(() => stat(this.fileOf(id)))).mtimeMs < before) made.push(id)
    }
    return made
  }

  /**
   * Writes a cached key's file again where it is missing: running services have the key, and a service that starts would not.
   * @returns whether the file was missing
   * @throws ConfigError where the folder has no key at all, as below a volume that is not mounted
   */
  async restoreMissing(id: string, database: string): Promise<boolean> {
    const key = this.known.get(id)
    if (!key || (await this.linesOf(id))) return false
    if ((await this.ids()).length === 0)
      throw new ConfigError(
        `COUNTERSIGN_EPOCH_KEYS: ${this.path} holds none of the keys that the database names. Is it mounted?`,
      )
    await this.write(id, key, database)
    return true
  }

  /** Overwrites and deletes the files of these keys. @returns ids of the files that existed */
  async destroy(ids: ReadonlySet<string>): Promise<string[]> {
    if (ids.size === 0) return []
    const found = (await this.ids()).filter((id) => ids.has(id))
    for (const id of found) await this.ask(() => overwriteAndDelete(this.fileOf(id)))
    return found
  }

  private async linesOf(id: string): Promise<string[] | null> {
    try {
      return (await this.ask(() => readFile(this.fileOf(id), 'utf8'))).split('\n')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
  }

  private write(id: string, key: Buffer, database: string): Promise<void> {
    return this.ask(() => createDurablyAsync(this.fileOf(id), `${key.toString('base64')}\n${database}\n`))
  }

  /** A call that hangs blocks one of the few threads of libuv's pool. While one hangs, all others fail at once. */
  private async ask<T>(work: () => Promise<T>): Promise<T> {
    const hanging = () => new Error(`${this.path} does not answer`)
    if (this.isHanging) throw hanging()
    const working = work()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.isHanging = true
        void working
          .catch(() => {})
          .finally(() => {
            this.isHanging = false
          })
        reject(hanging())
      }, TIMEOUT_MS)
    })
    try {
      return await Promise.race([working, late])
    } finally {
      clearTimeout(timer)
    }
  }

  private fileOf(id: string): string {
    return join(this.path, `${id}${SUFFIX}`)
  }
}

/** The id of a key, 32 hexadecimal digits, in the database and as the name of the key's file. It reveals nothing about the key. */
export function epochKeyId(epochKey: Buffer): string {
  return derived(epochKey, 'epoch-key-id', ID_BYTES).toString('hex')
}

/** The tag in a key file that names the database it was made for, and copies of that database. @param lookup the working key that is never rotated */
export function databaseTag({ lookup }: { lookup: Buffer }): string {
  return derived(lookup, 'epoch-database', ID_BYTES).toString('hex')
}
