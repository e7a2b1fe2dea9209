/**
 * The folder of epoch keys, which all services of a database see, and no backup of the database holds. It may be another machine's: it
 * can hang, fail, be gone, or show a file late, and none of that may keep a service from its calls.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError } from '../config/config-error.js'
import { epochKeyId, newEpochKey } from '../crypto/epoch-key.js'
import { SECOND_MS } from '../lib/clock.js'
import { createPatiently, destroyPatiently } from '../lib/durable-file-async.js'

const ENDING = '.epoch-key'
const WRAPPED_KEYS = 'users.keys'
/** A mount that hangs keeps whoever asks it waiting for ever. */
const PATIENCE_MS = 5 * SECOND_MS

export class EpochFolder {
  /** Read before: a folder that is out of reach for a while keeps nobody from working. */
  private readonly known = new Map<string, Buffer>()
  private hangs = false

  constructor(readonly path: string) {}

  /** Where the newest wrapped keys of all users are kept. */
  get exportFile(): string {
    return join(this.path, WRAPPED_KEYS)
  }

  /** It is never made here: a volume that is not mounted would go unnoticed. @throws ConfigError */
  async assertThere(): Promise<void> {
    const found = await this.ask(() => stat(this.path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
      throw new ConfigError(`COUNTERSIGN_EPOCH_KEYS: ${error.message}`)
    })
    if (!found?.isDirectory())
      throw new ConfigError(
        `COUNTERSIGN_EPOCH_KEYS: there is no folder ${this.path}. It is made by whoever installs the service, once for all of its nodes.`,
      )
  }

  /** Null where there is none. @throws Error when what is there is not the key of that id, or cannot be read */
  async read(id: string): Promise<Buffer | null> {
    const known = this.known.get(id)
    if (known) return known
    const lines = await this.linesOf(id)
    if (!lines) return null
    const key = Buffer.from(lines[0]!, 'base64')
    if (epochKeyId(key) !== id)
      throw new Error(`${this.fileOf(id)} is damaged: it is not the key of its name`)
    this.known.set(id, key)
    return key
  }

  /** Of what was read before, forgets all but these. */
  remember(ids: ReadonlySet<string>): void {
    for (const id of this.known.keys()) if (!ids.has(id)) this.known.delete(id)
  }

  /** On disk when this resolves. @param database whose key it is @returns its id */
  async make(database: string): Promise<string> {
    await this.assertThere()
    const key = newEpochKey()
    const id = epochKeyId(key)
    await this.write(id, key, database)
    return id
  }

  /** Ids of the keys that lie there, whichever database's they are. */
  async ids(): Promise<string[]> {
    const names = await this.ask(() => readdir(this.path))
    return names.filter((name) => name.endsWith(ENDING)).map((name) => name.slice(0, -ENDING.length))
  }

  /** Of these, those that were made for the database, before that time. */
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
   * Puts the file of a key that is known here back where it is missing: while services run they have the key, and none that starts
   * would. @returns whether it was missing
   * @throws ConfigError where nothing of the folder is there, as below a volume that is not mounted
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

  /** Those of these ids that are there. @returns which they were */
  async destroy(ids: ReadonlySet<string>): Promise<string[]> {
    if (ids.size === 0) return []
    const found = (await this.ids()).filter((id) => ids.has(id))
    for (const id of found) await this.ask(() => destroyPatiently(this.fileOf(id)))
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
    return this.ask(() => createPatiently(this.fileOf(id), `${key.toString('base64')}\n${database}\n`))
  }

  /** Who waits for a folder that hangs takes one of the few threads that all files are read by: no second one does. */
  private async ask<T>(work: () => Promise<T>): Promise<T> {
    const hanging = () => new Error(`${this.path} does not answer`)
    if (this.hangs) throw hanging()
    const working = work()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.hangs = true
        void working
          .catch(() => {})
          .finally(() => {
            this.hangs = false
          })
        reject(hanging())
      }, PATIENCE_MS)
    })
    try {
      return await Promise.race([working, late])
    } finally {
      clearTimeout(timer)
    }
  }

  private fileOf(id: string): string {
    return join(this.path, `${id}${ENDING}`)
  }
}
